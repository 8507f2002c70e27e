"""The verbs about backups, `backup export`, `import`, `list` and `restore`; `events`, `memory`."""

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any

from desktop_rag import app, upkeep
from desktop_rag.activity.activity import Activity, EventFilter, rows_of
from desktop_rag.activity.activity_event import EventKind
from desktop_rag.backup.backups import Backups
from desktop_rag.backup.manifest import day_in_words, in_words
from desktop_rag.backup.snapshots import Snapshots, snapshots_in
from desktop_rag.cli.terminal import (
    add_json,
    add_verb,
    here,
    open_services,
    path_given,
    print_document,
    prints,
    running_services,
    say,
)
from desktop_rag.core.errors import AppError, LibraryHeldError, os_error_as
from desktop_rag.core.files.own_files import file_name_of, write_atomically
from desktop_rag.core.paths import find_home

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
        yield services.backups, services.snapshots
        return
    with app.opened_backups(find_home()) as opened:
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


_NOTHING = "Nothing is recorded."


def add_events(added: argparse.ArgumentParser) -> None:
    """Add the arguments of `events` to its parser."""
    text = "list events of this kind only; may be repeated"
    added.add_argument(
        "--kind", action="append", default=[], choices=[kind.value for kind in EventKind], help=text
    )
    text = "leave out events before this day, for example 2026-11-05"
    added.add_argument("--since", type=_day, metavar="DAY", default=0.0, help=text)
    prints(added, _events, lambda rows: [*map(_line, rows)] or [_NOTHING])


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `memory`."""
    verbs = parser.add_subparsers(required=True)
    text = (
        "Write chats with their sources, opinions, steps and errors into files, one each. Files of"
        " that name are replaced."
    )
    added = add_verb(verbs, "export", text, "Write chats into files.")
    text = "a chat by its title or a part of it; all chats if left out"
    added.add_argument("chat", nargs="?", default="", help=text)
    added.add_argument("--to", required=True, metavar="FOLDER", help="where the files are written")
    added.add_argument("--format", choices=("json", "md", "html"), default="json")
    prints(added, _export_memory, lambda rows: [row["file"] for row in rows] or ["No chats yet."])


def _export_memory(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    folder, wanted = path_given(arguments.to), arguments.chat.strip().casefold()
    rows: list[dict[str, Any]] = []
    with open_services() as services:
        history = services.chat.history
        chats = [chat for chat in history.all() if wanted in chat.title.casefold()]
        if wanted and not chats:
            raise AppError(f"No chat is called “{arguments.chat}”.", "Leave it out for all chats.")
        with os_error_as(f"{folder} can't be written to."):
            folder.mkdir(parents=True, exist_ok=True)
            for chat in chats:
                # Chats may have one title.
                name = f"{file_name_of(chat.title)} {chat.conversation_id[:8]}.{arguments.format}"
                text = history.export(chat.conversation_id, f".{arguments.format}")
                write_atomically(folder / name, text)
                rows.append({"title": chat.title, "file": str(folder / name)})
    return rows


def _events(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    try:
        with open_services() as services:
            return _found(services.activity, arguments)
    except LibraryHeldError:
        raise
    except AppError as error:
        if EventKind.FEEDBACK in arguments.kind:
            raise
        say(f"{error.title} Chats are listed without their titles, and feedback is missing.")
        return _found(upkeep.recorded_activity(find_home()), arguments)


def _found(activity: Activity, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The events, the oldest first, so that the end of a long list is the present."""
    kinds = frozenset(EventKind(kind) for kind in arguments.kind)
    wanted = EventFilter(kinds, since=arguments.since)
    return list(rows_of(activity.find(wanted)))[::-1]


def _line(row: dict[str, Any]) -> str:
    details = f": {row['details']}" if row["details"] else ""
    return f"{row['time'].replace('T', ' ')[:19]}  {row['event']}{details}"


def _day(text: str) -> float:
    try:
        return datetime.combine(date.fromisoformat(text), datetime.min.time()).timestamp()
    except ValueError as exc:
        raise argparse.ArgumentTypeError("must be a day such as 2026-11-05") from exc
