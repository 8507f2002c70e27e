"""The verbs about what the app did, keeps and may send: `events`, `memory`, `privacy`."""

import argparse
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from desktop_rag.activity.activity import Activity, EventFilter, rows_of
from desktop_rag.activity.activity_event import EventKind
from desktop_rag.activity.event_files import EventFiles, EventLog
from desktop_rag.cli.terminal import add_verb, open_services, path_given, prints, say
from desktop_rag.core.errors import AppError, LibraryHeldError, os_error_as
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
        # The library can't be opened.
        recorded = EventLog(EventFiles(find_home().activity))
        return _found(Activity(recorded, list, dict), arguments)


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


def add_privacy(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `privacy`."""
    prints(parser, _privacy, _privacy_lines)


def _privacy(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        return [connection.to_json() for connection in services.connections()]


def _privacy_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The connections under their reach; those that are on with their addresses."""
    lines: list[str] = []
    reach = ""
    for row in rows:
        if row["reach"] != reach:
            reach = row["reach"]
            lines += ["", reach.capitalize()] if lines else [reach.capitalize()]
        where = ", ".join(row["addresses"])
        lines.append(f"  {row['name']}: {row['state']}{f' ({where})' if where else ''}")
        lines.append(f"      to: {row['to']}")
        lines.append(f"      sent: {row['sent']}")
        lines.append(f"      when: {row['when']}")
        place = f" ({row['place']})" if row["place"] else ""
        lines.append(f"      switch: {row['switch']}{place}")
    return lines
