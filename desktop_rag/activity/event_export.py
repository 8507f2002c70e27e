"""Events as the text of a file: CSV or JSON lines. Pure."""

import csv
import io
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from desktop_rag.activity.activity_event import ActivityEvent
from desktop_rag.activity.event_search import FoundEvents
from desktop_rag.activity.event_wording import detail_of, kind_of, title_of

_COLUMNS = (
    "time", "kind", "event", "details", "outcome", "model", "host", "tokens_in", "tokens_out",
    "is_estimate", "seconds",
)  # fmt: skip
# A spreadsheet takes a cell that begins like this for a formula and runs it.
_FORMULA = ("=", "+", "-", "@")


def as_csv(found: FoundEvents) -> str:
    """The events as a table with a header. No cell is a formula."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for event in found.events:
        title = found.chat_titles.get(event.chat_id, "")
        words = (kind_of(event), title_of(event, title), detail_of(event))
        names = (event.outcome.value, event.model, event.host)
        numbers = (event.tokens_in, event.tokens_out, event.is_estimate, round(event.seconds, 3))
        writer.writerow([_time_of(event), *map(_inert, (*words, *names)), *numbers])
    return file.getvalue()


def as_json_lines(found: FoundEvents) -> str:
    """One JSON object for each event, on a line of its own."""
    lines = (json.dumps(row, ensure_ascii=False) for row in rows_of(found))
    return "".join(f"{line}\n" for line in lines)


def rows_of(found: FoundEvents) -> Iterable[dict[str, Any]]:
    """The events as JSON: as stored, with the local time, their words and the title of the chat."""
    for event in found.events:
        title = found.chat_titles.get(event.chat_id, "")
        words = {"event": title_of(event, title), "details": detail_of(event)}
        named = {"chat_title": title} if title else {}
        yield {"time": _time_of(event), **event.to_json(), **words, **named}


def _time_of(event: ActivityEvent) -> str:
    return datetime.fromtimestamp(event.at).astimezone().isoformat(timespec="seconds")


def _inert(cell: str) -> str:
    line = " ".join(cell.split())
    return f"'{line}" if line.startswith(_FORMULA) else line
