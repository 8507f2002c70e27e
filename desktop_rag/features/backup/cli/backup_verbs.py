"""The verbs about backups: `backup export`, `import`, `list` and `restore`."""

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from desktop_rag.cli.terminal import (
    add_json,
    add_verb,
    here,
    path_given,
    print_document,
    prints,
    running_services,
    say,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import find_home
from desktop_rag.features.backup.backups import Backups
from desktop_rag.features.backup.manifest import day_in_words, in_words
from desktop_rag.features.backup.services import BackupServices, opened_backups
from desktop_rag.features.backup.snapshots import Snapshots, snapshots_in

_MEGABYTE = 1_000_000


def add_backups(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `backup`."""
    verbs = parser.add_subparsers(required=True)
    text = (
        "Write chats, feedback, assistants, prompts, collections, folders and settings to one file."
        " Keys are never in it. An earlier file of this name is replaced once the new one is whole."
    )
    added = add_verb(verbs, "export", text, "Write a backup.")
    added.add_argument("file")
    added.add_argument("--collection", default="", help="only this collection and its chats")
    text = "also the texts, passages and vectors of the documents, for an empty library"
    added.add_argument("--with-index", action="store_true", help=text)
    prints(added, _export, _export_lines)
    text = (
        "Merge a backup into the library: what both have is kept once. Every value is checked"
        " first; nothing is changed when one is wrong."
    )
    added = add_verb(verbs, "import", text, "Take in a backup.")
    added.set_defaults(run=_import)
    added.add_argument("file")
    text = "only say what the file holds"
    added.add_argument("--preview", action="store_true", help=text)
    add_json(added)
    added = add_verb(verbs, "list", "List the daily snapshots, the newest first.")
    prints(added, _list, _list_lines)
    text = "Merge a daily snapshot into the library, as `import` does with a file."
    added = add_verb(verbs, "restore", text, "Take in a snapshot.")
    added.add_argument("day", help="its day, such as 2026-11-23, or its number")
    prints(added, _restore, _import_lines)


@contextmanager
def _opened() -> Generator[tuple[Backups, Snapshots]]:
    """Backups of the running process, else of the library opened here."""
    if services := running_services():
        own = services.wing(BackupServices)
        yield own.backups, own.snapshots
        return
    with opened_backups(find_home()) as opened:
        yield opened


# --- the verbs ---------------------------------------------------------------------------------


def _export(arguments: argparse.Namespace) -> dict[str, Any]:
    path = _file(arguments.file)
    with _opened() as (backups, _):
        chosen = backups.collection(arguments.collection) if arguments.collection else None
        contents = backups.export(
            path, collection=chosen, with_index=arguments.with_index, tell=say
        )
    assert contents is not None, "it is checked"
    return {"file": str(path), "bytes": path.stat().st_size, **contents.to_json()}


def _import(arguments: argparse.Namespace) -> int:
    path = _file(arguments.file)
    with _opened() as (backups, _):
        if arguments.preview:
            print_document(backups.examine(path).to_json(), _preview_lines, as_json=arguments.json)
            return 0
        # Only an empty library that nothing reads takes an index.
        done = backups.import_file(path, takes_index=here().services is None, tell=say)
    print_document(done.to_json(), _import_lines, as_json=arguments.json)
    return 0


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    # Without opening the library: it may be the reason for asking.
    return [snapshot.to_json() for snapshot in snapshots_in(find_home().snapshots)]


def _restore(arguments: argparse.Namespace) -> dict[str, Any]:
    with _opened() as (backups, snapshots):
        return backups.import_file(snapshots.find(arguments.day).file, tell=say).to_json()


# --- lines for people ----------------------------------------------------------------------------


def _export_lines(made: dict[str, Any]) -> list[str]:
    size = made["bytes"] / _MEGABYTE
    return [f"{made['file']} ({size:,.1f} MB): {in_words(made['counts'])}."]


def _preview_lines(contents: dict[str, Any]) -> list[str]:
    of = f"the collection {contents['collection']}" if contents["collection"] else "everything"
    lines = [
        f"A backup of {of} from {day_in_words(contents['day'])}: {in_words(contents['counts'])}."
    ]
    lines += ["With settings."] if contents["has_settings"] else []
    lines += ["With the index of its documents."] if contents["has_index"] else []
    lines += [f"Names the endpoint {address}" for address in contents["addresses"]]
    return [*lines, *_missing_lines(contents)]


def _import_lines(done: dict[str, Any]) -> list[str]:
    lines = [f"Added or changed: {in_words(done['added'])}."]
    lines += ["The settings were taken too."] if done["takes_settings"] else []
    lines += ["The index was taken too."] if done["has_index"] else []
    lines += [f"The index was left out. {done['no_index']}"] if done["no_index"] else []
    lines += [f"Left out, a part is in the library: {path}" for path in done["overlapping"]]
    return [*lines, *_missing_lines(done["contents"])]


def _missing_lines(contents: dict[str, Any]) -> list[str]:
    return [f"Not on this computer: {path}" for path in contents["missing"]]


def _list_lines(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return ["No snapshots yet. The app makes one a day."]
    return [f"{row['day']}  {row['size'] / _MEGABYTE:,.1f} MB  {row['file']}" for row in rows]


def _file(name: str) -> Path:
    if not name.strip():
        raise AppError("There is no file name.", "Name the file of the backup.")
    return path_given(name)
