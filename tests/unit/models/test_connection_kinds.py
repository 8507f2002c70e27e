"""The table of connections holds every place in the code that can open one."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from desktop_rag.models.connection_states import KINDS

PACKAGE = Path(__file__).parents[3] / "desktop_rag"

# Whatever can connect, listen, or start a program that does.
DOORS = {
    "aiohttp", "anyio", "asyncio", "fsspec", "ftplib", "http.client", "http.server", "httpcore2",
    "httpx2", "huggingface_hub", "imaplib", "jeepney", "keyring", "multiprocessing", "nio",
    "nntplib", "openai", "poplib", "psycopg", "psycopg_pool", "pty", "requests", "secretstorage",
    "smtplib", "socket", "socketserver",
    "ssl", "subprocess", "telnetlib", "urllib.request", "urllib.robotparser", "urllib3", "uvicorn",
    "webbrowser", "wsgiref", "xmlrpc",
    "PySide6.QtCore.QProcess", "PySide6.QtDBus", "PySide6.QtGui.QDesktopServices",
    "PySide6.QtNetwork", "PySide6.QtNetworkAuth", "PySide6.QtQml", "PySide6.QtQuick",
    "PySide6.QtWebChannel", "PySide6.QtWebEngineCore", "PySide6.QtWebSockets",
    "PySide6.QtWebView",
}  # fmt: skip
# What opens a connection for another module, by its name in that module's imports.
OWN_DOORS = {
    "ChatClient", "EndpointRequests", "InterruptibleBackend", "KeyStore", "RemoteEmbedder",
    "SystemKeyring",
    "WebTransport", "list_models", "open_client", "probe_endpoint", "proxy_for", "running_servers",
}  # fmt: skip
# They pass an opened one on, or only name it.
PASSING_ON = {"app", "features.diagnosis.finding", "models.connection_states"}
# They run a tool of the desktop that only reads and writes files.
RUNNING_TOOLS = {"desktop.entries.desktop_entries"}
# Functions that run another program, or code that no import names.
_RUNNING = {"execv", "execve", "fork", "popen", "posix_spawn", "spawnv", "startfile", "system"}
_DYNAMIC = {"__import__", "eval", "exec", "import_module", "run_module", "run_path"}
_NAMED_CALL = re.compile(rf"\b(?:{'|'.join(sorted(_RUNNING | _DYNAMIC))})\b")
# The readers, which run in the parser process, and the verbs, whose modules are searched here too.
_DYNAMIC_MODULES = {"ingest.read.formats", "cli.verb_table", "registry"}
NO_CONNECTION = PASSING_ON | RUNNING_TOOLS | _DYNAMIC_MODULES

# Libraries that hold network code which the app does not use; the traces of system calls in
# `tests/faults/test_telemetry.py` would show it.
QUIET_LIBRARIES = {
    "PySide6": "its tools; QtNetwork is a door of its own",
    "duckdb": "remote files and extensions, both switched off",
    "filelock": "the name of this computer; it locks files",
    "jwt": "sets of keys by address; here keys come from files",
    "lxml": "pages by address; it gets bytes only",
    "mcp": "its clients, and servers of its own; here it gets requests from ours",
    "numpy": "data sets by address; never opened",
    "onnxruntime": "its tools; its telemetry is switched off before the import",
    "psutil": "constants of connections that it lists",
    "py3langid": "its own server, a script",
    "pygments": "the scripts that update its tables",
    "rapidocr": "downloads of models; those in its package are used",
    "starlette": "it makes responses; uvicorn listens",
    "trafilatura": "downloads of pages; it gets text only",
}
_NETWORK_DOORS = {name for name in DOORS if "." not in name or name.startswith(("http", "urllib"))}
_NETWORK_DOORS -= {"keyring", "multiprocessing", "pty", "subprocess"}


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """The dotted names that a module imports when it runs, wherever in it."""
    return tuple(_imports_below(ast.parse(path.read_bytes())))


def _imports_below(node: ast.AST) -> Iterator[str]:
    """Expressions, which import nothing, are passed over."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield child.module or ""
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from (name for part in child.orelse for name in _imports_below(part))
        else:
            yield from _imports_below(child)


def opens(path: Path) -> set[str]:
    """The doors that a module imports or calls."""
    found: set[str] = set()
    for name in imports_of(path):
        found |= {door for door in DOORS if name == door or name.startswith(f"{door}.")}
        found |= {name.rpartition(".")[2]} & OWN_DOORS
    text = path.read_text("utf-8")
    # Walking through every expression of every module takes seconds.
    if not _NAMED_CALL.search(text):
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")
            is_os = called[0] == "os" and called[2] in _RUNNING
            is_dynamic = called[2] in _DYNAMIC and called[0] in {"", "importlib", "runpy"}
            found |= {called[2]} if is_os or is_dynamic else set()
    return found


