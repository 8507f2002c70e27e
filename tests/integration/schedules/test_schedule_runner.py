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
from desktop_rag.features.schedules.schedule_runner import ScheduleRunner
from desktop_rag.features.schedules.scheduled_questions import ScheduledQuestions
from desktop_rag.features.schedules.services import ScheduleServices
from desktop_rag.features.schedules.values.scheduled_question import (
    AnswerHasChanged,
    Rhythm,
    ScheduledQuestion,
    SchedulesChanged,
    SentenceChange,
)
from tests.conftest import FAST_TIMES
from tests.servers.chat_server import ChatServer

QUESTION = ScheduledQuestion("", "Lamps", "When is the lamp of the lighthouse lit?")
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


def questions_of(services: app.Services) -> ScheduledQuestions:
    return services.wing(ScheduleServices).questions


def runner_of(services: app.Services) -> ScheduleRunner:
    return services.wing(ScheduleServices).runner


def answers(services: app.Services) -> list[str]:
    [schedule] = questions_of(services).all()
    return [run.answer for run in questions_of(services).runs(schedule.question.question_id)]


@pytest.mark.slow
def test_a_question_is_asked_at_once_and_then_once_a_day(
    services: app.Services, days: Days
) -> None:
    questions_of(services).add(QUESTION)
    for hours in (0, 1, 22, 24, 25):
        days.now = datetime(2026, 11, 23, 9, 0) + timedelta(hours=hours)
        runner_of(services).check()
    assert answers(services) == ["The lamp is lit at dusk [1]."] * 2


@pytest.mark.slow
def test_a_run_above_the_sum_of_the_person_waits_for_them(
    services: app.Services, server: ChatServer
) -> None:
    priced = replace(server.endpoint(), price_in=5.0, price_out=5.0, ask_above=0.001)
    services.chat.apply(Settings(endpoint=priced))
    question = questions_of(services).add(QUESTION)
    runner_of(services).check()
    [schedule] = questions_of(services).all()
    assert "more than the 0.001 that you set" in schedule.state.error_title
    assert (answers(services), server.chats) == ([], [])
    runner_of(services).run_soon(question.question_id)
    runner_of(services).check()
    assert answers(services) == ["The lamp is lit at dusk [1]."]
    cheap = replace(priced, ask_above=1.0)
    services.chat.apply(Settings(endpoint=cheap))
    questions_of(services).add(replace(QUESTION, name="Again"))
    runner_of(services).check()
    assert {bool(s.last) for s in questions_of(services).all()} == {True}


@pytest.mark.slow
def test_what_was_missed_is_made_up_once_after_a_start(
    services: app.Services, days: Days, start: Callable[[], app.Services]
) -> None:
    questions_of(services).add(QUESTION)
    runner_of(services).check()
    days.now += timedelta(days=9)
    again = start()
    again.wing(ScheduleServices).runner.check()
    again.wing(ScheduleServices).runner.check()
    assert len(answers(again)) == 2


@pytest.mark.slow
def test_a_change_is_told_with_what_changed(
    services: app.Services, days: Days, server: ChatServer
) -> None:
    told: list[object] = []
    services.changes.hear(AnswerHasChanged, told.append)
    services.changes.hear(SchedulesChanged, told.append)
    questions_of(services).add(QUESTION)
    for text in (
        "The lamp is lit at dusk [1].",
        "At dusk, the lamp is lit [1].",
        "The lamp is lit at noon [1].",
    ):
        server.answer = text
        runner_of(services).check()
        days.now += timedelta(days=1)
    [change] = [event for event in told if isinstance(event, AnswerHasChanged)]
    [sentence] = change.run.compared
    assert (sentence.change, sentence.text) == (
        SentenceChange.CHANGED, "The lamp is lit at noon.",
    )  # fmt: skip
    assert [Path(source.path).name for source in change.run.sources] == ["lamp.md"]


@pytest.mark.slow
def test_a_failure_is_on_the_entry_and_tried_again(
    services: app.Services, days: Days, server: ChatServer
) -> None:
    server.mode, server.status = "status", 401
    questions_of(services).add(QUESTION)
    runner_of(services).check()
    runner_of(services).check()
    [failed] = questions_of(services).all()
    assert failed.state.failures == 1
    assert all((failed.state.error_title, failed.state.error_hint))
    assert failed.state.retry_at == (days.now + timedelta(minutes=5)).timestamp()
    server.mode = "answer"
    days.now += timedelta(minutes=6)
    runner_of(services).check()
    [done] = questions_of(services).all()
    assert not done.state.has_failed
    assert done.last is not None


