"""A question about chosen files, folders and collections is answered from these alone."""

import threading
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Message, MessageState, QuestionStored
from desktop_rag.core.domain import Collection, Document
from desktop_rag.core.question_scope import WITHOUT_DOCUMENTS, QuestionScope, ScopeItem
from desktop_rag.core.settings import Settings
from tests.asking import answer_of, ask, events_of
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

_WAIT_S = 30
LAMP = "The lamp in the {} is lit at dusk and put out at {} in the morning.\n"


PAPERS = {
    **{
        f"{name}/{name}-lamp.md": LAMP.format(name, hour)
        for name, hour in (("tower", "six"), ("harbour", "seven"), ("harbour-old", "nine"))
    },
    "tower/bell.md": "The bell of the tower weighs eighty kilograms.\n",
}


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    return open_indexed(PAPERS)


@pytest.fixture
def folder(indexed: Services) -> Path:
    [source] = indexed.library.sources.all()
    return source.path


def _document(services: Services, name: str) -> Document:
    return next(d for d in services.library.documents.all() if d.path.name == name)


def _scope(services: Services, *names: str) -> QuestionScope:
    return QuestionScope.of(*(ScopeItem.of_document(_document(services, n)) for n in names))


def _add_mills(services: Services, folder: Path) -> Collection:
    folder.mkdir()
    (folder / "mill.md").write_text(LAMP.format("mill", "five"))
    mills = services.library.collections.add("Mills")
    services.library.sources.add(folder, mills.collection_id)
    assert services.library.indexing.wait_until_idle(_WAIT_S)
    return mills


def _read(answer: Message) -> set[str]:
    return {Path(source.path).name for source in answer.sources}


@pytest.mark.slow
def test_only_the_chosen_file_is_read(indexed: Services) -> None:
    scope = _scope(indexed, "harbour-lamp.md")
    answer = ask(indexed, "When is the lamp put out?", scope=scope)
    assert "seven" in answer.text
    assert _read(answer) == {"harbour-lamp.md"}
    assert answer.notes
    assert answer.notes.in_words().startswith("Searched only in harbour-lamp.md.")


@pytest.mark.slow
def test_a_folder_holds_what_lies_below_it_and_not_its_namesake(
    indexed: Services, folder: Path
) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder / "harbour"))
    answer = ask(indexed, "When is the lamp put out?", scope=scope)
    assert _read(answer) == {"harbour-lamp.md"}
    both = scope.with_item(ScopeItem.of_folder(folder / "tower"))
    answer = ask(indexed, "When is the lamp put out?", scope=both)
    assert {"harbour-lamp.md", "tower-lamp.md"} <= _read(answer)
    assert "harbour-old-lamp.md" not in _read(answer)


@pytest.mark.everyday
def test_a_collection_and_a_file_together(indexed: Services, tmp_path: Path) -> None:
    mills = _add_mills(indexed, tmp_path / "other")
    scope = _scope(indexed, "tower-lamp.md").with_item(ScopeItem.of_collection(mills))
    answer = ask(indexed, "When is the lamp put out?", scope=scope)
    assert _read(answer) == {"mill.md", "tower-lamp.md"}


@pytest.mark.slow
def test_what_is_in_it_asks_for_the_content_of_the_scope(indexed: Services) -> None:
    answer = ask(indexed, "What is in it?", scope=_scope(indexed, "bell.md"))
    assert "eighty kilograms" in answer.text
    assert _read(answer) == {"bell.md"}


@pytest.mark.slow
def test_a_name_in_the_question_narrows_the_scope(indexed: Services, folder: Path) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder / "tower"))
    answer = ask(indexed, "What is in bell.md?", scope=scope)
    assert _read(answer) == {"bell.md"}
    outside = ask(indexed, "What is in harbour-lamp.md?", scope=scope)
    assert "harbour-lamp.md" not in _read(outside)


