"""Every verb beside a process that holds the library: none is refused by its lock.

The process is a real one: a window, a server, a watcher. The verbs are those of the parser, so that
a new one has to be tried here.
"""

import argparse
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from desktop_rag.app import Services
from desktop_rag.cli.running import in_turn, make_parser
from desktop_rag.cli.verb_table import command_verbs
from desktop_rag.core.errors import LibraryHeldError
from desktop_rag.core.paths import Home
from tests.command_line import Done, run, run_json, settled, wait_for_window

pytestmark = pytest.mark.slow

_ENOUGH_S = 50.0
_LOCKED = ("in use", "waits for its end")
# These need no library: one asks the desktop, the others stand for themselves.
_LEFT_OUT = {
    "demo": "it has a home of its own",
    "desktop-entries": "it changes the desktop of whoever runs the tests",
    "model serve": "it is the process of a model",
    "matrix run": "it is a process of its own",
    "matrix": "the same without its name",
    "quit": "it has a test of its own",
}


class Tried(NamedTuple):
    """The arguments of a verb, its exit code, and a part of what it says."""

    arguments: Sequence[str]
    code: int = 0
    said: str = ""


class Beside(NamedTuple):
    """A home whose library the process holds, and folders of files."""

    home: Home
    process: "subprocess.Popen[bytes]"
    papers: Path
    files: Path


@pytest.fixture(params=["window", "serve", "watch"])
def beside(request: pytest.FixtureRequest, home: Home, tmp_path: Path) -> Iterator[Beside]:
    papers, files = tmp_path / "papers", tmp_path / "files"
    papers.mkdir()
    files.mkdir()
    (papers / "lamp.md").write_text("The lamp is lit at dusk by the keeper.\n")
    run_json("index", str(settled(papers)), "--collection", "Papers")
    started = {
        "window": ["--background"],
        "serve": ["serve", "--port", "0"],
        "watch": ["index", str(papers), "--collection", "Papers", "--watch"],
    }
    command = [sys.executable, "-m", "desktop_rag", *started[request.param]]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for_window(home, process)
        yield Beside(home, process, papers, files)
    finally:
        process.kill()
        process.communicate()


def leaves(parser: argparse.ArgumentParser, name: str = "") -> Iterator[str]:
    """The names of the verbs that have none below them, or that do something themselves."""
    if parser.get_default("run"):
        yield name
    for action in parser._actions:  # noqa: SLF001  argparse tells it in no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each, found in action.choices.items():
                yield from leaves(found, f"{name} {each}".strip())


def all_verbs() -> set[str]:
    """The verbs that can be tried."""
    return {
        leaf
        for verb in command_verbs()
        for leaf in leaves(make_parser([verb]))
        if leaf and leaf not in _LEFT_OUT
    }


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


class Made(NamedTuple):
    """Paths of files that verbs are given."""

    key: str
    claims: str
    questions: str
    flows: str


def made(files: Path) -> Made:
    key = rsa.generate_private_key(65537, 2048).public_key()
    pem = files / "key.pem"
    pem.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    known = {"source": "The lamp is lit.", "claim": "The lamp is lit.", "label": "supported"}
    other = known | {"claim": "Fish is sold in Vienna.", "label": "unsupported"}
    rows = f"{json.dumps(known)}\n{json.dumps(other)}\n"
    claims = written(files / "claims.jsonl", rows)
    asked = {"question": "When is the lamp lit?", "expected": "At dusk."}
    questions = written(files / "harbour.jsonl", f"{json.dumps(asked)}\n")
    flows = files / "flows"
    flows.mkdir()
    written(flows / "config.yml", "models: []\n")
    written(flows / "hello.co", 'define user hi\n  "hello"\n\ndefine flow\n  user hi\n  bot hi\n')
    written(flows / "tests.jsonl", '{"text": "hello", "intent": "hi"}\n')
    return Made(str(pem), claims, questions, str(flows))


def tried(beside: Beside) -> dict[str, Tried]:
    """Each verb once, in an order in which each finds what it needs."""
    given = made(beside.files)
    return of_the_core(beside) | of_the_server(beside, given) | of_others(beside, given)


def of_the_core(beside: Beside) -> dict[str, Tried]:
    keeper = written(beside.files / "keeper.json", '{"name": "Keeper", "collections": ["Papers"]}')
    backup, lamp = str(beside.files / "backup"), str(beside.papers / "lamp.md")
    return {
        "status": Tried([]),
        "index": Tried([str(beside.papers), "--collection", "Papers"]),
        "search": Tried(["lamp"], said="lamp.md"),
        "passages": Tried([lamp], said='"place"'),
        "ask": Tried(["When is the lamp lit by the keeper?"], said="dusk"),
        "memory export": Tried(["--to", str(beside.files / "chats")], said=".json"),
        "doctor": Tried(["--repair"], code=-1),
        "events": Tried([]),
        "privacy": Tried([]),
        "password": Tried([lamp, "--forget"], code=-1),
        "collection list": Tried([], said="Papers"),
        "collection allow-hosts": Tried(["Papers", "wiki.example"]),
        "collection set-model": Tried(["Papers", "--default"]),
        "assistant import": Tried([keeper], said="Papers"),
        "assistant set": Tried(["Keeper", "--filters", "type:md"]),
        "assistant list": Tried([], said="type:md"),
        "assistant export": Tried(["Keeper"], said="Papers"),
        "assistant add": Tried(["Keeper"], code=1),
        "assistant remove": Tried(["Keeper"]),
        "endpoint add": Tried(["http://localhost:9/v1", "--name", "Lamp", "--model", "small"]),
        "endpoint list": Tried([], said="Lamp"),
        "endpoint use": Tried(["Lamp"]),
        "endpoint test": Tried([], code=1),
        "endpoint remove": Tried(["Lamp"]),
        "settings set": Tried(["answers.stores_chats", "off"]),
        "settings list": Tried(["chats"], said="off"),
        "backup export": Tried([backup]),
        "backup import": Tried([backup]),
        "backup list": Tried([]),
        "backup restore": Tried(["1999-01-01"], code=1),
        "copy": Tried(["--from", "duckdb", "--to", str(beside.files / "copied")]),
    }


