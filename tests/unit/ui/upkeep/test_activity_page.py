"""The activity page: filters, totals, details, live events, export and deleting."""

import csv
import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox
from pytestqt.qtbot import QtBot

from desktop_rag.activity.activity import Activity, FoundEvents
from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Opinion, Outcome, Purpose
from desktop_rag.activity.event_files import EventFiles, EventLog
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.upkeep.activity_page import (
    ActivityModel,
    ActivityPage,
    ActivityTable,
    time_of_day,
)
from desktop_rag.ui.widgets.controls import PlainLabel
from tests.unit.ui.rooms import button, field, texts

NOW = round(time.time(), 3)
DAY_S = 86_400.0
FOREIGN = "<img src='x'>\u202e"
QUESTION = ActivityEvent(
    NOW - 1, EventKind.QUESTION, chat_id="c1", model="llama", seconds=4.0, counts=(("sources", 5),)
)
CALL = ActivityEvent(
    NOW - 2, EventKind.CALL, Purpose.ANSWER, model="llama", host="localhost:1", tokens_in=900,
    tokens_out=50, seconds=3.5,
)  # fmt: skip
ERROR = ActivityEvent(NOW - 3, EventKind.NOTICE, FOREIGN, "A hint.", Outcome.FAILED)
OLD = ActivityEvent(NOW - 30 * DAY_S, EventKind.SETTINGS, detail="answers.checks_claims")
LIKED = ActivityEvent(NOW - 0.5, EventKind.FEEDBACK, Opinion.LIKED, chat_id="c1", model="llama")


class Room:
    """The page over a real event log."""

    def __init__(self, page: ActivityPage, log: EventLog, qtbot: QtBot) -> None:
        self.page, self.log, self._qtbot = page, log, qtbot
        self.table = field(page, ActivityTable, "Events")

    @property
    def kinds(self) -> list[str]:
        model = self.table.model()
        return [model.index(row, 1).data() for row in range(model.rowCount())]

    def waits_for(self, *kinds: str) -> None:
        self._qtbot.waitUntil(lambda: self.kinds == list(kinds), timeout=10_000)

    def sees(self, text: str) -> None:
        self._qtbot.waitUntil(lambda: text in "\n".join(texts(self.page)), timeout=10_000)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with closing(EventLog(EventFiles(tmp_path / "activity"))) as log:
        yield log


def make_page(bridge: Bridge, theme: Theme, log: EventLog, qtbot: QtBot) -> ActivityPage:
    def feedback() -> list[ActivityEvent]:
        return [LIKED]

    activity = Activity(log, feedback, lambda: {"c1": f"{FOREIGN} When?"})
    page = ActivityPage(bridge, activity, theme, is_recording=lambda: True)
    log.changes.hear(object, bridge.post)
    qtbot.addWidget(page)
    page.resize(900, 700)
    return page


@pytest.fixture
def room(bridge: Bridge, theme: Theme, log: EventLog, qtbot: QtBot) -> Room:
    for event in (OLD, ERROR, CALL, QUESTION):
        log.append(event)
    room = Room(make_page(bridge, theme, log, qtbot), log, qtbot)
    room.page.show()
    room.waits_for("Feedback", "Question", "Endpoint call", "Error", "Settings")
    return room


def test_foreign_text_is_literal(room: Room) -> None:
    assert room.table.model().index(3, 2).data() == "<img src='x'>\u25a1"
    assert "&lt;img" in room.table.model().index(3, 2).data(Qt.ItemDataRole.ToolTipRole)
    room.table.selectRow(3)
    room.sees("<img src='x'>\u25a1")
    labels = room.page.findChildren(PlainLabel)
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}


def test_kinds_and_texts_filter(room: Room) -> None:
    button(room.page, "Endpoint calls").click()
    room.waits_for("Endpoint call")
    room.sees("1 event · 1 call in 3.5 s, 900 tokens in, 50 out")
    button(room.page, "Feedback").click()
    room.waits_for("Feedback")
    button(room.page, "All").click()
    field(room.page, QLineEdit, "Filter events").setText("llama")
    room.waits_for("Feedback", "Question", "Endpoint call")
    field(room.page, QLineEdit, "Filter events").clear()
    button(room.page, "Repairs").click()
    room.waits_for()
    room.sees("No events match the filter.")


def test_details_and_the_way_to_the_chat(room: Room, qtbot: QtBot) -> None:
    room.table.selectRow(2)
    room.sees("Tokens: 900 tokens in, 50 out")
    assert not button(room.page, "Open chat").isVisible()
    room.table.selectRow(0)
    room.sees("Liked an answer in")
    with qtbot.waitSignal(room.page.chat_requested) as requested:
        button(room.page, "Open chat").click()
    assert requested.args == ["c1"]


