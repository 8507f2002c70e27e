"""Language, length and tone reach the model in the constant part of the prompt."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.settings import AnswerLength, PreferenceSettings, Settings
from tests.asking import ask
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow


WISHED = PreferenceSettings("German", AnswerLength.DETAILED, "like a pirate")


def test_they_are_told_to_the_model_and_not_to_excerpts(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text("The lamp is lit at dusk by the keeper.")
    (folder / "keeper.md").write_text("The keeper who lights the lamp is Ada.")
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    services.chat.apply(replace(Settings(), preferences=WISHED))
    assert "The lamp is lit at dusk" in ask(services, "When is the lamp lit?").text
    with ChatServer("Arr: bei Dämmerung [1].") as server:
        services.chat.apply(replace(Settings(), endpoint=server.endpoint(), preferences=WISHED))
        for question in ("When is the lamp lit?", "Who lights the lamp?"):
            ask(services, question)
        first, second = [body["messages"][0] for body in server.chats]
        assert first == second
        conversation_id = services.chat.history.all()[0].conversation_id
        list(services.chat.retry(conversation_id, every_file=True, cancel=threading.Event()))
        from_files = [body["messages"][0]["content"] for body in server.chats[2:]]
        assert len(from_files) == 3, "two files, and what puts them together"
        assert all("Answer in German" in told for told in from_files)
        assert ["like a pirate" in told for told in from_files] == [False, False, True]
        for said in ("Answer in German", "Answer in detail", "like a pirate", "Never guess"):
            assert said in first["content"]
