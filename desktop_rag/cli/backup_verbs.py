"""The verbs about backups: `backup export`, `import`, `list` and `restore`."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop_rag import app
from desktop_rag.backup.backups import Backups, Tell, silent
from desktop_rag.backup.contents import day_in_words, in_words
from desktop_rag.backup.snapshots import Snapshots, snapshots_in
from desktop_rag.cli.terminal import add_json, print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import find_home
from desktop_rag.running_app import ask_running_app

_MEGABYTE = 1_000_000


def add_backups(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `backup`."""
    verbs = parser.add_subparsers(required=True)
    text = (
        "Write chats, feedback, assistants, prompts, collections, folders and settings to one file."
        " Keys are never in it. An earlier file of this name is replaced once the new one is whole."
    )
    added = verbs.add_parser("export", help="Write a backup.", description=text)
    added.set_defaults(run=_export)
    added.add_argument("file")
    added.add_argument("--collection", default="", help="only this collection and its chats")
    text = "also the texts, passages and vectors of the documents, for an empty library"
    added.add_argument("--with-index", action="store_true", help=text)
    add_json(added)
    text = (
        "Merge a backup into the library: what both have is kept once. Every value is checked"
        " first; nothing is changed when one is wrong."
    )
    added = verbs.add_parser("import", help="Take in a backup.", description=text)
    added.set_defaults(run=_import)
    added.add_argument("file")
    text = "only say what the file holds"
    added.add_argument("--preview", action="store_true", help=text)
    add_json(added)
    text = "List the daily snapshots, the newest first."
    added = verbs.add_parser("list", help=text, description=text)
    added.set_defaults(run=_list)
    add_json(added)
    text = "Merge a daily snapshot into the library, as `import` does with a file."
    added = verbs.add_parser("restore", help="Take in a snapshot.", description=text)
    added.set_defaults(run=_restore)
    added.add_argument("day", help="its day, such as 2026-11-23, or its number")
    add_json(added)


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handlers of these verbs in the running app; arguments come from another process."""
    return {
        "backup_export": lambda services, asked: _exported(services.backups, **asked),
        "backup_import": lambda services, asked: _imported(
            services.backups, str(asked["file"]), is_preview=bool(asked["is_preview"])
        ),
        "backup_list": lambda services, _: [each.to_json() for each in services.snapshots.all()],
        "backup_restore": lambda services, asked: _restored(
            services.backups, services.snapshots, **asked
        ),
    }


# --- the verbs ---------------------------------------------------------------------------------


def _export(arguments: argparse.Namespace) -> int:
    request: dict[str, Any] = {
        "file": _absolute(arguments.file),
        "collection": arguments.collection,
        "with_index": arguments.with_index,
    }
    is_answered, made = ask_running_app(find_home(), "backup_export", request)
    if not is_answered:
        with app.opened_backups(find_home()) as (backups, _):
            made = _exported(backups, **request, tell=say)
    print_document(made, _export_lines, as_json=arguments.json)
    return 0


def _import(arguments: argparse.Namespace) -> int:
    request: dict[str, Any] = {"file": _absolute(arguments.file), "is_preview": arguments.preview}
    is_answered, done = ask_running_app(find_home(), "backup_import", request)
    if not is_answered:
        with app.opened_backups(find_home()) as (backups, _):
            done = _imported(backups, **request, takes_index=True, tell=say)
    lines = _preview_lines if arguments.preview else _import_lines
    print_document(done, lines, as_json=arguments.json)
    return 0


def _list(arguments: argparse.Namespace) -> int:
    is_answered, rows = ask_running_app(find_home(), "backup_list", {})
    if not is_answered:
        # Without opening the library: it may be the reason for asking.
        rows = [snapshot.to_json() for snapshot in snapshots_in(find_home().snapshots)]
    print_document(rows, _list_lines, as_json=arguments.json)
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    request = {"day": arguments.day}
    is_answered, done = ask_running_app(find_home(), "backup_restore", request)
    if not is_answered:
        with app.opened_backups(find_home()) as (backups, snapshots):
            done = _restored(backups, snapshots, **request, tell=say)
    print_document(done, _import_lines, as_json=arguments.json)
    return 0


# --- in this process or the running app ----------------------------------------------------------


def _exported(
    backups: Backups, file: str, collection: str, *, with_index: bool, tell: Tell = silent
) -> dict[str, Any]:
    path = Path(file)
    chosen = backups.collection(collection) if collection else None
    contents = backups.export(path, collection=chosen, with_index=bool(with_index), tell=tell)
    assert contents is not None, "it is checked"
    return {"file": file, "bytes": path.stat().st_size, **contents.to_json()}


def _imported(
    backups: Backups,
    file: str,
    *,
    is_preview: bool = False,
    takes_index: bool = False,
    tell: Tell = silent,
) -> dict[str, Any]:
    if is_preview:
        return backups.examine(Path(file)).to_json()
    return backups.import_file(Path(file), takes_index=takes_index, tell=tell).to_json()


def _restored(
    backups: Backups, snapshots: Snapshots, day: str, *, tell: Tell = silent
) -> dict[str, Any]:
    return backups.import_file(snapshots.find(day).file, tell=tell).to_json()


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


def _absolute(name: str) -> str:
    # The app that answers may run in another folder.
    if not name.strip():
        raise AppError("There is no file name.", "Name the file of the backup.")
    return str(Path(name).expanduser().absolute())
