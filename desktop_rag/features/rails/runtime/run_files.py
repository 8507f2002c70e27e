"""Runs in files, one event per line, to be shown and replayed. Any thread.

They contain what was said, so they are written only when the person asks for it.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    BotIntent,
    BotSaid,
    CommandProposed,
    Confirmation,
    ContextUpdate,
    Listen,
    OwnEvent,
    RailEvent,
    StartAction,
    UserIntent,
    UserSaid,
    event_from_json,
    event_json,
)

T = TypeVar("T")

_LONGEST = 160


def write_run(path: Path, events: Iterable[RailEvent]) -> None:
    """Write a run into a file, whole or not at all; AppError on failure."""
    rows = (json.dumps(event_json(event), ensure_ascii=False) for event in events)
    with os_error_as(f"{path} can't be written."):
        write_atomically(path, "".join(f"{row}\n" for row in rows))


def read_run(path: Path) -> list[RailEvent]:
    """The events of a file; AppError with the line when it is no run."""
    return read_rows(path, event_from_json, "event of a run")


def read_rows(path: Path, read: Callable[[dict[str, Any]], T], what: str) -> list[T]:
    """What the object on each line of a file is; AppError with the line that is no `what`."""
    with os_error_as(f"{path} can't be read."):
        lines = path.read_text("utf-8").splitlines()
    found: list[T] = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError("it is no object")
            found.append(read(cast("dict[str, Any]", row)))
        except (ValueError, RecursionError, AppError) as exc:
            raise AppError(f"{path.name}:{number}: This is no {what}.", f"{exc}") from exc
    return found


def shown_run(events: Iterable[RailEvent]) -> Iterator[str]:
    """A numbered line for each event, with what matters of it."""
    for number, event in enumerate(events, 1):
        told = " ".join(_told(event).split())
        short = told if len(told) <= _LONGEST else f"{told[: _LONGEST - 1]}…"
        yield f"{number:3} {event.kind:15} {short}".rstrip()


def _told(event: RailEvent) -> str:
    match event:
        case UserSaid(content) | BotSaid(content):
            return content
        case UserIntent(intent) | BotIntent(intent):
            return intent
        case CommandProposed(_, name, parameters) | StartAction(name, parameters):
            return f"{name} {_json(parameters)}" if parameters else name
        case ActionFinished(name, status, result):
            return f"{name} {status}" + ("" if result is None else f" {_json(result)}")
        case ContextUpdate(data):
            return _json(data)
        case OwnEvent(name, data):
            return f"{name} {_json(data)}"
        case Confirmation(is_agreed=is_agreed):
            return "yes" if is_agreed else "no"
        case Listen():
            return ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
