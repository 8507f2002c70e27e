"""Every file is asked by itself, and the findings are combined."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.answer.writing.answer_texts import refusals
from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerEvent, FileAsked, FileCounts, Message, MessageState
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from tests.asking import answer_of, ask
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

QUESTION = "Which lamps are lit at dusk?"
NOWHERE = "What did the parliament decide about fishing quotas in 1974?"
PAPERS = {
    "north.md": "# North light\n\nThe lamp of the north light is lit at dusk by Ada.\n",
    "south.md": "# South light\n\nThe lamp of the south light is lit at dusk by Bo.\n",
    "west.md": "# West light\n\nThe lamp of the west light is lit at dusk by nobody.\n",
    "ferry.md": "# Ferry\n\nThe deck is scrubbed every morning before breakfast.\n",
}


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    return open_indexed(PAPERS)


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer("NOTHING") as running:
        indexed.chat.apply(Settings(endpoint=running.endpoint()))
        yield running


def asked_of_all(
    services: Services, answer: Message, cancel: threading.Event | None = None
) -> list[AnswerEvent]:
    conversation_id = answer.conversation_id
    return list(
        services.chat.retry(conversation_id, every_file=True, cancel=cancel or threading.Event())
    )


def said_by_files(prompt: str) -> str:
    """The model's output for each file, and for all together."""
    if "<found-" in prompt:
        return "All are lit: by Ada [1] and by Bo [2], says [7]."
    if "north light" in prompt:
        return "Ada lights it [1]."
    return "Bo lights it [1][9]." if "south light" in prompt else "Nothing about it."


def titles(message: Message) -> list[str]:
    return [source.title for source in message.sources]


def test_each_file_is_asked_and_what_they_say_is_put_together(
    indexed: Services, server: ChatServer
) -> None:
    answer = ask(indexed, QUESTION)
    before = len(server.chats)
    server.answer_to = said_by_files
    events = asked_of_all(indexed, answer)
    message = answer_of(events)
    progress = [event for event in events if isinstance(event, FileAsked)]
    assert [event.done for event in progress] == [0, 1, 2, 3]
    assert {event.total for event in progress} == {4}
    assert len(server.chats) - before == 4, "three files have something to ask, and once together"
    assert message.text.startswith("All are lit: by Ada [1] and by Bo [2], says")
    assert "[7]" not in message.text
    assert "[9]" not in message.text
    assert "**North light:** Ada lights it [1]" in message.text
    assert "**South light:** Bo lights it [2]" in message.text
    assert titles(message) == ["North light", "South light"]
    assert message.notes is not None
    assert message.notes.files == FileCounts(matched=2, read=4, total=4)
    kept = indexed.chat.history.messages(answer.conversation_id)
    assert kept[1:] == [answer, message], "below the one before"


def test_asked_again_it_replaces_itself_and_the_first_answer_stays(
    indexed: Services, server: ChatServer
) -> None:
    answer = ask(indexed, QUESTION)
    server.answer_to = said_by_files
    asked_of_all(indexed, answer)
    again = answer_of(asked_of_all(indexed, answer))
    kept = indexed.chat.history.messages(answer.conversation_id)
    assert [m.message_id for m in kept][1:] == [answer.message_id, again.message_id]
    retried = answer_of(list(indexed.chat.retry(answer.conversation_id, cancel=threading.Event())))
    kept = indexed.chat.history.messages(answer.conversation_id)
    assert [m.message_id for m in kept][1:] == [retried.message_id, again.message_id]


def test_it_is_removed_and_put_back(indexed: Services) -> None:
    answer = ask(indexed, QUESTION)
    message = answer_of(asked_of_all(indexed, answer))
    history = indexed.chat.history
    place = history.remove_answer(message)
    assert history.messages(answer.conversation_id)[1:] == [answer]
    history.put_back_at(message, place)
    assert history.messages(answer.conversation_id)[1:] == [answer, message]
    history.remove_answer(message)
    ask(indexed, QUESTION, conversation_id=answer.conversation_id)
    with pytest.raises(AppError, match="gone on"):
        history.put_back_at(message, place)


