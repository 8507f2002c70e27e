"""The activity page of the real window: a question, its calls, an error, and the way back."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.activity.activity import EventFilter
from desktop_rag.activity.activity_event import EventKind
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"
ERROR = AppError("The disk is full.", "Make room.")


@pytest.fixture
def endpoint_is_set(home: Home, server: ChatServer) -> None:
    home.create()
    save_settings(home.settings, replace(Settings(), endpoint=server.endpoint()))


def kinds(person: Person) -> list[str]:
    return [kind for _, kind, *_ in person.rows("Events")]


@pytest.mark.everyday
def test_a_question_is_found_among_the_events(
    endpoint_is_set: None, person: Person, papers: Path
) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    person.asks(QUESTION)
    person.sees("The lamp is lit at dusk")
    person.clicks("Good answer")
    person.clicks("New chat")
    person.opens_settings("Activity")
    person.waits_until(lambda: {"Question", "Endpoint call", "Index"} <= set(kinds(person)))
    person.opens_row("Events", kinds(person).index("Question"))
    person.sees(f"Question: {QUESTION}")
    person.clicks("Feedback")
    person.waits_until(lambda: kinds(person) == ["Feedback"])
    person.opens_row("Events", 0)
    person.sees(f"Liked an answer in “{QUESTION}”")
    person.clicks("Open chat")
    person.sees("The lamp is lit at dusk")
    person.opens_settings("Activity")
    person.clicks("Errors and notices")
    person.waits_until(lambda: kinds(person) == [])
    person.app.bridge.post(ERROR)
    person.waits_until(lambda: kinds(person) == ["Error"])


def test_without_a_model_nothing_was_sent(person: Person) -> None:
    person.opens_settings("Activity")
    person.clicks("Endpoint calls")
    person.sees("No request was sent to an endpoint.")


def test_recording_is_switched_off(person: Person) -> None:
    activity = person.app.services.activity
    person.opens_settings("App")
    person.clicks("Theme: Dark")
    person.opens_settings("Privacy")
    person.clicks("Record what the app does")
    person.waits_until(lambda: not person.app.services.recorder.is_on)
    person.app.bridge.post(ERROR)
    person.sees("The disk is full.")
    events = activity.find(EventFilter()).events
    assert [e.kind for e in events] == [EventKind.SETTINGS, EventKind.SETTINGS]
    assert [e.detail for e in events] == ["activity.is_recorded", "appearance.scheme"]
    person.opens_settings("Activity")
    person.sees("Recording is off.")
