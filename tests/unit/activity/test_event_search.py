"""Finding events: kinds, words, times and totals; feedback in its place."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from desktop_rag.activity.activity import Activity, EventFilter, FoundEvents, as_csv, as_json_lines
from desktop_rag.activity.activity_event import (
    ActivityEvent,
    EventKind,
    IndexChange,
    Opinion,
    Outcome,
    Purpose,
)
from desktop_rag.activity.event_files import EventFiles, EventLog
from desktop_rag.activity.event_wording import KIND_NAMES, detail_of, setting_name, title_of
from desktop_rag.core.language.translation import use_language
from desktop_rag.core.settings import Settings

QUESTION = ActivityEvent(
    100.0, EventKind.QUESTION, chat_id="c1", model="llama", seconds=4.0, counts=(("sources", 5),)
)
CALL = ActivityEvent(
    99.0, EventKind.CALL, Purpose.ANSWER, model="llama", host="localhost:1", tokens_in=900,
    tokens_out=50, seconds=3.5,
)  # fmt: skip
FAILED = ActivityEvent(
    98.0, EventKind.CALL, Purpose.HELPER, "The endpoint is busy.", Outcome.FAILED, model="llama"
)
SCAN = ActivityEvent(
    97.0, EventKind.INDEX, "Letters", IndexChange.SCANNED, counts=(("added", 3), ("removed", 1))
)
LIKED = ActivityEvent(98.5, EventKind.FEEDBACK, Opinion.LIKED, chat_id="c1", model="llama")
# Set in the file of the settings only.
UNNAMED = {
    "background.asks_for_hotkeys", "index.database_memory_mb", "server.login_client",
    "server.login_issuer", "server.login_secret_file", "server.public_address",
    "store.read_address", "store.read_lag_s",
}  # fmt: skip
TITLES = {"c1": "When is the lamp lit?"}


@pytest.fixture
def activity(tmp_path: Path) -> Iterator[Activity]:
    with closing(EventLog(EventFiles(tmp_path))) as log:
        for event in (SCAN, FAILED, CALL, QUESTION):
            log.append(event)
        yield Activity(log, lambda: [LIKED], lambda: TITLES)


def test_feedback_stands_between_the_events_of_its_time(activity: Activity) -> None:
    assert activity.find(EventFilter()).events == [QUESTION, CALL, LIKED, FAILED, SCAN]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (EventFilter(frozenset({EventKind.CALL})), [CALL, FAILED]),
        (EventFilter(frozenset({EventKind.FEEDBACK})), [LIKED]),
        (EventFilter(frozenset({EventKind.CALL, EventKind.INDEX})), [CALL, FAILED, SCAN]),
        (EventFilter(text="LAMP"), [QUESTION, LIKED]),
        (EventFilter(text=" busy "), [FAILED]),
        (EventFilter(text="3 added"), [SCAN]),
        (EventFilter(text="nothing of this"), []),
        (EventFilter(since=98.5), [QUESTION, CALL, LIKED]),
        (EventFilter(frozenset({EventKind.CALL}), "llama", 98.2), [CALL]),
    ],
)
def test_filters(activity: Activity, wanted: EventFilter, found: list[ActivityEvent]) -> None:
    assert activity.find(wanted).events == found


def test_the_totals_are_those_of_the_filter(activity: Activity) -> None:
    calls = activity.find(EventFilter(frozenset({EventKind.CALL}))).totals
    assert calls.in_words() == "2 events · 2 calls in 3.5 s, 900 tokens in, 50 out"
    every = activity.find(EventFilter()).totals
    assert every.in_words().startswith("5 events · 1 question in 4.0 s · 2 calls in 3.5 s")


def test_deleting_leaves_the_feedback(activity: Activity) -> None:
    activity.find(EventFilter())
    activity.delete_all()
    assert activity.find(EventFilter()).events == [LIKED]


def test_events_in_words() -> None:
    assert title_of(QUESTION, TITLES["c1"]) == "Question in “When is the lamp lit?”"
    assert title_of(QUESTION) == "Question in a chat"
    assert detail_of(QUESTION) == "5 sources · 4.0 s · llama"
    assert title_of(CALL) == "Answer by llama"
    assert detail_of(CALL) == "900 tokens in, 50 out · 3.5 s · at localhost:1"
    assert detail_of(FAILED) == "failed · The endpoint is busy. · 0.0 s"
    assert (title_of(SCAN), detail_of(SCAN)) == ("Letters was scanned", "3 added, 1 removed")
    assert title_of(LIKED, TITLES["c1"]) == "Liked an answer in “When is the lamp lit?”"
    assert set(KIND_NAMES) == set(EventKind)


@pytest.mark.parametrize("kind", list(EventKind))
def test_every_kind_has_words_even_when_others_wrote_the_file(kind: EventKind) -> None:
    event = ActivityEvent(1.0, kind, "subject", "detail", model="model")
    assert title_of(event, "chat")
    assert isinstance(detail_of(event), str)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r\n+"])
def test_no_cell_of_the_table_is_a_formula(start: str) -> None:
    title = f"{start}cmd|'/c calc'!A1"
    notice = ActivityEvent(1.0, EventKind.NOTICE, title, title, model=title, host=title)
    [_, row] = csv.reader(io.StringIO(as_csv(FoundEvents([notice], {}))))
    assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert row[2] == f"'{title.strip()}"


def test_the_exports_hold_what_is_shown() -> None:
    found = FoundEvents([QUESTION, FAILED], TITLES)
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert [row["event"] for row in rows] == [
        "Question in “When is the lamp lit?”", "Background request by llama",
    ]  # fmt: skip
    assert rows[0]["seconds"] == "4.0"
    assert rows[1]["outcome"] == "failed"
    first, second = map(json.loads, as_json_lines(found).splitlines())
    assert first["chat_title"] == "When is the lamp lit?"
    assert first["counts"] == {"sources": 5}
    assert second["details"].startswith("failed")


def test_settings_are_named_as_in_their_form() -> None:
    changed = "appearance.language, background.when_closed, shared_library.host, API key"
    event = ActivityEvent(1.0, EventKind.SETTINGS, detail=changed)
    assert detail_of(event) == "Language, Closing the window, Shared library, API key"


def test_every_name_that_is_recorded_has_words() -> None:
    """A name with an underscore is one of the code."""
    for section in fields(Settings):
        value = getattr(Settings(), section.name)
        for each in fields(value) if is_dataclass(value) else ():
            key = f"{section.name}.{each.name}"
            assert key in UNNAMED or "_" not in setting_name(key), key


def test_the_numbers_of_events_are_told_in_the_language(request: pytest.FixtureRequest) -> None:
    german = {"sources": "Quellen", "excerpts": "Auszüge"}
    request.addfinalizer(lambda: use_language(None))
    use_language(lambda text: german.get(text, ""), ".", decimal=",")
    said = detail_of(replace(QUESTION, model="", counts=(("sources", 8),), seconds=3.04))
    assert said == "8 Quellen · 3,0 s · Auszüge"
