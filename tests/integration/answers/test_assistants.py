"""Assistants: model, scope and style, down to the request sent to the endpoint."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.answer.prompting.prompt import INSTRUCTIONS
from desktop_rag.answer.tools.model_answer import TOOL_RULES
from desktop_rag.app import Services
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Message, MessageState
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import (
    AnswerSettings,
    HelperSettings,
    LaterSources,
    ModelCheck,
    RetrievalSettings,
    Settings,
)
from tests.asking import answer_of, ask
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

QUESTION = "When is the lamp of the lighthouse lit?"
WISHES = "Answer like a pirate."
ELSEWHERE = "Which parliament adopted the fishing quota of 1974?"
PAPERS = {
    "Sea": {"lamp.md": "The lamp of the lighthouse is lit at dusk by the keeper."},
    "Land": {"street.txt": "The lamp of the street near the lighthouse is lit at six."},
    "Air": {"mast.md": "The lamp of the mast above the lighthouse is lit at noon."},
}


@pytest.fixture
def indexed(services: Services, tmp_path: Path) -> Services:
    for name, papers in PAPERS.items():
        folder = tmp_path / name
        folder.mkdir()
        for title, text in papers.items():
            (folder / title).write_text(text)
        collection = services.library.collections.add(name)
        services.library.sources.add(folder, collection.collection_id)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    return services


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer("The lamp is lit at dusk [1].") as running:
        indexed.chat.apply(Settings(endpoint=running.endpoint()))
        yield running


@pytest.fixture
def other() -> Iterator[ChatServer]:
    with ChatServer("At dusk, says the other [1].") as running:
        yield running


def leave_files_alone(services: Services, server: ChatServer) -> None:
    """Few files are not read one by one when nothing is about the question."""
    answers = AnswerSettings(asks_few_files=False)
    services.chat.apply(Settings(endpoint=server.endpoint(), answers=answers))


def made(services: Services, **fields: object) -> Assistant:
    assistant = replace(Assistant("", "Keeper"), **fields)  # pyright: ignore[reportArgumentType]
    return services.chat.assistants.add(assistant)


def collection(services: Services, name: str) -> str:
    return services.library.collections.find(name).collection_id


def names(message: Message) -> set[str]:
    return {Path(source.path).name for source in message.sources}


def retried(services: Services, message: Message) -> Message:
    events = services.chat.retry(message.conversation_id, cancel=threading.Event())
    return answer_of(list(events))


def told(server: ChatServer) -> str:
    """The instructions of the last request."""
    return server.chats[-1]["messages"][0]["content"]


# --- model and style -------------------------------------------------------------------------


def test_its_instructions_come_after_the_rules(indexed: Services, server: ChatServer) -> None:
    assistant = made(indexed, instructions=WISHES)
    ask(indexed, QUESTION, assistant_id=assistant.assistant_id)
    assert told(server).startswith(INSTRUCTIONS)
    assert WISHES in told(server).removeprefix(INSTRUCTIONS)
    ask(indexed, QUESTION)
    assert told(server) == f"{INSTRUCTIONS}\n{TOOL_RULES}"


def test_a_conversation_keeps_its_assistant(indexed: Services, server: ChatServer) -> None:
    assistant = made(indexed, instructions=WISHES)
    first = retried(indexed, ask(indexed, QUESTION, assistant_id=assistant.assistant_id))
    assert WISHES in told(server)
    [kept] = indexed.chat.history.all()
    assert kept.assistant_id == assistant.assistant_id
    copy = indexed.chat.history.fork(kept.conversation_id, first.message_id)
    assert copy.assistant_id == assistant.assistant_id
    ask(indexed, QUESTION, conversation_id=kept.conversation_id)
    assert WISHES not in told(server)
    last = indexed.chat.history.all()[0]
    assert (last.conversation_id, last.assistant_id) == (kept.conversation_id, "")


def test_its_own_model_answers_and_does_the_small_jobs(
    indexed: Services, server: ChatServer, other: ChatServer
) -> None:
    answers = AnswerSettings(model_check=ModelCheck.NEVER)
    settings = Settings(
        endpoint=server.endpoint(), other_endpoints=(other.endpoint(),), answers=answers
    )
    indexed.chat.apply(settings)
    assistant = made(indexed, base_url=other.base_url, model="tiny")
    where: dict[str, Any] = {"assistant_id": assistant.assistant_id}
    message = ask(indexed, QUESTION, **where)
    assert (message.text, message.model) == ("At dusk, says the other [1].", "tiny")
    list(indexed.chat.go_on(message, cancel=threading.Event()))
    later = ask(indexed, "Who lights it?", conversation_id=message.conversation_id, **where)
    assert later.model == "tiny"
    assert not server.chats, "documents of a local assistant never go to another endpoint"
    assert {body["model"] for body in other.chats} == {"tiny"}
    assert len(other.chats) == 4  # the answer, suggested questions, the question again, its answer

    helping = replace(settings, helper=HelperSettings(server.base_url, "small"))
    indexed.chat.apply(helping)
    ask(indexed, "Who cleans it?", conversation_id=message.conversation_id, **where)
    assert [body["model"] for body in server.chats] == ["small"]


def test_its_settings_for_finding_passages_hold(indexed: Services, server: ChatServer) -> None:
    own = RetrievalSettings(later_sources=LaterSources.SAME)
    assistant = made(indexed, retrieval=own)
    first = ask(indexed, f"{QUESTION} file:lamp.md", assistant_id=assistant.assistant_id)
    where: dict[str, Any] = {"conversation_id": first.conversation_id}
    later = ask(indexed, QUESTION, assistant_id=assistant.assistant_id, **where)
    assert names(later) == {"lamp.md"}
    assert len(names(ask(indexed, QUESTION, **where))) > 1


# --- scope -----------------------------------------------------------------------------------


def test_it_asks_its_collections_only(indexed: Services, server: ChatServer) -> None:
    sea, land, air = (collection(indexed, name) for name in PAPERS)
    assistant = made(indexed, collection_ids=(sea, land))
    where: dict[str, Any] = {"assistant_id": assistant.assistant_id}
    assert names(ask(indexed, QUESTION, **where)) == {"lamp.md", "street.txt"}
    assert names(ask(indexed, QUESTION, collection_id=land, **where)) == {"street.txt"}
    outside = ask(indexed, QUESTION, collection_id=air, **where)
    assert names(outside) == {"lamp.md", "street.txt"}
    assert outside.notes is not None
    assert outside.notes.hints == ("“Keeper” asks collections of its own, not the one chosen.",)


def test_its_filters_hold_beside_those_of_the_question(
    indexed: Services, server: ChatServer
) -> None:
    assistant = made(indexed, filters="type:md -mast")
    where: dict[str, Any] = {"assistant_id": assistant.assistant_id}
    message = ask(indexed, QUESTION, **where)
    assert names(message) == {"lamp.md"}
    assert message.notes is not None
    assert message.notes.filters == "Only MD files, passages without “mast”"
    nothing = ask(indexed, f"{QUESTION} type:txt", **where)
    assert nothing.sources == ()
    assert nothing.notes is not None
    assert nothing.notes.in_words() == (
        "Only MD files, passages without “mast”, and of these only TXT files:"
        " nothing was found there."
    )


def test_every_file_is_asked_within_its_reach(indexed: Services, server: ChatServer) -> None:
    server.answer_to = lambda prompt: "Lit at dusk [1]." if "<source" in prompt else "All [1]."
    sea, land, _ = (collection(indexed, name) for name in PAPERS)
    assistant = made(indexed, collection_ids=(sea, land), instructions=WISHES)
    message = ask(indexed, QUESTION, assistant_id=assistant.assistant_id)
    assert indexed.chat.files_to_ask(message.conversation_id) == (2, "test-model")
    events = indexed.chat.retry(message.conversation_id, every_file=True, cancel=threading.Event())
    whole = answer_of(list(events))
    assert names(whole) == {"lamp.md", "street.txt"}
    assert WISHES in told(server), "what puts the files together follows the person's wishes"
    assert all(WISHES not in c["messages"][0]["content"] for c in server.chats[1:-1])


def test_summaries_are_of_what_it_may_find(indexed: Services, server: ChatServer) -> None:
    server.answer_to = lambda prompt: "Lit at dusk [1]." if "<source" in prompt else "All [1]."
    sea, land, _ = (collection(indexed, name) for name in PAPERS)
    assistant = made(indexed, collection_ids=(sea, land), instructions=WISHES, is_open=True)
    summary = ask(indexed, "Summarise", assistant_id=assistant.assistant_id)
    assert names(summary) == {"lamp.md", "street.txt"}
    assert WISHES in told(server)
    nothing = ask(indexed, "Summarise type:pdf", assistant_id=assistant.assistant_id)
    assert not nothing.is_own_knowledge, "what is not there can't be summarised from memory"


# --- strict and open ---------------------------------------------------------------------------


def test_a_strict_one_leaves_it_to_the_model_to_say_that_nothing_is_about_it(
    indexed: Services, server: ChatServer
) -> None:
    leave_files_alone(indexed, server)
    server.answer = "The sources do not say that."
    assistant = made(indexed)
    message = ask(indexed, ELSEWHERE, assistant_id=assistant.assistant_id)
    assert len(server.chats) == 1
    assert (message.text, message.is_own_knowledge) == (server.answer, False)
    assert message.sources


def test_an_open_one_answers_from_what_the_model_knows_and_says_so(
    indexed: Services, server: ChatServer
) -> None:
    server.answer = "The Storting did [1], I believe."
    leave_files_alone(indexed, server)
    assistant = made(indexed, is_open=True)
    message = ask(indexed, ELSEWHERE, assistant_id=assistant.assistant_id)
    assert message.is_own_knowledge
    assert (message.text, message.sources) == ("The Storting did, I believe.", ())
    assert "lamp" not in str(server.chats), "passages that are not about it are not sent"
    assert list(indexed.chat.go_on(message, cancel=threading.Event())) == []
    [_, kept] = indexed.chat.history.messages(message.conversation_id)
    assert kept == message
    exported = indexed.chat.history.export(message.conversation_id, ".md")
    assert "not from your documents" in exported


def test_an_open_one_marks_what_it_adds_to_its_sources(
    indexed: Services, server: ChatServer
) -> None:
    server.answer = "It is lit at dusk [1].\n\nNot from your documents:\nMany are [1]."
    assistant = made(indexed, is_open=True)
    message = ask(indexed, QUESTION, assistant_id=assistant.assistant_id)
    assert not message.is_own_knowledge
    assert message.text.endswith("dusk [1].\n\n**Not from your documents**:\n\nMany are.")
    assert "Not from your documents:" in told(server)


def test_without_a_model_an_open_one_says_that_nothing_was_found(indexed: Services) -> None:
    assistant = made(indexed, is_open=True)
    message = ask(indexed, ELSEWHERE, assistant_id=assistant.assistant_id)
    assert not message.is_own_knowledge
    assert message.text.startswith("Nothing in your documents seems to be about")


def test_nothing_relevant_in_several_collections_is_told_so(indexed: Services) -> None:
    sea, land, _ = (collection(indexed, name) for name in PAPERS)
    assistant = made(indexed, collection_ids=(sea, land))
    message = ask(indexed, ELSEWHERE, assistant_id=assistant.assistant_id)
    assert message.text.startswith("Nothing in these collections seems to be about")


# --- missing parts -----------------------------------------------------------------------------


def test_a_chat_goes_on_without_its_deleted_assistant(
    indexed: Services, server: ChatServer
) -> None:
    assistant = made(indexed, instructions=WISHES)
    message = ask(indexed, QUESTION, assistant_id=assistant.assistant_id)
    indexed.chat.assistants.delete(assistant.assistant_id)
    again = retried(indexed, message)
    assert again.state is MessageState.DONE
    assert WISHES not in told(server)
    assert again.notes is not None
    assert "was deleted" in again.notes.in_words()
    indexed.chat.assistants.restore(assistant)
    retried(indexed, message)
    assert WISHES in told(server)


def test_what_should_have_gone_to_a_model_that_is_gone_goes_nowhere(
    indexed: Services, server: ChatServer, other: ChatServer
) -> None:
    assistant = made(indexed, base_url=other.base_url, model="tiny")
    where: dict[str, Any] = {"assistant_id": assistant.assistant_id}
    refused = ask(indexed, QUESTION, **where)
    assert refused.state is MessageState.FAILED
    assert refused.error_title == "The endpoint of “Keeper” is no longer set up."
    assert other.base_url in refused.error_hint
    assert not server.chats
    assert indexed.chat.files_to_ask(refused.conversation_id) == (3, "")
    settings = Settings(endpoint=server.endpoint(), other_endpoints=(other.endpoint(),))
    indexed.chat.apply(settings)
    assert retried(indexed, refused).model == "tiny"


def test_more_is_not_found_out_by_another_model_either(
    indexed: Services, server: ChatServer, other: ChatServer
) -> None:
    settings = Settings(endpoint=server.endpoint(), other_endpoints=(other.endpoint(),))
    indexed.chat.apply(settings)
    assistant = made(indexed, base_url=other.base_url, model="tiny")
    message = ask(indexed, QUESTION, assistant_id=assistant.assistant_id)
    indexed.chat.apply(Settings(endpoint=server.endpoint()))
    assert list(indexed.chat.go_on(message, cancel=threading.Event())), "checked on this computer"
    assert not server.chats


def test_collections_that_are_gone_are_told_and_never_widened_to_all(
    indexed: Services, server: ChatServer
) -> None:
    sea, land, _ = (collection(indexed, name) for name in PAPERS)
    assistant = made(indexed, collection_ids=(sea, land))
    where: dict[str, Any] = {"assistant_id": assistant.assistant_id}
    indexed.library.collections.remove(land)
    message = ask(indexed, QUESTION, **where)
    assert names(message) == {"lamp.md"}
    assert message.notes is not None
    assert message.notes.hints == ("1 of the collections of “Keeper” is gone.",)
    indexed.library.collections.remove(sea)
    refused = ask(indexed, QUESTION, **where)
    assert refused.state is MessageState.FAILED
    assert refused.error_title == "The collections of “Keeper” are gone."
    assert refused.error_hint
    assert len(server.chats) == 1


# --- storing ---------------------------------------------------------------------------------


def test_names_differ(services: Services) -> None:
    assistants = services.chat.assistants
    keeper = made(services)
    with pytest.raises(AppError, match="another assistant called “KEEPER”"):
        made(services, name=" KEEPER ")
    cook = made(services, name="Cook")
    with pytest.raises(AppError, match="another assistant"):
        assistants.change(replace(cook, name="keeper"))
    assert assistants.change(replace(keeper, name="KEEPER")).name == "KEEPER"
    assert [a.name for a in assistants.all()] == ["Cook", "KEEPER"]
    assert assistants.find(" cook").assistant_id == cook.assistant_id
    with pytest.raises(AppError, match="no assistant") as failed:
        assistants.find("Baker")
    assert failed.value.hint == "There are: Cook, KEEPER."


def test_a_copy_has_a_name_of_its_own(services: Services) -> None:
    assistants = services.chat.assistants
    keeper = made(services, name="K" * 80, instructions=WISHES)
    copies = [assistants.copy(keeper) for _ in range(3)]
    assert [copy.name for copy in copies] == [
        "K" * 73 + " (copy)", "K" * 71 + " (copy 2)", "K" * 71 + " (copy 3)",
    ]  # fmt: skip
    assert {copy.instructions for copy in copies} == {WISHES}
    assert len({copy.assistant_id for copy in (keeper, *copies)}) == 4


def test_one_that_comes_back_to_find_its_name_taken_gets_another(services: Services) -> None:
    assistants = services.chat.assistants
    first = made(services)
    assistants.delete(first.assistant_id)
    made(services)
    assistants.restore(first)
    assert [a.name for a in assistants.all()] == ["Keeper", "Keeper (copy)"]
    assert assistants.get(first.assistant_id) == replace(first, name="Keeper (copy)")


def test_what_cannot_be_kept_changes_nothing(services: Services) -> None:
    keeper = made(services)
    with pytest.raises(AppError):
        services.chat.assistants.change(replace(keeper, filters="some words"))
    assert services.chat.assistants.all() == [keeper]
