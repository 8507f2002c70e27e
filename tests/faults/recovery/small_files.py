"""The files that the app writes as a whole, their contents, readers and damages.

The files come from `Home.files`; `CONTENTS` has what the app writes into each, and how it is read.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QMainWindow

from desktop_rag.core.files.own_files import pixels_in, read_object, read_part
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.features.local_model.model_list import ModelList
from desktop_rag.features.matrix.bot_settings import BotFile
from desktop_rag.features.rails.commands.commands import CommandBook
from desktop_rag.features.rails.commands.registered_program import ProgramBook
from desktop_rag.features.schedules.notes.notes import NoteFiles
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenUses
from desktop_rag.models.endpoints.client.allowances import Allowances, ProfileBook
from desktop_rag.models.system_keyring import FilePasswords
from desktop_rag.ui.window.main_window import place_window

URL = "http://127.0.0.1:9/v1"
ENDPOINT = EndpointSettings(base_url=URL, model="m", requests_per_minute=3)


def read_profiles(path: Path) -> object:
    book = ProfileBook(path)
    return [book.get(URL, "m").findings(), book.offer(URL)]


def read_spending(path: Path) -> object:
    return [Allowances(path).spent_today(URL), Allowances(path).begin(ENDPOINT, 10)]


CONTENTS: dict[str, tuple[Any, Callable[[Path], object]]] = {
    "model_profiles": (
        {
            "models": [
                {
                    "base_url": URL, "model": "m", "examined_at": 1.7e9, "context_tokens": 8192,
                    "thinking": "tags", "tokens_ratio": 1.2, "streams": True,
                    "judging": 0.9,
                    "learned_limit": {"tokens": 9, "learned_at": 1.7e9, "is_stated": True},
                }
            ],
            "offered": {URL: [{"name": "m", "context_tokens": 8192, "price_in": 0.5}]},
        },
        read_profiles,
    ),
    "spending": (
        {"day": "2026-11-28", "spent": {URL: 0.5}, "lately": {URL: [[1.7e9, 12]]}}, read_spending,
    ),
    "local_model_list": (
        {"models": [{"name": "m", "path": "/m.gguf", "read_per_s": 9.5, "written_per_s": 3.0}]},
        lambda path: ModelList(path).all(),
    ),
    "notes": ({"paths": ["/nowhere/a.md"]}, lambda path: NoteFiles(path, None).all()),  # type: ignore[arg-type]
    "commands": (
        {
            "commands": [
                {
                    "command_id": "a", "kind": "note", "title": "t", "prompt": "p",
                    "details": [["a", "b"]], "target": {"path": "/a"}, "proposed_at": 1.7e9,
                    "conversation_id": "", "assistant_id": "", "state": "done", "outcome": "",
                    "said": "", "decided_at": 1.7e9, "ended_at": 1.7e9, "undo": {},
                }
            ]
        },
        lambda path: CommandBook(path, time.time).all(),
    ),
    "programs": (
        {"programs": [{"program_id": "a", "name": "n", "path": "/bin/true", "timeout_s": 5}]},
        lambda path: ProgramBook(path).all(),
    ),
    "password_list": (
        {"places": ["/a.pdf"]}, lambda path: FilePasswords(path).places(Path("/a.pdf")),
    ),
    "tokens": (
        {
            "tokens": [
                {
                    "token_id": "a", "name": "n", "digest": "d", "scopes": ["ask"],
                    "collection_ids": [], "origins": [], "requests_per_minute": 60,
                    "created_at": 1.7e9, "expires_at": 0.0,
                }
            ]
        },
        lambda path: (TokenBook(path).all(), TokenBook(path).find("secret")),
    ),
    "token_uses": ({"a": 1.7e9}, lambda path: TokenUses(path).all()),
    "access_rules": (
        {
            "rules": [
                {
                    "collection_id": "c", "key_file": "/k", "issuer": "i", "audience": "a",
                    "address": "http://127.0.0.1/r", "algorithms": ["RS256"],
                }
            ]
        },
        lambda path: AccessRules(path).all(),
    ),
    "window": (
        {
            "left": 10, "top": 10, "width": 900, "height": 700, "is_maximized": False,
            "popup": {"width": 500, "height": 300}, "reading": {"width": 500},
        },
        lambda path: [
            place_window(QMainWindow(), read_object(path)),
            *(pixels_in(read_part(path, name), "width") for name in ("popup", "reading")),
        ],
    ),
    "shared_library": ({"library": "a/b", "collections": {"c": "C"}}, read_object),
    "settings": (None, load_settings),
    "rail_vectors": (None, Path.exists),
    "link_key": (None, Path.exists),
}  # fmt: skip


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(max(16, path.stat().st_size))),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00\xd8"),
    "a number": lambda path: path.write_text("9" * 400),
    "a long number": lambda path: path.write_text("9" * 40_000),
    "a list": lambda path: path.write_text("[1, 2]"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "another bit": lambda path: path.write_bytes(
        bytes([path.read_bytes()[0] ^ 8]) + path.read_bytes()[1:]
    ),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link to nothing": lambda path: (path.unlink(), path.symlink_to("/nowhere/at/all")),
    "a link to a folder": lambda path: (path.unlink(), path.symlink_to("/")),
}


def fill(home: Home) -> list[Path]:
    """Write every small file of an indexed library; returns them all."""
    for name, (content, _) in CONTENTS.items():
        path: Path = getattr(home, name)
        path.parent.mkdir(exist_ok=True)
        if content:
            path.write_text(json.dumps(content))
        elif not path.exists():
            path.write_bytes(b"0" * 32)
    home.settings.write_text('[preferences]\nlanguage = "de"\n')
    home.settings.with_suffix(".toml.bak").write_text('[preferences]\nlanguage = "de"\n')
    home.matrix.mkdir(exist_ok=True)
    bot = BotFile(home.matrix / "settings.toml")
    bot.log_in("https://m.example", "@b:m.example", "D", "http://127.0.0.1:9")
    found = [path for path in home.root.rglob("*") if path.is_file() and "library" not in path.name]
    left_out = (home.logs, home.root / "journal" / "conversations", home.snapshots)
    found = [path for path in found if not any(path.is_relative_to(each) for each in left_out)]
    return [path for path in found if path.suffix not in (".lock", ".sock", ".jsonl")]
