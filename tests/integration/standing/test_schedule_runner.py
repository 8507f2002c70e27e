"""Scheduled questions over days: due, made up, interrupted, failed, paused."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from desktop_rag import app
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.core.settings import Settings
from desktop_rag.features.schedules.values.standing_question import Rhythm, StandingQuestion
from desktop_rag.features.schedules.values.standing_run import (
    AnswerHasChanged,
    SentenceChange,
    StandingEvent,
)
from tests.conftest import FAST_TIMES
from tests.servers.chat_server import ChatServer

QUESTION = StandingQuestion("", "Lamps", "When is the lamp of the lighthouse lit?")
LATER = timedelta(minutes=2)


class Days:
    """A local time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 23, 9, 0)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("The lamp is lit at dusk [1].") as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sea"
    folder.mkdir()
    (folder / "lamp.md").write_text("The lamp of the lighthouse is lit at dusk by the keeper.")
    return folder


@pytest.fixture
def start(home: Home, days: Days, server: ChatServer) -> Iterator[Callable[[], app.Services]]:
    """Starts the app's services any number of times, and closes each before the next."""
    running: list[app.Services] = []

    def begin() -> app.Services:
        if running:
            running.pop().close()
        services = app.build_services(home, times=FAST_TIMES, now=days)
        running.append(services)
        services.chat.apply(Settings(endpoint=server.endpoint()))
        services.library.start(watch=False)
        assert services.library.indexing.wait_until_idle(30)
        return services

    yield begin
    if running:
        running.pop().close()


@pytest.fixture
def services(start: Callable[[], app.Services], folder: Path) -> app.Services:
    started = start()
    started.library.sources.add(folder)
    assert started.library.indexing.wait_until_idle(30)
    return started


def answers(services: app.Services) -> list[str]:
    [standing] = services.standing.all()
    return [run.answer for run in services.standing.runs(standing.question.question_id)]


def test_a_question_is_asked_at_once_and_then_once_a_day(
    services: app.Services, days: Days
) -> None:
    services.standing.add(QUESTION)
    for hours in (0, 1, 22, 24, 25):
        days.now = datetime(2026, 11, 23, 9, 0) + timedelta(hours=hours)
        services.schedule.check()
    assert answers(services) == ["The lamp is lit at dusk [1]."] * 2


def test_a_run_above_the_sum_of_the_person_waits_for_them(
    services: app.Services, server: ChatServer
) -> None:
    priced = replace(server.endpoint(), price_in=5.0, price_out=5.0, ask_above=0.001)
    services.chat.apply(Settings(endpoint=priced))
    question = services.standing.add(QUESTION)
    services.schedule.check()
    [standing] = services.standing.all()
    assert "more than the 0.001 that you set" in standing.state.error_title
    assert (answers(services), server.chats) == ([], [])
    services.schedule.run_soon(question.question_id)
    services.schedule.check()
    assert answers(services) == ["The lamp is lit at dusk [1]."]
    cheap = replace(priced, ask_above=1.0)
    services.chat.apply(Settings(endpoint=cheap))
    services.standing.add(replace(QUESTION, name="Again"))
    services.schedule.check()
    assert {bool(s.last) for s in services.standing.all()} == {True}


def test_what_was_missed_is_made_up_once_after_a_start(
    services: app.Services, days: Days, start: Callable[[], app.Services]
) -> None:
    services.standing.add(QUESTION)
    services.schedule.check()
    days.now += timedelta(days=9)
    again = start()
    again.schedule.check()
    again.schedule.check()
    assert len(answers(again)) == 2


def test_a_change_is_told_with_what_changed(
    services: app.Services, days: Days, server: ChatServer
) -> None:
    told: list[object] = []
    services.changes.hear(StandingEvent, told.append)
    services.standing.add(QUESTION)
    for text in (
        "The lamp is lit at dusk [1].",
        "At dusk, the lamp is lit [1].",
        "The lamp is lit at noon [1].",
    ):
        server.answer = text
        services.schedule.check()
        days.now += timedelta(days=1)
    [change] = [event for event in told if isinstance(event, AnswerHasChanged)]
    [sentence] = change.run.compared
    assert (sentence.change, sentence.text) == (
        SentenceChange.CHANGED, "The lamp is lit at noon.",
    )  # fmt: skip
    assert [Path(source.path).name for source in change.run.sources] == ["lamp.md"]