def of_the_server(beside: Beside, given: Made) -> dict[str, Tried]:
    files = beside.files
    application = ["--issuer", "a", "--audience", "b", "--address", "http://localhost:9/rights"]
    matrix = {
        "matrix login": ["http://localhost:9", "@a:b"], "matrix allow": ["!a:b", "--user", "@a:b"],
        "matrix deny": ["!a:b"], "matrix rooms": [], "matrix devices": [], "matrix key": [],
        "matrix verify": ["@a:b", "D", "F"],
    }  # fmt: skip
    listed = {
        "token add": Tried(["wiki", "--collection", "Papers"]),
        "token list": Tried([], said="wiki"),
        "token revoke": Tried(["wiki"]),
        "access set": Tried(["Papers", "--jwt-key", given.key, *application]),
        "access list": Tried([], said="Papers"),
        "access remove": Tried(["Papers"]),
        "serve": Tried([], code=1, said="desktop-rag quit"),
        "mcp": Tried(["--call", "list_documents", "{}"], said="lamp.md"),
        "schedule add": Tried(["When is the lamp lit?", "--name", "Lit"]),
        "schedule list": Tried([], said="Lit"),
        "schedule run": Tried(["Lit"]),
        "schedule history": Tried(["Lit"]),
        "schedule remove": Tried(["Lit"]),
        "note write": Tried(["lamp", "--folder", str(files / "notes")], code=-1),
        "note refresh": Tried([str(files / "none.md")], code=1),
        "note list": Tried([]),
        "command list": Tried([]),
        "command forget": Tried(["--all"]),
    }
    return listed | {name: Tried(arguments, code=-1) for name, arguments in matrix.items()}


def of_others(beside: Beside, given: Made) -> dict[str, Tried]:
    files, flows, claims = beside.files, given.flows, given.claims
    return {
        "rails check": Tried([flows]),
        "rails test": Tried([flows, "--library"], code=-1),
        "rails run": Tried([flows, "--library", "--say", "hello"]),
        "rails sets": Tried([]),
        "rails use": Tried(["nobody", "none"], code=1),
        "rails try": Tried([flows, "hello"]),
        "rails show": Tried([], code=1),
        "model list": Tried([]),
        "model add": Tried([claims], code=1),
        "model get": Tried(["no such model"], code=1),
        "model use": Tried(["no such model"], code=1),
        "model remove": Tried(["no such model"], code=1),
        "eval run": Tried([given.questions]),
        "eval compare": Tried(["excerpts", "other"], code=1),
        "eval report": Tried(["harbour", str(files / "report.csv")]),
        "eval grounding": Tried([claims], said="Stored as run"),
        "eval keep": Tried([claims], code=1),
        "eval runs": Tried([], said="claims.jsonl"),
        "eval set-from-feedback": Tried([str(files / "mine.jsonl")], code=-1),
        "eval chunks": Tried(["--collection", "Papers", "--no-model"], code=-1),
        "eval retrieval": Tried([str(files)], code=1),
        "eval evidence": Tried([str(files)], code=1),
        "eval rails": Tried([str(files)], code=1),
        "source add": Tried(["webdav", "http://localhost:9/dav/"], code=-1),
        "source list": Tried([]),
        "source remove": Tried(["http://localhost:9/dav/"], code=-1),
        "quick-ask": Tried(["When?"], code=-1),
        "open-url": Tried(["desktop-rag://ask?q=Why"], code=-1),
    }


def refusal(name: str, each: Tried, done: Done) -> str:
    """What is wrong with the end of a verb, "" if nothing is. A code of -1 is any."""
    told = f"{name}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    is_right = each.code in (-1, done.returncode) and each.said in done.stdout + done.stderr
    is_locked = any(words in done.stderr for words in _LOCKED)
    return told if is_locked or not is_right or "Traceback" in done.stderr else ""


@pytest.mark.timeout(600)
def test_every_verb_is_done(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    verbs = tried(beside)
    assert set(verbs) == all_verbs()
    refused = [
        said
        for name, each in verbs.items()
        if (said := refusal(name, each, run(*name.split(), *each.arguments)))
    ]
    assert not refused, "\n".join(refused)
    assert beside.process.poll() is None, beside.process.communicate()
    assert run("quit").returncode == 0
    assert beside.process.wait(_ENOUGH_S) == 0


def started(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "desktop_rag", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    )


def test_a_second_command_waits_for_the_first_and_says_so(
    home: Home, build_services: Callable[[], Services]
) -> None:
    first = build_services()
    second = started("status", "--json")
    assert second.stderr
    assert "waits for its end" in second.stderr.readline()
    assert second.poll() is None
    first.close()
    out, _ = second.communicate(timeout=_ENOUGH_S)
    shown: dict[str, Any] = json.loads(out)
    assert (second.returncode, shown["sources"]) == (0, [])


def test_an_interrupt_that_a_library_swallows_ends_the_wait() -> None:
    def swallow() -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise LibraryHeldError("The library is in use.")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        in_turn(swallow, lambda: (False, None))
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_who_waits_can_be_interrupted(home: Home, services: Services) -> None:
    second = started("status")
    assert second.stderr
    assert "waits for its end" in second.stderr.readline()
    second.send_signal(signal.SIGINT)
    assert second.wait(_ENOUGH_S) == 130
    second.communicate()
