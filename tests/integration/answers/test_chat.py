"""Questions through retrieval, prompt, the real client over real HTTP, citations and the store."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.answer.search.fusion import IRRELEVANT_BELOW
from desktop_rag.answer.search.retriever import RetrievalResult
from desktop_rag.answer.writing.answer_texts import refusals
from desktop_rag.app import Services
from desktop_rag.core.conversation import (
    AnswerDone,
    AnswerEvent,
    FileAsked,
    MessageState,
    QuestionStored,
    Role,
    SourcesFound,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import EVERYTHING
from desktop_rag.core.settings import Settings
from tests.asking import answer_of, events_of
from tests.indexed import OpenIndexed, add_texts, index_texts
from tests.servers.chat_server import THINKING, ChatServer
from tests.servers.model_dialects import Dialect
from tests.stored_rows import add, document

QUESTION = "When is the lamp lit?"
OTHER = "Which medicine helps against coughs?"


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    texts = {
        "lamp.md": "# Lamp\n\nThe lamp is lit at dusk. The lens is cleaned.",
        "ferry.md": "# Ferry\n\nThe ferry leaves at noon, never at dusk.",
    }
    return open_indexed(texts)


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer("The lamp is lit at dusk [1]. It is red [9].") as running:
        indexed.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        yield running


def ask(services: Services, question: str = QUESTION, **more: Any) -> list[AnswerEvent]:
    return events_of(services, question, **more)


@pytest.mark.everyday
def test_without_an_endpoint_the_answer_is_excerpts_cited_alike(indexed: Services) -> None:
    message = answer_of(ask(indexed))
    assert message.is_excerpts
    assert message.model == ""
    assert "The lamp is lit at dusk. [1]" in message.text
    cited = message.sources[0]
    assert cited.is_cited
    text = indexed.chat.document_text(cited.document_id)
    assert text[cited.start : cited.end] == cited.quote == "The lamp is lit at dusk."


@pytest.mark.slow
def test_nothing_found_is_said(services: Services) -> None:
    message = answer_of(ask(services))
    assert message.sources == ()
    assert "Add a folder" in message.text


@pytest.mark.slow
def test_nothing_found_while_files_wait_says_so(services: Services) -> None:
    add(services.engine, document("lamp.txt"), document("ferry.txt"))
    assert answer_of(ask(services)).text.endswith(
        "2 files have not been read yet; what is in them can be found as soon as they are."
    )


def far(
    search: Callable[..., RetrievalResult], *, also_in_one: bool
) -> Callable[..., RetrievalResult]:
    """A search that treats all results as irrelevant, those in one file only if `also_in_one`."""

    def find(*asked: str, **how: Any) -> RetrievalResult:
        found = search(*asked, **how)
        if how.get("reach", EVERYTHING).document_ids and not also_in_one:
            return found
        passages = [replace(p, relevance=IRRELEVANT_BELOW / 2) for p in found.passages]
        return replace(found, passages=passages, matching=())

    return find


@pytest.fixture
def far_together(indexed: Services, monkeypatch: pytest.MonkeyPatch) -> Services:
    """Among all passages nothing seems relevant."""
    search = far(indexed.retriever.search, also_in_one=False)
    monkeypatch.setattr(indexed.retriever, "search", search)
    return indexed


@pytest.fixture
def far_off(indexed: Services, monkeypatch: pytest.MonkeyPatch) -> Services:
    """Nor among those of one file."""
    search = far(indexed.retriever.search, also_in_one=True)
    monkeypatch.setattr(indexed.retriever, "search", search)
    return indexed


@pytest.mark.slow
def test_a_model_is_asked_even_where_nothing_seems_to_be_about_it(
    far_off: Services, server: ChatServer
) -> None:
    server.answer_to = lambda prompt: "At dusk [1]." if "lit at dusk" in prompt else "Nothing."
    events = ask(far_off)
    assert not any(isinstance(event, FileAsked) for event in events)
    message = answer_of(events)
    assert message.text == "At dusk [1]."
    assert (message.sources != (), message.nearest) == (True, ())


@pytest.mark.slow
def test_a_second_look_finds_what_search_took_for_something_else(far_off: Services) -> None:
    assert answer_of(ask(far_off)).text == "*lamp.md*: The lamp is lit at dusk. [1]"


@pytest.mark.slow
def test_without_a_model_nothing_about_the_question_is_said_and_the_nearest_kept_apart(
    far_off: Services,
) -> None:
    events = ask(far_off, OTHER)
    message = answer_of(events)
    assert {e.sources for e in events if isinstance(e, SourcesFound)} == {()}
    assert message.text.startswith(refusals().said("nothing_relevant"))
    assert (message.sources, message.model, message.is_excerpts) == ((), "", False)
    assert [s.n for s in message.nearest] == [1, 2]
    assert far_off.chat.history.messages(message.conversation_id)[1] == message


@pytest.mark.slow
def test_one_collection_alone_is_named_as_such(far_off: Services) -> None:
    [collection] = far_off.library.collections.all()
    message = answer_of(ask(far_off, OTHER, collection_id=collection.collection_id))
    assert message.text.startswith(refusals().said("nothing_relevant_here"))


@pytest.mark.slow
def test_a_date_that_is_none_is_an_answer_with_a_hint(indexed: Services) -> None:
    message = answer_of(ask(indexed, "When is the lamp lit? after:31.12."))
    assert message.state is MessageState.FAILED
    assert "after:2024" in message.error_hint


@pytest.mark.slow
def test_the_syntax_is_no_word_of_the_question(indexed: Services) -> None:
    message = answer_of(ask(indexed, "When is the lamp lit? file:lamp.md type:md -noon"))
    assert "The lamp is lit at dusk. [1]" in message.text


@pytest.mark.slow
def test_a_misspelt_word_is_repaired_for_the_excerpts_too(indexed: Services) -> None:
    message = answer_of(ask(indexed, "When does the ferrry leave?"))
    assert message.notes is not None
    assert message.notes.in_words() == "Searched for “ferry” instead of “ferrry”."
    assert "The ferry leaves at noon" in message.text


@pytest.mark.slow
@pytest.mark.parametrize("question", ["Who wrote of the lens?", "Is the lens of temps made?"])
def test_a_form_of_a_word_or_a_word_of_another_language_is_no_typo(
    services: Services, tmp_path: Path, question: str
) -> None:
    texts = {"lens.md": "The keepers write of the lens at a slow tempo. It is made of glass."}
    index_texts(services, tmp_path / "papers", texts)
    message = answer_of(ask(services, question))
    assert message.sources
    assert not (message.notes and message.notes.in_words())


@pytest.mark.slow
def test_copies_are_one_source_that_says_where_they_are(indexed: Services, tmp_path: Path) -> None:
    [papers] = indexed.library.sources.all()
    first, copy = Path(papers.path) / "lamp.md", tmp_path / "copies" / "old lamp.md"
    add_texts(indexed, copy.parent, {copy.name: first.read_text()})
    lamp, ferry = answer_of(ask(indexed)).sources
    assert {lamp.path, *lamp.also_in} == {str(first), str(copy)}
    assert ferry.also_in == ()
    assert len(indexed.chat.search(QUESTION)) == 3


@pytest.mark.slow
def test_an_empty_question_is_refused(services: Services) -> None:
    with pytest.raises(AppError):
        ask(services, "  ")
    assert services.chat.history.all() == []


@pytest.mark.slow
def test_a_retry_searches_what_was_asked_answer_of(indexed: Services, tmp_path: Path) -> None:
    other = indexed.library.collections.add("Other")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "lamp.md").write_text("# Lamp\n\nAnother lamp is lit at noon.")
    indexed.library.sources.add(tmp_path / "other", other.collection_id)
    assert indexed.library.indexing.wait_until_idle(30)
    first = answer_of(ask(indexed))
    second = answer_of(ask(indexed, conversation_id=first.conversation_id,
                      collection_id=other.collection_id))  # fmt: skip
    again = answer_of(list(indexed.chat.retry(first.conversation_id, cancel=threading.Event())))
    assert len(first.sources) == 3
    assert [s.path for s in second.sources] == [s.path for s in again.sources]
    assert len(again.sources) == 1


@pytest.mark.slow
def test_the_events_of_an_answer_come_in_order(indexed: Services, server: ChatServer) -> None:
    server.mode = "think_fields"
    kinds = list(dict.fromkeys(type(event) for event in ask(indexed)))
    assert kinds == [QuestionStored, SourcesFound, ThinkingDelta, TextDelta, AnswerDone]


@pytest.mark.slow
def test_the_answer_is_stored_with_valid_citations_only(
    indexed: Services, server: ChatServer
) -> None:
    events = ask(indexed)
    message = answer_of(events)
    assert message.text == "The lamp is lit at dusk [1]. It is red."
    assert message.model == server.endpoint().model
    assert message.sources[0].quote == "The lamp is lit at dusk."
    assert not message.sources[1].is_cited
    stored = indexed.chat.history.messages(message.conversation_id)
    assert [m.role for m in stored] == [Role.USER, Role.ASSISTANT]
    assert stored[1] == message


@pytest.mark.slow
def test_sources_and_history_reach_the_model_and_thinking_does_not(
    indexed: Services, server: ChatServer
) -> None:
    server.mode = "think_fields"
    first = answer_of(ask(indexed))
    ask(indexed, "And the ferry?", conversation_id=first.conversation_id)
    turns = server.chats[-1]["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user"]
    assert "The ferry leaves at noon" in turns[-1]["content"]
    assert turns[-1]["content"].rstrip().endswith("And the ferry?")
    assert THINKING not in json.dumps(server.chats[1])


@pytest.mark.slow
def test_text_outside_the_chosen_collection_never_leaves(
    indexed: Services, server: ChatServer, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk: canary-4711.")
    other = indexed.library.collections.add("Secret")
    indexed.library.sources.add(secret, other.collection_id)
    assert indexed.library.indexing.wait_until_idle(30)
    first = indexed.library.collections.all()[0]
    ask(indexed, collection_id=first.collection_id)
    assert "canary" not in json.dumps(server.chats)
    ask(indexed)
    assert "canary" in json.dumps(server.chats)


@pytest.mark.slow
def test_a_failed_answer_keeps_the_question_and_retry_replaces_it(
    indexed: Services, server: ChatServer
) -> None:
    server.mode = "html"
    failed = answer_of(ask(indexed))
    assert failed.state is MessageState.FAILED
    assert failed.error_title
    assert failed.error_hint
    server.mode = "answer"
    retried = list(indexed.chat.retry(failed.conversation_id, cancel=threading.Event()))
    assert answer_of(retried).state is MessageState.DONE
    stored = indexed.chat.history.messages(failed.conversation_id)
    assert [(m.role, m.state) for m in stored] == [
        (Role.USER, MessageState.DONE),
        (Role.ASSISTANT, MessageState.DONE),
    ]
    assert stored[0].text == QUESTION


@pytest.mark.slow
def test_a_cut_answer_keeps_what_had_arrived(indexed: Services, server: ChatServer) -> None:
    server.mode = "cut"
    message = answer_of(ask(indexed))
    assert message.state is MessageState.FAILED
    assert message.text
    assert indexed.chat.history.messages(message.conversation_id)[1] == message


@pytest.mark.slow
def test_a_stopped_answer_is_stored_as_far_as_it_came(
    indexed: Services, server: ChatServer
) -> None:
    server.mode = "endless"
    cancel = threading.Event()
    events: list[AnswerEvent] = []
    for event in indexed.chat.ask(QUESTION, cancel=cancel):
        events.append(event)
        if isinstance(event, TextDelta):
            cancel.set()
    message = answer_of(events)
    assert message.state is MessageState.STOPPED
    assert message.text
    assert indexed.chat.history.messages(message.conversation_id)[1] == message


@pytest.mark.slow
def test_an_answer_put_back_while_another_comes_is_the_one_that_is_replaced(
    indexed: Services,
) -> None:
    history = indexed.chat.history
    first = answer_of(ask(indexed))
    again = indexed.chat.retry(first.conversation_id, cancel=threading.Event())
    second = answer_of(list(again))
    events = indexed.chat.retry(first.conversation_id, cancel=threading.Event())
    seen = [next(events)]
    history.put_back(first, in_place_of=second.message_id)
    third = answer_of([*seen, *events])
    kept = history.messages(first.conversation_id)
    assert [m.message_id for m in kept][1:] == [third.message_id]


@pytest.mark.slow
def test_an_answer_given_again_replaces_the_one_to_its_question_not_the_last(
    indexed: Services,
) -> None:
    first = answer_of(ask(indexed))
    events = indexed.chat.retry(first.conversation_id, cancel=threading.Event())
    seen = [next(events)]
    chat = first.conversation_id
    ferry = answer_of(ask(indexed, "When does the ferry leave?", conversation_id=chat))
    again = answer_of([*seen, *events])
    _, *kept = indexed.chat.history.messages(first.conversation_id)
    assert [m.message_id for m in (kept[0], kept[-1])] == [again.message_id, ferry.message_id]
    assert len(kept) == 3


@pytest.mark.slow
def test_retry_without_a_question_is_refused(indexed: Services) -> None:
    conversation = indexed.chat._conversations.add("empty", "")  # noqa: SLF001
    with pytest.raises(AppError):
        list(indexed.chat.retry(conversation.conversation_id, cancel=threading.Event()))


@pytest.mark.slow
def test_conversations_are_renamed_deleted_and_restored(indexed: Services) -> None:
    conversation_id = answer_of(ask(indexed)).conversation_id
    indexed.chat.history.rename(conversation_id, "  Light  ")
    assert [c.title for c in indexed.chat.history.all()] == ["Light"]
    indexed.chat.history.delete(conversation_id)
    assert indexed.chat.history.all() == []
    indexed.chat.history.restore(conversation_id)
    assert len(indexed.chat.history.all()) == 1


@pytest.mark.slow
def test_a_key_never_reaches_a_file(indexed: Services, server: ChatServer) -> None:
    endpoint = server.endpoint()
    assert indexed.chat.models.save_key(endpoint.base_url, "sk-canary-12345") is False
    assert indexed.chat.models.has_key(endpoint.base_url)
    ask(indexed)
    assert server.requests[-1].headers["authorization"] == "Bearer sk-canary-12345"
    indexed.close()
    files = [path for path in indexed.home.root.rglob("*") if path.is_file()]
    assert files
    assert not any(b"canary-12345" in path.read_bytes() for path in files)


@pytest.mark.slow
def test_a_rewritten_answer_is_found_and_cited_by_later_questions(indexed: Services) -> None:
    given = answer_of(ask(indexed))
    [conversation] = indexed.chat.history.all()
    path = indexed.chat.history.rewrite(given, "The lamp is lit at seven, says the Ottoline log.")
    assert path.is_relative_to(indexed.home.rewrites)
    assert indexed.chat.history.messages(conversation.conversation_id)[1].is_rewritten
    assert indexed.library.indexing.wait_until_idle(30)
    again = answer_of(ask(indexed, "What does the Ottoline log say of the lamp?"))
    own = [s for s in again.sources if s.path == str(path)]
    assert [s.title for s in own if s.is_cited] == [f"Your answer: {QUESTION}"]
    assert "lit at seven" in again.text


@pytest.mark.slow
def test_a_model_that_reads_less_than_thought_gets_less_and_answers(
    indexed: Services, server: ChatServer, tmp_path: Path
) -> None:
    far = " It shines far out." * 90
    lamps = {
        f"lamp{n}.md": f"# Lamp {n}\n\nThe lamp is lit at dusk number {n}.{far}" for n in range(8)
    }
    add_texts(indexed, tmp_path / "more", lamps)
    server.dialect = Dialect(context_tokens=900, counts_usage=False)
    message = answer_of(ask(indexed))
    assert message.state is MessageState.DONE
    assert server.dialect.tokens(server.chats[0]) > 900 >= server.dialect.tokens(server.chats[-1])
    assert len(message.sources) < 8
    profile = indexed.chat.models.profile(server.endpoint())
    assert profile.learned_limit
    assert (profile.learned_limit.tokens, profile.context_tokens) == (900, 0)
    assert message.notes
    assert f"refused a longer prompt: {len(message.sources)} of" in message.notes.in_words()