def test_lists_and_tables_of_a_file_stay_so(indexed: Services, server: ChatServer) -> None:
    answer = ask(indexed, QUESTION)
    table = "| Light | Keeper |\n| --- | --- |\n| south | Bo [1] |"
    server.answer_to = lambda prompt: (
        "All [1]." if "<found-" in prompt
        else "It is lit:\n\n- by Ada [1]\n- at dusk [1]" if "north light" in prompt
        else table if "south light" in prompt else "NOTHING"
    )  # fmt: skip
    text = answer_of(asked_of_all(indexed, answer)).text
    assert "**North light**\n\nIt is lit:\n\n- by Ada [1]\n- at dusk [1]" in text
    assert "**South light**\n\n| Light | Keeper |\n| --- | --- |\n| south | Bo [2] |" in text


def test_stopped_early_what_was_found_is_the_answer(indexed: Services, server: ChatServer) -> None:
    answer = ask(indexed, QUESTION)
    server.answer = "Somebody lights it [1]."
    cancel = threading.Event()
    events = indexed.chat.retry(answer.conversation_id, every_file=True, cancel=cancel)
    seen: list[AnswerEvent] = []
    for event in events:
        seen.append(event)
        if isinstance(event, FileAsked) and event.done == 2:
            cancel.set()
    message = answer_of(seen)
    assert message.state is MessageState.STOPPED
    assert 1 <= message.text.count("Somebody lights it") <= 2
    assert message.notes is not None
    assert message.notes.files
    assert "of 4 files asked" in message.notes.files.in_words()
    kept = indexed.chat.history.messages(answer.conversation_id)
    assert kept[1:] == [answer, message], "the whole answer stays"


def test_an_endpoint_that_fails_on_the_way_loses_nothing(
    indexed: Services, server: ChatServer
) -> None:
    answer = ask(indexed, QUESTION)
    server.answer = "Somebody lights it [1]."
    events = indexed.chat.retry(answer.conversation_id, every_file=True, cancel=threading.Event())
    seen: list[AnswerEvent] = []
    for event in events:
        seen.append(event)
        if isinstance(event, FileAsked) and event.done == 1:
            server.mode, server.status = "status", 401
    message = answer_of(seen)
    assert message.state is MessageState.FAILED
    assert message.error_title
    assert message.text.count("Somebody lights it") == 1


def test_without_a_model_each_file_gives_its_best_sentence(indexed: Services) -> None:
    message = answer_of(asked_of_all(indexed, ask(indexed, QUESTION)))
    assert message.is_excerpts
    for name in ("North", "South", "West"):
        assert f"**{name} light:** The lamp of the {name.lower()} light is lit" in message.text
    assert "deck" not in message.text
    assert sorted(titles(message)) == ["North light", "South light", "West light"]
    assert all(source.is_cited and source.quote for source in message.sources)


def test_only_files_that_the_question_is_limited_to_are_asked(indexed: Services) -> None:
    answer = ask(indexed, f"{QUESTION} file:south")
    assert indexed.chat.files_to_ask(answer.conversation_id) == (1, "")
    assert titles(answer_of(asked_of_all(indexed, answer))) == ["South light"]


def test_nothing_anywhere_is_said(indexed: Services) -> None:
    answer = ask(indexed, NOWHERE)
    message = answer_of(asked_of_all(indexed, answer))
    assert message.text == refusals().said("nothing_relevant")
    assert message.sources == ()
    assert message.nearest, "what came nearest can still be looked at"


def test_without_a_model_they_are_not_asked_by_themselves(indexed: Services) -> None:
    """Only a model can recognise files that merely share words with the question."""
    events = list(indexed.chat.ask(NOWHERE, cancel=threading.Event()))
    assert not any(isinstance(event, FileAsked) for event in events)


def test_an_answer_says_how_many_files_matched_and_how_many_were_read(indexed: Services) -> None:
    message = ask(indexed, "Who lights the lamp of the north light?")
    assert message.notes is not None
    counted = message.notes.files
    assert counted is not None
    assert counted.read == len({source.document_id for source in message.sources})
    assert counted.read <= counted.matched <= 4


def test_where_nothing_was_asked_no_file_is(indexed: Services, tmp_path: Path) -> None:
    """An imported chat may begin and end with an answer."""
    answer = ask(indexed, QUESTION)
    told = json.loads(indexed.chat.history.export(answer.conversation_id, ".json"))
    told["messages"] = [one for one in told["messages"] if one["role"] == "assistant"]
    (tmp_path / "chat.json").write_text(json.dumps(told))
    alone = indexed.chat.history.import_file(tmp_path / "chat.json").conversation_id
    with pytest.raises(AppError, match="no question"):
        indexed.chat.files_to_ask(alone)
