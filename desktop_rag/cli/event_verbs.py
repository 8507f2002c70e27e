"""The verbs `events`, what the app did and the feedback given, and `memory export`, the chats."""

import argparse
from datetime import date, datetime
from typing import Any

from desktop_rag import upkeep
from desktop_rag.activity.activity import Activity, EventFilter, rows_of
from desktop_rag.activity.activity_event import EventKind
from desktop_rag.cli.terminal import add_verb, open_services, path_given, prints, say
from desktop_rag.core.errors import AppError, LibraryHeldError
from desktop_rag.core.files.own_files import file_name_of, write_atomically
from desktop_rag.core.paths import find_home

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
    prints(added, _export, lambda rows: [row["file"] for row in rows] or ["No chats yet."])


def _export(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    folder, wanted = path_given(arguments.to), arguments.chat.strip().casefold()
    rows: list[dict[str, Any]] = []
    with open_services() as services:
        history = services.chat.history
        chats = [chat for chat in history.all() if wanted in chat.title.casefold()]
        if wanted and not chats:
            raise AppError(f"No chat is called “{arguments.chat}”.", "Leave it out for all chats.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for chat in chats:
                # Chats may have one title.
                name = f"{file_name_of(chat.title)} {chat.conversation_id[:8]}.{arguments.format}"
                text = history.export(chat.conversation_id, f".{arguments.format}")
                write_atomically(folder / name, text)
                rows.append({"title": chat.title, "file": str(folder / name)})
        except OSError as error:
            why = error.strerror or str(error)
            raise AppError(f"{folder} can't be written to.", why) from error
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
