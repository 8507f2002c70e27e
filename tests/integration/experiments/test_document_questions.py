"""Questions proposed from documents: kept only if the passage supports their answer."""

from pathlib import Path
from threading import Event

import pytest

from desktop_rag import app
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.experiments.document_questions import (
    PROPOSED,
    made_questions,
    proposals,
)
from tests.indexed import index_texts
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

LIT = "The lamp of the lighthouse is lit at dusk."
LAMP = "The lamp of the lighthouse is lit at dusk by the keeper. " * 5
FERRY = "The ferry to the island leaves at noon from the eastern pier. " * 5


def answer_to(prompt: str) -> str:
    """A right answer about the lamp, and a wrong one about the ferry."""
    if "lamp" in prompt.rpartition("<passage-")[2]:
        return f"Q: When is the lamp of the lighthouse lit?\nA: {LIT}"
    return "Q: When does the ferry leave?\nA: The ferry leaves at seven from the western castle."


def test_only_answerable_questions_are_proposed(services: app.Services, tmp_path: Path) -> None:
    index_texts(services, tmp_path / "docs", {"lamp.md": LAMP, "ferry.md": FERRY})
    with ChatServer() as server:
        server.answer_to = answer_to
        services.chat.apply(Settings(endpoint=server.endpoint()))
        found = list(proposals(services.library, services.chat, 4, Event()))
    assert {question.text for question in found} == {"When is the lamp of the lighthouse lit?"}
    assert {question.expected for question in found} == {(LIT,)}
    assert {question.tags for question in found} == {(PROPOSED,)}
    assert {Path(question.sources[0]).name for question in found} == {"lamp.md"}


def test_without_a_model_nothing_is_proposed(services: app.Services, tmp_path: Path) -> None:
    index_texts(services, tmp_path / "docs", {"lamp.md": LAMP})
    assert list(proposals(services.library, services.chat, 4, Event())) == []


def test_without_a_searchable_document_there_is_nothing_to_ask(services: app.Services) -> None:
    for uses_model in (False, True):
        with pytest.raises(AppError, match="no searchable document"):
            list(
                made_questions(
                    services.library, services.chat, 4, Event(), [], uses_model=uses_model
                )
            )
