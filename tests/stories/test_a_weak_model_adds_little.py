"""A model that makes things up: excerpts answer, and what no source backs is folded away."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.settings import Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

pytestmark = pytest.mark.slow


def test_sentences_without_a_source_are_folded(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    with ChatServer("The lamp was bought from Olaf Brandt in 1911.") as server:
        server.dialect.is_weak = True
        chat = person.app.services.chat
        chat.apply(replace(Settings(), endpoint=server.endpoint()))
        chat.models.examine(server.endpoint())
        # It is asked about no file by itself, so none needs a confirmation.
        assert chat.files_about("Summarise") == (2, "")
        person.presses("Ctrl+1")
        person.asks("When is the lamp lit?")
        person.sees("1 sentence of the model not backed by a source")
        person.sees("Excerpts from your documents · test-model")
        assert "Olaf Brandt" not in person.screen()
        person.clicks("1 sentence of the model not backed by a source")
        person.sees("The lamp was bought from Olaf Brandt in 1911.")
