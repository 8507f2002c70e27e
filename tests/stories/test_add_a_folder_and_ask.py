"""A new user drops a folder onto the window and asks, without an endpoint."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stories.conftest import Person


@pytest.mark.everyday
def test_from_nothing_to_an_answer_with_sources(person: Person, papers: Path) -> None:
    person.sees("Ask your documents")
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.presses("Ctrl+1")
    person.asks("When is the lamp lit?")
    person.sees("The lamp is lit at dusk by the keeper.")
    person.sees("Excerpts from your documents")
    person.sees("Cited · 1")


def test_a_failed_file_shows_the_reason(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.clicks("Not read 1")
    person.waits_until(lambda: len(person.rows("Files")) == 1)
    [row] = person.rows("Files")
    assert "broken.pdf" in row
    assert any("damaged" in cell for cell in row), row


def test_the_conversation_is_there_after_a_restart(
    open_window: Callable[[], Person], papers: Path
) -> None:
    first = open_window()
    first.drops(papers)
    first.sees("2 searchable")
    first.presses("Ctrl+1")
    first.asks("When is the lamp lit?")
    first.sees("Excerpts from your documents")
    first.closes_the_window()
    second = open_window()
    second.waits_until(lambda: len(second.rows("Chats")) == 1)
    second.opens_row("Chats", 0)
    second.sees("The lamp is lit at dusk by the keeper.")
    second.sees("Cited · 1")


def test_a_question_before_anything_was_added_is_answered_plainly(person: Person) -> None:
    person.asks("When is the lamp lit?")
    person.sees("Add a folder to the library, then ask again.")