@cache
def opening_modules(package: Path) -> dict[str, set[str]]:
    """The doors of each module of a package that has any."""
    modules = {
        ".".join(path.relative_to(package).with_suffix("").parts): opens(path)
        for path in sorted(package.rglob("*.py"))
    }
    return {module: doors for module, doors in modules.items() if doors}


def unlisted(package: Path) -> dict[str, set[str]]:
    """The modules that can open a connection without being in the table."""
    listed = {module for kind in KINDS for module in kind.modules} | NO_CONNECTION
    return {m: doors for m, doors in opening_modules(package).items() if m not in listed}


@pytest.mark.slow
def test_every_module_that_can_open_a_connection_is_in_the_table() -> None:
    assert unlisted(PACKAGE) == {}


@pytest.mark.slow
def test_every_module_in_the_table_exists_and_opens_one() -> None:
    opening = opening_modules(PACKAGE)
    named = {module for kind in KINDS for module in kind.modules}
    assert sorted(named - set(opening)) == []
    assert sorted(NO_CONNECTION - set(opening)) == []


@pytest.mark.parametrize(
    "line",
    [
        "import socket",
        "from http import client",
        "import urllib.request as request",
        "from urllib import request",
        "def late():\n    import httpx2",
        "from PySide6.QtNetwork import QTcpSocket",
        "from PySide6 import QtNetwork",
        "from PySide6.QtGui import QDesktopServices",
        "from desktop_rag.models.endpoints.client.chat_client import ChatClient",
        "import os\nos.system('curl example.org')",
        "import importlib\nimportlib.import_module('soc' + 'ket')",
        "__import__('socket')",
    ],
)
def test_a_new_way_out_is_noticed(tmp_path: Path, line: str) -> None:
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui" / "planted.py").write_text(line, encoding="utf-8")
    assert set(unlisted(tmp_path)) == {"ui.planted"}


def test_parsing_addresses_and_naming_types_is_no_way_out(tmp_path: Path) -> None:
    text = (
        "from typing import TYPE_CHECKING\nfrom urllib.parse import urlsplit\n"
        "from http import HTTPStatus\nif TYPE_CHECKING:\n    import socket\n"
    )
    (tmp_path / "quiet.py").write_text(text, encoding="utf-8")
    assert unlisted(tmp_path) == {}


# --- libraries --------------------------------------------------------------------------------


@cache
def used_libraries() -> frozenset[str]:
    """The top-level packages of others that the app imports."""
    names = {name.partition(".")[0] for path in PACKAGE.rglob("*.py") for name in imports_of(path)}
    return frozenset(names - sys.stdlib_module_names - {"desktop_rag", ""})


@cache
def files_by_library() -> dict[str, list[Path]]:
    """The Python files of each installed top-level package that the app uses."""
    found: dict[str, list[Path]] = {name: [] for name in used_libraries()}
    for distribution in metadata.distributions():
        for file in distribution.files or ():
            if file.suffix == ".py" and file.parts[0].removesuffix(".py") in found:
                found[file.parts[0].removesuffix(".py")].append(Path(str(file.locate())))
    return found


_IMPORTS_A_DOOR = re.compile(
    rb"^\s*(?:from|import)\b[^\n]*\b(?:%s)\b"
    % b"|".join(sorted({door.partition(".")[0].encode() for door in _NETWORK_DOORS})),
    re.MULTILINE,
)


def reaches_out(path: Path) -> bool:
    if not _IMPORTS_A_DOOR.search(path.read_bytes()):
        return False  # Parsing thousands of files takes long.
    try:
        names = list(imports_of(path))
    except SyntaxError:  # a template
        return False
    return any(n == d or n.startswith(f"{d}.") for n in names for d in _NETWORK_DOORS)


@pytest.mark.slow
def test_every_library_with_network_code_is_a_door_or_known_to_stay_quiet() -> None:
    files = files_by_library()
    loud = {name for name, paths in files.items() if any(map(reaches_out, paths))}
    assert {"httpx2", "openai"} <= loud
    assert sorted(loud - DOORS - set(QUIET_LIBRARIES)) == []


@pytest.mark.slow
def test_every_library_that_stays_quiet_is_still_used() -> None:
    assert sorted(set(QUIET_LIBRARIES) - used_libraries()) == []