@pytest.mark.slow
def test_a_deleted_file_says_so_and_one_written_again_is_found(
    indexed: Services, folder: Path
) -> None:
    scope = _scope(indexed, "bell.md")
    file = folder / "tower" / "bell.md"
    file.unlink()
    _rescan(indexed)
    answer = ask(indexed, "How heavy is the bell?", scope=scope)
    assert "bell.md: it is no longer in the library" in answer.text
    assert not answer.sources
    both = scope.with_item(_scope(indexed, "tower-lamp.md").items[0])
    answer = ask(indexed, "When is the lamp put out?", scope=both)
    assert answer.notes
    assert "Left out: bell.md: it is no longer in the library." in answer.notes.in_words()
    assert _read(answer) == {"tower-lamp.md"}
    file.write_text("The bell of the tower weighs ninety kilograms.\n")
    _rescan(indexed)
    assert "ninety" in ask(indexed, "How heavy is the bell?", scope=scope).text


def _rescan(services: Services) -> None:
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(_WAIT_S)


@pytest.mark.slow
def test_an_empty_folder_says_so(indexed: Services, tmp_path: Path) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(tmp_path / "elsewhere"))
    answer = ask(indexed, "When is the lamp put out?", scope=scope)
    assert "elsewhere: nothing in it can be searched yet" in answer.text


@pytest.mark.slow
def test_the_model_gets_the_whole_scope_and_nothing_else(indexed: Services, folder: Path) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder / "tower"))
    with ChatServer("Eighty [1].") as server:
        indexed.chat.apply(Settings(endpoint=server.endpoint()))
        ask(indexed, "Is there anything about ferries?", scope=scope)
        prompt = str(server.chats[-1])
    assert "eighty kilograms" in prompt
    assert "six" in prompt
    assert "seven" not in prompt
    assert "nine" not in prompt


@pytest.mark.slow
def test_an_assistant_reads_nothing_beyond_its_own_collections(
    indexed: Services, tmp_path: Path
) -> None:
    mills = _add_mills(indexed, tmp_path / "other")
    miller = indexed.chat.assistants.add(
        Assistant("", "Miller", collection_ids=(mills.collection_id,))
    )
    answer = ask(
        indexed, "When is the lamp put out?", scope=_scope(indexed, "tower-lamp.md"),
        assistant_id=miller.assistant_id,
    )  # fmt: skip
    assert "it is not among the documents of this assistant" in answer.text
    assert not answer.sources


@pytest.mark.slow
def test_the_scope_is_kept_with_the_question_and_used_again(indexed: Services) -> None:
    scope = _scope(indexed, "harbour-lamp.md")
    events = events_of(indexed, "When is the lamp put out?", scope=scope)
    assert isinstance(events[0], QuestionStored)
    chat_id = events[0].conversation.conversation_id
    question, _answer = indexed.chat.history.messages(chat_id)
    assert question.scope == scope
    again = list(indexed.chat.retry(chat_id, cancel=threading.Event()))
    assert _read(answer_of(again)) == {"harbour-lamp.md"}
    copy = indexed.chat.history.fork(chat_id, question.message_id)
    assert indexed.chat.history.messages(copy.conversation_id)[0].scope == scope


@pytest.mark.slow
def test_without_documents_nothing_is_searched(indexed: Services) -> None:
    with ChatServer("At noon, I suppose [1].") as server:
        indexed.chat.apply(Settings(endpoint=server.endpoint()))
        answer = ask(indexed, "When is the lamp put out?", scope=WITHOUT_DOCUMENTS)
        prompt = str(server.chats[-1])
    assert "dusk" not in prompt
    assert "none were searched" in prompt
    assert answer.is_own_knowledge
    assert answer.scope == WITHOUT_DOCUMENTS
    assert answer.text == "At noon, I suppose."
    assert (answer.sources, answer.nearest, answer.claims) == ((), (), ())


@pytest.mark.slow
def test_without_documents_and_without_a_model_it_says_how_to_get_one(indexed: Services) -> None:
    answer = ask(indexed, "When is the lamp put out?", scope=WITHOUT_DOCUMENTS)
    assert answer.state is MessageState.FAILED
    assert answer.error_title == "Without documents, only a model can answer."
    assert "settings" in answer.error_hint
