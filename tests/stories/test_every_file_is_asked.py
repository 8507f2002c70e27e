"""Every file is asked below a finished answer, which stays; the new one can be removed."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.settings import Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person


@pytest.mark.everyday
def test_it_stands_below_the_answer_and_can_be_removed(
    person: Person, papers: Path, server: ChatServer
) -> None:
    person.app.services.chat.apply(replace(Settings(), endpoint=server.endpoint()))
    server.answer_to = said_by_files
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.presses("Ctrl+1")
    person.asks("When is the lamp lit?")
    person.sees("The whole answer")
    person.chooses_entry("More for this answer", "Ask every file")
    person.sees("every file asked")
    person.sees("2 of 2 files asked")
    person.sees("by the keeper")
    assert "The whole answer" in person.screen()
    assert "- by the keeper" not in person.screen(), "lists are rendered"
    person.chooses_entry("More for this answer", "Remove this answer")
    person.sees("The answer was removed.")
    person.sees_no_longer("every file asked")
    person.clicks("Undo")
    person.sees("every file asked")
    person.sees("The whole answer")


def said_by_files(prompt: str) -> str:
    """What the model says of one file, of all, and at first."""
    if "one of many documents" in prompt:
        return "It is lit:\n\n- at dusk [1]\n- by the keeper [1]"
    return "Together [1]." if "<found-" in prompt else "The whole answer [1]."