def test_new_events_come_on_top_and_keep_the_selection(room: Room, qtbot: QtBot) -> None:
    room.table.selectRow(2)
    new = ActivityEvent(NOW, EventKind.CALL, Purpose.HELPER, model="llama", tokens_in=100)
    with qtbot.assertNotEmitted(room.table.model().modelReset):
        room.log.append(new)
        six = ("Endpoint call", "Feedback", "Question", "Endpoint call", "Error", "Settings")
        room.waits_for(*six)
    assert room.table.current == CALL
    room.sees("6 events · 1 question in 4.0 s · 2 calls in 3.5 s, 1,000 tokens in, 50 out")
    button(room.page, "Endpoint calls").click()
    room.waits_for("Endpoint call", "Endpoint call")
    assert room.table.current == CALL
    room.log.append(ActivityEvent(NOW, EventKind.SETTINGS, detail="x"))
    room.log.append(ActivityEvent(NOW + 1, EventKind.CALL, Purpose.TEST, model="llama"))
    room.waits_for("Endpoint call", "Endpoint call", "Endpoint call")
    assert room.table.current == CALL


def test_a_hidden_page_reads_when_it_is_shown(room: Room, qtbot: QtBot) -> None:
    room.page.hide()
    room.log.append(ActivityEvent(NOW, EventKind.REPAIR, "Mended."))
    room.log.flush()
    assert len(room.kinds) == 5
    room.page.show()
    room.waits_for("Repair", "Feedback", "Question", "Endpoint call", "Error", "Settings")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_what_is_filtered_is_exported(
    room: Room, tmp_path: Path, qtbot: QtBot, ending: str
) -> None:
    button(room.page, "Endpoint calls").click()
    room.waits_for("Endpoint call")
    button(room.page, "Export…").click()
    dialog = room.page.findChild(QFileDialog, "exportDialog")
    assert dialog is not None
    path = tmp_path / f"activity.{ending}"
    with qtbot.waitSignal(room.page.notified) as notified:
        dialog.fileSelected.emit(str(path))
    dialog.close()
    assert notified.args == [Notice(f"1 event exported to {path}.")]
    if ending == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            [row] = csv.DictReader(file)
    else:
        [row] = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (row["model"], int(row["tokens_in"])) == ("llama", 900)


def test_an_export_that_fails_says_so(
    room: Room, bridge: Bridge, tmp_path: Path, qtbot: QtBot
) -> None:
    heard: list[AppError] = []
    bridge.hear(AppError, heard.append)
    room.page.export(tmp_path / "missing" / "activity.csv")
    qtbot.waitUntil(lambda: bool(heard))
    assert "could not be exported" in heard[0].title


def test_deleting_asks_first(room: Room, tmp_path: Path) -> None:
    button(room.page, "Delete all…").click()
    box = room.page.findChild(QMessageBox)
    assert box is not None
    assert "feedback in them stay" in box.text()
    assert box.defaultButton().text().replace("&", "") == "Cancel"
    assert list((tmp_path / "activity").iterdir())
    button(box, "Delete all").click()
    room.waits_for("Feedback")
    assert list((tmp_path / "activity").iterdir()) == []


def test_an_empty_page_says_what_will_be_here(
    bridge: Bridge, theme: Theme, log: EventLog, qtbot: QtBot
) -> None:
    activity = Activity(log, list, dict)
    page = ActivityPage(bridge, activity, theme, is_recording=lambda: False)
    qtbot.addWidget(page)
    page.show()
    room = Room(page, log, qtbot)
    room.sees("0 events")
    room.sees("Nothing is recorded yet.")
    room.sees("Recording is off. Turn it on in Settings, under Privacy.")
    assert not button(page, "Export…").isEnabled()


def test_rows_are_loaded_as_one_scrolls(qtbot: QtBot) -> None:
    model = ActivityModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    events = [ActivityEvent(NOW - n, EventKind.NOTICE, f"n{n}") for n in range(1_000)]
    model.show_found(FoundEvents(events, {}))
    assert model.rowCount() == 200
    model.fetchMore(model.index(-1, -1))
    assert model.rowCount() == 400
    assert model.row_of(events[700]) == 700
    assert model.rowCount() == 701
    model.prepend(ActivityEvent(NOW + 1, EventKind.NOTICE, "new"))
    assert (model.rowCount(), model.row_at(0).subject) == (702, "new")
    assert model.row_of(ActivityEvent(NOW, EventKind.NOTICE, "gone")) is None
    while model.canFetchMore(model.index(-1, -1)):
        model.fetchMore(model.index(-1, -1))
    assert model.rowCount() == 1_001


def test_times() -> None:
    noon = time.mktime((2026, 11, 5, 12, 0, 0, 0, 0, -1))
    assert time_of_day(noon, noon + 60) == "12:00:00"
    assert time_of_day(noon, noon + DAY_S) == "5 Nov 12:00"
    assert time_of_day(noon, noon + 300 * DAY_S) == "5 Nov 2026 12:00"
