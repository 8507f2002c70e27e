"""The verb `events`: what the app did, and the feedback given. Any worker thread."""

import argparse
from datetime import date, datetime
from typing import Any

from desktop_rag import upkeep
from desktop_rag.activity.activity import Activity, EventFilter, rows_of
from desktop_rag.activity.activity_event import EventKind
from desktop_rag.cli.terminal import open_services, prints, say
from desktop_rag.core.errors import AppError, LibraryHeldError
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