def test_a_failure_is_on_the_entry_and_tried_again(
    services: app.Services, days: Days, server: ChatServer
) -> None:
    server.mode, server.status = "status", 401
    services.standing.add(QUESTION)
    services.schedule.check()
    services.schedule.check()
    [failed] = services.standing.all()
    assert failed.state.failures == 1
    assert all((failed.state.error_title, failed.state.error_hint))
    assert failed.state.retry_at == (days.now + timedelta(minutes=5)).timestamp()
    server.mode = "answer"
    days.now += timedelta(minutes=6)
    services.schedule.check()
    [done] = services.standing.all()
    assert not done.state.has_failed
    assert done.last is not None


def test_a_changed_folder_is_asked_about_once_it_rests(
    services: app.Services, days: Days, folder: Path
) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder))
    services.standing.add(replace(QUESTION, rhythm=Rhythm.ON_CHANGE, scope=scope))

    def looks() -> int:
        services.schedule.check()
        days.now += LATER
        services.schedule.check()
        return len(answers(services))

    assert looks() == 1
    days.now += timedelta(days=30)
    assert looks() == 1
    (folder / "lamp.md").write_text("The lamp of the lighthouse is lit at noon by nobody.")
    [source] = services.library.sources.all()
    services.library.sources.rescan(source.source_id)
    assert services.library.indexing.wait_until_idle(30)
    services.schedule.check()
    assert len(answers(services)) == 1
    assert looks() == 2


def test_an_answer_to_the_person_goes_first(services: app.Services, server: ChatServer) -> None:
    """It waits for the one under way, and gives up its own for one that begins."""
    server.mode = "stall"
    services.standing.add(QUESTION)
    runner = threading.Thread(target=services.schedule.check)
    runner.start()
    while not server.chats:
        threading.Event().wait(0.01)
    server.mode = "answer"
    persons = services.chat.ask("When is the lamp lit?", cancel=threading.Event())
    events = list(persons)
    runner.join(30)
    assert events
    assert answers(services) == ["The lamp is lit at dusk [1]."]
    # The run that gave way, the person's question, and the run again.
    assert len(server.chats) == 3


def test_closing_gives_a_run_up_and_it_is_due_again(
    services: app.Services, server: ChatServer, start: Callable[[], app.Services]
) -> None:
    server.mode = "stall"
    services.standing.add(QUESTION)
    services.schedule.start()
    services.schedule.wake()
    while not server.chats:
        threading.Event().wait(0.01)
    server.mode = "answer"
    again = start()
    assert answers(again) == []
    again.schedule.check()
    assert answers(again) == ["The lamp is lit at dusk [1]."]


def test_a_known_answer_is_the_first_run(services: app.Services, days: Days) -> None:
    asked = services.chat.background
    known = asked.answer(QUESTION.question, QUESTION.scope, "", threading.Event())
    services.standing.add(QUESTION, known)
    services.schedule.check()
    assert len(answers(services)) == 1
    days.now += timedelta(days=1)
    services.schedule.check()
    assert len(answers(services)) == 2


def test_another_question_is_not_compared_with_the_one_before(
    services: app.Services, days: Days, server: ChatServer
) -> None:
    kept = services.standing.add(QUESTION)
    services.schedule.check()
    services.standing.change(replace(kept, question="Who lights the lamp of the lighthouse?"))
    server.answer = "The keeper lights it [1]."
    days.now += timedelta(days=1)
    services.schedule.check()
    [standing] = services.standing.all()
    assert standing.last is not None
    assert (bool(standing.last.note), standing.last.is_changed) == (True, False)


def test_a_paused_question_is_asked_only_by_hand(services: app.Services, days: Days) -> None:
    kept = services.standing.add(replace(QUESTION, is_paused=True))
    services.schedule.check()
    assert answers(services) == []
    services.schedule.run_soon(kept.question_id)
    services.schedule.check()
    assert len(answers(services)) == 1


def test_a_cancelled_run_stores_nothing(services: app.Services) -> None:
    kept = services.standing.add(QUESTION)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        services.standing.run(kept, cancel)
    assert answers(services) == []


def test_a_name_finds_its_question(services: app.Services) -> None:
    kept = services.standing.add(QUESTION)
    assert services.standing.find(" lamps ").question == kept
    with pytest.raises(AppError, match="Lamps"):
        services.standing.find("tides")
