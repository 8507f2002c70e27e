"""Few small documents are read in full, part by part, when their passages don't answer."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerWaits, FileAsked
from desktop_rag.core.settings import AnswerSettings, HelperSettings, Settings
from tests.asking import answer_of, ask, events_of
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

SILENT = "The sources do not contain this information."
FAR = "Which colour did the parliament choose for the fishing quotas of 1974?"
PARAGRAPH = "On day {n} the keeper of the lamp cleaned the glass of the lamp and rested. "
LONG = "# Log of the lamp\n\n" + "\n\n".join(PARAGRAPH.format(n=n) * 6 for n in range(40))
PAPERS = {
    "log.md": LONG + "\n\nThe seal on the crate was green.\n",
    "ferry.md": "# Ferry\n\nThe deck is scrubbed every morning before breakfast.\n",
}


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    return open_indexed(PAPERS)


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer(SILENT) as running:
        indexed.chat.apply(Settings(endpoint=running.endpoint()))
        yield running


@pytest.fixture
def helper(indexed: Services, server: ChatServer) -> Iterator[ChatServer]:
    with ChatServer("NOTHING") as running:
        other = running.endpoint(model="small")
        small = HelperSettings(other.base_url, other.model)
        endpoint = server.endpoint()
        indexed.chat.apply(Settings(endpoint=endpoint, other_endpoints=(other,), helper=small))
        yield running


def found_by_parts(prompt: str) -> str:
    """The part with the seal has the answer, and no passage has."""
    if "<found-" in prompt:
        return "It was green [1]."
    if "a part of a document, in order" not in prompt:
        return SILENT
    return "The seal was green [1]." if "seal on the crate" in prompt else "NOTHING"


@pytest.mark.slow
def test_a_long_file_is_read_on_when_its_passages_do_not_tell(
    indexed: Services, server: ChatServer
) -> None:
    server.answer_to = found_by_parts
    endpoint = replace(server.endpoint(), context_tokens=4096)
    indexed.chat.apply(Settings(endpoint=endpoint))
    events = events_of(indexed, "According to log.md, when did the keeper of the lamp paint?")
    answer = answer_of(events)
    assert any(isinstance(event, AnswerWaits) for event in events)
    assert len([event for event in events if isinstance(event, FileAsked)]) > 1
    assert "green [1]" in answer.text
    assert SILENT not in answer.text
    assert answer.sources[0].start > len(LONG) / 3, "the part with the seal"


@pytest.mark.everyday
def test_the_answer_stays_when_the_whole_text_tells_no_more(
    indexed: Services, server: ChatServer
) -> None:
    server.answer_to = lambda prompt: "NOTHING" if "a part of a document" in prompt else SILENT
    indexed.chat.apply(Settings(endpoint=replace(server.endpoint(), context_tokens=4096)))
    answer = ask(indexed, "According to log.md, when did the keeper of the lamp paint?")
    assert answer.text == SILENT
    assert answer.notes
    assert "The whole text was read as well." in answer.notes.in_words()


@pytest.mark.slow
def test_where_nothing_is_near_few_files_are_read_in_full(
    indexed: Services, server: ChatServer
) -> None:
    server.answer_to = found_by_parts
    answer = ask(indexed, FAR)
    assert "green [1]" in answer.text
    assert [Path(source.path).name for source in answer.sources] == ["log.md"]


@pytest.mark.slow
def test_what_a_part_says_without_a_citation_is_no_answer(
    indexed: Services, server: ChatServer
) -> None:
    server.answer_to = lambda prompt: (
        "It was surely blue." if "a part of a document" in prompt else SILENT
    )
    answer = ask(indexed, FAR)
    assert any("a part of a document" in str(chat) for chat in server.chats)
    assert answer.text == SILENT


@pytest.mark.slow
def test_the_helper_reads_and_the_model_puts_together(
    indexed: Services, server: ChatServer, helper: ChatServer
) -> None:
    helper.answer_to = lambda prompt: (
        "The seal was green [1]." if "seal on the crate" in prompt
        else "The deck is scrubbed [1]." if "scrubbed" in prompt else "NOTHING"
    )  # fmt: skip
    server.answer_to = found_by_parts
    answer = ask(indexed, FAR)
    assert answer.text.startswith("It was green [1].")
    assert answer.model == "test-model"
    parts = [chat for chat in helper.chats if "a part of a document" in str(chat)]
    assert parts
    assert not any("a part of a document" in str(chat) for chat in server.chats)


@pytest.mark.slow
def test_it_is_switched_off_with_the_setting(indexed: Services, server: ChatServer) -> None:
    settings = Settings(endpoint=server.endpoint(), answers=AnswerSettings(asks_few_files=False))
    indexed.chat.apply(settings)
    server.answer = SILENT
    assert ask(indexed, FAR).text == SILENT
    assert not any("a part of a document" in str(chat) for chat in server.chats)


@pytest.mark.slow
def test_files_too_long_to_compare_at_once_are_read_in_parts(
    indexed: Services, server: ChatServer
) -> None:
    indexed.chat.apply(Settings(endpoint=replace(server.endpoint(), context_tokens=4096)))
    server.answer_to = lambda prompt: (
        "They differ [1][2]." if "<found-" in prompt
        else "It says something [1]." if "a part of a document" in prompt else SILENT
    )  # fmt: skip
    answer = ask(indexed, "Compare log.md and ferry.md")
    assert answer.text.startswith("They differ [1][2].")
    assert {Path(source.path).name for source in answer.sources} == {"log.md", "ferry.md"}