@pytest.mark.slow
def test_a_changed_folder_is_asked_about_once_it_rests(
    services: app.Services, days: Days, folder: Path
) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder))
    questions_of(services).add(replace(QUESTION, rhythm=Rhythm.ON_CHANGE, scope=scope))

    def looks() -> int:
        runner_of(services).check()
        days.now += LATER
        runner_of(services).check()
        return len(answers(services))

    assert looks() == 1
    days.now += timedelta(days=30)
    assert looks() == 1
    (folder / "lamp.md").write_text("The lamp of the lighthouse is lit at noon by nobody.")
    [source] = services.library.sources.all()
    services.library.sources.rescan(source.source_id)
    assert services.library.indexing.wait_until_idle(30)
    runner_of(services).check()
    assert len(answers(services)) == 1
    assert looks() == 2


@pytest.mark.everyday
def test_an_answer_to_the_person_goes_first(services: app.Services, server: ChatServer) -> None:
    """It waits for the one under way, and gives up its own for one that begins."""
    server.mode = "stall"
    questions_of(services).add(QUESTION)
    runner = threading.Thread(target=runner_of(services).check)
    runner.start()
    # Before that, the server may not have read how it is to answer.
    assert server.has_sent.wait(30)
    server.mode = "answer"
    persons = services.chat.ask("When is the lamp lit?", cancel=threading.Event())
    events = list(persons)
    runner.join(30)
    assert events
    assert answers(services) == ["The lamp is lit at dusk [1]."]
    # The run that gave way, the person's question, and the run again.
    assert len(server.chats) == 3


@pytest.mark.slow
def test_closing_gives_a_run_up_and_it_is_due_again(
    services: app.Services, server: ChatServer, start: Callable[[], app.Services]
) -> None:
    server.mode = "stall"
    questions_of(services).add(QUESTION)
    runner_of(services).start()
    runner_of(services).wake()
    # Before that, the server may not have read how it is to answer.
    assert server.has_sent.wait(30)
    server.mode = "answer"
    again = start()
    assert answers(again) == []
    again.wing(ScheduleServices).runner.check()
    assert answers(again) == ["The lamp is lit at dusk [1]."]


@pytest.mark.slow
def test_a_known_answer_is_the_first_run(services: app.Services, days: Days) -> None:
    asked = questions_of(services).answers
    known = asked.answer(QUESTION.question, QUESTION.scope, "", threading.Event())
    questions_of(services).add(QUESTION, known)
    runner_of(services).check()
    assert len(answers(services)) == 1
    days.now += timedelta(days=1)
    runner_of(services).check()
    assert len(answers(services)) == 2


@pytest.mark.slow
def test_another_question_is_not_compared_with_the_one_before(
    services: app.Services, days: Days, server: ChatServer
) -> None:
    kept = questions_of(services).add(QUESTION)
    runner_of(services).check()
    questions_of(services).change(replace(kept, question="Who lights the lamp of the lighthouse?"))
    server.answer = "The keeper lights it [1]."
    days.now += timedelta(days=1)
    runner_of(services).check()
    [schedule] = questions_of(services).all()
    assert schedule.last is not None
    assert (bool(schedule.last.note), schedule.last.is_changed) == (True, False)


@pytest.mark.slow
def test_a_paused_question_is_asked_only_by_hand(services: app.Services, days: Days) -> None:
    kept = questions_of(services).add(replace(QUESTION, is_paused=True))
    runner_of(services).check()
    assert answers(services) == []
    runner_of(services).run_soon(kept.question_id)
    runner_of(services).check()
    assert len(answers(services)) == 1


@pytest.mark.slow
def test_a_cancelled_run_stores_nothing(services: app.Services) -> None:
    kept = questions_of(services).add(QUESTION)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        questions_of(services).run(kept, cancel)
    assert answers(services) == []


@pytest.mark.slow
def test_a_name_finds_its_question(services: app.Services) -> None:
    kept = questions_of(services).add(QUESTION)
    assert questions_of(services).find(" lamps ").question == kept
    with pytest.raises(AppError, match="Lamps"):
        questions_of(services).find("tides")
