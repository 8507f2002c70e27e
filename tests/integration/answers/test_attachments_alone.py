"""What is attached is asked by itself: without documents, nothing of the library goes beside it."""

from pathlib import Path
from threading import Event

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import Attachment, MessageState
from desktop_rag.core.question_scope import WITHOUT_DOCUMENTS
from desktop_rag.core.settings import Settings
from tests.asking import ask
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

QUESTION = "How many pounds does the tenant pay?"


@pytest.fixture
def lease(services: Services, tmp_path: Path) -> Attachment:
    """An attached file, beside a library with a document that has the same words."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "old-lease.md").write_text("# Old lease\n\nThe tenant pays 700 pounds a month.")
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    path = tmp_path / "lease.txt"
    path.write_text("The tenant pays 840 pounds on the first of the month. Dogs are not allowed.")
    attached = services.library.documents.attach(path, cancel=Event())
    assert services.library.indexing.wait_until_idle(30)
    return attached


def test_the_model_gets_what_is_attached_and_nothing_else(
    services: Services, lease: Attachment
) -> None:
    with ChatServer("The tenant pays 840 pounds [1].") as server:
        services.chat.apply(Settings(endpoint=server.endpoint()))
        answer = ask(services, QUESTION, lease, scope=WITHOUT_DOCUMENTS)
        prompts = str(server.chats)
    assert "840 pounds" in prompts
    assert "700 pounds" not in prompts
    assert [source.document_id for source in answer.sources] == [lease.document_id]
    assert answer.sources[0].is_cited
    assert not answer.is_own_knowledge


def test_without_a_model_its_sentences_are_quoted(services: Services, lease: Attachment) -> None:
    answer = ask(services, QUESTION, lease, scope=WITHOUT_DOCUMENTS)
    assert answer.state is MessageState.DONE, answer.error_title
    assert "840 pounds" in answer.text
    assert {source.document_id for source in answer.sources} == {lease.document_id}


def test_without_a_model_and_an_answer_in_it_the_nearest_is_offered(
    services: Services, lease: Attachment
) -> None:
    answer = ask(services, "Who invented the telescope?", lease, scope=WITHOUT_DOCUMENTS)
    assert answer.state is MessageState.DONE, answer.error_title
    assert {source.document_id for source in answer.nearest} <= {lease.document_id}
