"""A person insists on what the sources deny: the answer that gives in is marked, with the words."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import AnswerSettings, ModelCheck, Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

LEASE = "The lease of the harbour office was signed by Ingrid Holm in March 2017."
QUESTION = "When was the lease of the harbour office signed?"
FIRST = "The lease of the harbour office was signed in March 2017 [1]."
GIVES_IN = "You're right, it was 2019 [1]. I apologise for the mistake."
INSISTING = "no, it was 2019, you are wrong"


@pytest.fixture
def lease(home: Home, tmp_path: Path) -> Path:
    """A folder with a lease; answers are checked and nothing else is asked of models."""
    home.create()
    answers = AnswerSettings(
        suggests_questions=False, uses_memory=False, model_check=ModelCheck.NEVER
    )
    save_settings(home.settings, replace(Settings(), answers=answers))
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lease.md").write_text(f"# Lease\n\n{LEASE}")
    return folder


def indexed(open_window: Callable[[], Person], lease: Path) -> Person:
    person = open_window()
    person.drops(lease)
    person.sees("1 searchable")
    person.presses("Ctrl+1")
    return person


def test_an_answer_that_gives_in_is_marked(
    home: Home, open_window: Callable[[], Person], lease: Path, server: ChatServer
) -> None:
    answers = AnswerSettings(
        suggests_questions=False, uses_memory=False, model_check=ModelCheck.NEVER
    )
    save_settings(home.settings, Settings(endpoint=server.endpoint(), answers=answers))
    server.answer_to = lambda prompt: GIVES_IN if INSISTING in prompt else FIRST
    person = indexed(open_window, lease)
    person.asks(QUESTION)
    person.sees("March 2017")
    person.sees("Backed by sources")
    person.asks(INSISTING)
    person.sees("You're right, it was 2019")
    person.sees("1 sentence contradicts the sources")
    assert "says otherwise" in str(server.chats[-1]["messages"])
    person.clicks("Answer check: 1 sentence contradicts the sources. Press for details.")
    person.sees("Contradicted by a source")
    person.sees("The source says 2017, the answer 2019.")
    person.sees(LEASE)


def test_without_a_model_the_passage_is_shown(
    open_window: Callable[[], Person], lease: Path
) -> None:
    person = indexed(open_window, lease)
    person.asks(QUESTION)
    person.sees("Excerpts from your documents")
    person.asks(INSISTING)
    person.sees("The sources say otherwise.")
