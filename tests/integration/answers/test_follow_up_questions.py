"""Follow-up questions: rewriting, and the origin of their sources."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.answer.sources.source_finder import EXCERPT_TOKENS
from desktop_rag.app import Services
from desktop_rag.core.conversation import Message
from desktop_rag.core.settings import LaterSources, RetrievalSettings, Settings
from desktop_rag.core.text import rough_token_counts
from tests.asking import ask
from tests.indexed import OpenIndexed, index_texts
from tests.servers.chat_server import ChatServer

FIRST = "When is the lamp of the lighthouse lit?"
LATER = "Who cleans it?"


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    texts = {
        "lamp.md": "The lamp of the lighthouse is lit at dusk by the keeper.",
        "care.md": "The lamp of the lighthouse is cleaned by the apprentice.",
        "ship.md": "The deck of the ferry is cleaned by the cook every morning.",
    }
    return open_indexed(texts)


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer("The lamp is lit at dusk [1].") as running:
        indexed.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        yield running


def names(message: Message) -> list[str]:
    return [Path(source.path).name for source in message.sources]


@pytest.mark.slow
def test_the_model_writes_a_later_question_out_before_it_is_searched(
    indexed: Services, server: ChatServer
) -> None:
    conversation_id = ask(indexed, FIRST).conversation_id
    server.first_answers = ["Who cleans the lamp of the lighthouse?"]
    later = ask(indexed, LATER, conversation_id=conversation_id)
    assert later.notes is not None
    assert later.notes.in_words() == "Understood as “Who cleans the lamp of the lighthouse?”."
    assert names(later)[0] == "care.md"
    asked = server.chats[-1]["messages"][-1]["content"]
    assert asked.endswith(f"Question: {LATER}"), "the model is asked what the person wrote"
    assert indexed.chat.history.messages(conversation_id)[-1] == later


@pytest.mark.slow
def test_what_a_model_makes_of_it_is_no_dead_end(indexed: Services, server: ChatServer) -> None:
    conversation_id = ask(indexed, FIRST).conversation_id
    server.first_answers = ["Which parliament adopted the fishing quota of 1974?"]
    later = ask(indexed, LATER, conversation_id=conversation_id)
    assert later.notes is not None
    assert later.notes.asked == f"{FIRST} {LATER}"
    assert "care.md" in names(later)


def asked_as_it_is(answer: Message) -> bool:
    return answer.notes is not None and not answer.notes.in_words()


@pytest.mark.slow
def test_a_question_that_stands_alone_is_searched_at_once(
    indexed: Services, server: ChatServer
) -> None:
    conversation_id = ask(indexed, FIRST).conversation_id
    whole = "When is the deck of the morning ferry cleaned by the cook?"
    assert asked_as_it_is(ask(indexed, whole, conversation_id=conversation_id))
    assert len(server.chats) == 2


@pytest.mark.slow
def test_without_an_endpoint_the_question_before_is_searched_along(indexed: Services) -> None:
    conversation_id = ask(indexed, FIRST).conversation_id
    later = ask(indexed, LATER, conversation_id=conversation_id)
    assert later.notes is not None
    assert later.notes.asked == f"{FIRST} {LATER}"
    assert names(later)[0] in ("care.md", "lamp.md")
    assert "apprentice" in later.text


@pytest.mark.slow
def test_what_differs_is_answered_though_it_was_shown_before(
    services: Services, tmp_path: Path
) -> None:
    papers = {
        "alder.md": "Alder sold 31 boats in 2022. Alder sold 27 boats in 2021.",
        "birch.md": "Birch sold 88 boats in 2022. Birch sold 93 boats in 2021.",
    }
    index_texts(services, tmp_path / "reports", papers)
    first = ask(services, "How many boats did Alder sell in 2022?")
    assert "31 boats" in first.text
    year = ask(services, "And in 2021?", conversation_id=first.conversation_id)
    assert "Alder sold 27 boats in 2021." in year.text
    other = ask(services, "And Birch?", conversation_id=first.conversation_id)
    assert "Birch sold 93 boats in 2021." in other.text
    assert other.notes is not None
    assert other.notes.in_words() == "Understood as “How many boats did Birch sell in 2021?”."


@pytest.fixture
def with_lease(open_indexed: OpenIndexed) -> Services:
    texts = {
        "lease.md": "# Lease\n\nThe rent is 900 pounds. A dog needs the consent of the landlord.",
        "park.md": "# Park\n\nAnybody can keep a dog on a lead. You can keep a dog in the meadow.",
    }
    return open_indexed(texts)


@pytest.mark.slow
def test_the_document_of_the_chat_answers_before_a_better_one(with_lease: Services) -> None:
    assert names(ask(with_lease, "Can I keep a dog?"))[0] == "park.md"
    first = ask(with_lease, "How much is the rent?")
    later = ask(with_lease, "Can I keep a dog?", conversation_id=first.conversation_id)
    assert names(later)[0] == "lease.md"
    assert later.text.index("consent of the landlord") < later.text.index("in the meadow")


@pytest.mark.slow
@pytest.mark.parametrize("question", ["Is a lead needed in the meadow?", "Can I in park.md?"])
def test_a_question_about_another_document_leaves_it(with_lease: Services, question: str) -> None:
    first = ask(with_lease, "How much is the rent?")
    later = ask(with_lease, question, conversation_id=first.conversation_id)
    assert names(later)[0] == "park.md"


@pytest.mark.everyday
def test_another_subject_is_not_answered_from_the_one_before(indexed: Services) -> None:
    conversation_id = ask(indexed, FIRST).conversation_id
    later = ask(indexed, "Ferry deck cleaned in the morning", conversation_id=conversation_id)
    assert names(later)[0] == "ship.md"
    assert asked_as_it_is(later)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LaterSources.SAME, LaterSources.BOTH])
def test_earlier_sources_obey_the_filters_of_a_question(
    indexed: Services, kind: LaterSources
) -> None:
    first = ask(indexed, FIRST)
    retrieval = RetrievalSettings(later_sources=kind)
    indexed.chat.apply(replace(Settings(), retrieval=retrieval))
    later = ask(indexed, "Who cleans the deck? file:ship.md", conversation_id=first.conversation_id)
    assert names(later) == ["ship.md"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(LaterSources))
def test_the_sources_of_later_questions_are_chosen(
    indexed: Services, server: ChatServer, kind: LaterSources
) -> None:
    server.answer = "At dusk [1]."
    retrieval = RetrievalSettings(later_sources=kind)
    indexed.chat.apply(replace(Settings(), endpoint=server.endpoint(), retrieval=retrieval))
    first = ask(indexed, f"{FIRST} file:lamp.md")
    assert names(first) == ["lamp.md"]
    whole = "Who cleans the deck of the ferry every morning of the year?"
    later = ask(indexed, whole, conversation_id=first.conversation_id)
    assert (names(later)[0] == "ship.md") is (kind is not LaterSources.SAME)
    assert (names(later)[-1] == "lamp.md") or kind is LaterSources.FRESH
    for source in later.sources:
        text = indexed.chat.document_text(source.document_id)
        assert text[source.start : source.end] == (source.quote or source.text)


@pytest.mark.slow
def test_earlier_sources_leave_fewer_tokens_for_new_ones(
    services: Services, tmp_path: Path
) -> None:
    def text(subject: str) -> str:
        return "\n\n".join(f"The keeper cleans {subject} number {n}. " * 20 for n in range(9))

    texts = {f"{name}.md": text(name) for name in ("lamps", "decks", "nets", "boats")}
    index_texts(services, tmp_path / "long", texts)
    retrieval = RetrievalSettings(later_sources=LaterSources.BOTH)
    services.chat.apply(replace(Settings(), retrieval=retrieval))
    first = ask(services, "Who cleans lamps number 3? file:lamps.md")
    whole = "Which decks, nets and boats of the harbour does the keeper clean every morning?"
    later = ask(services, whole, conversation_id=first.conversation_id)
    assert names(later)[-1] == "lamps.md"
    counts = rough_token_counts([source.text for source in later.sources])
    earlier = sum(n for n, s in zip(counts, later.sources, strict=True) if "lamps" in s.path)
    assert earlier <= 1.1 * EXCERPT_TOKENS / 2
    # By a rough count.
    assert sum(counts) <= 1.1 * EXCERPT_TOKENS


@pytest.mark.slow
def test_without_a_model_a_later_question_is_told_something_new(indexed: Services) -> None:
    first = ask(indexed, FIRST)
    later = ask(indexed, LATER, conversation_id=first.conversation_id)
    assert "lit at dusk" in first.text
    assert "The lamp of the lighthouse is cleaned by the apprentice." in later.text
    assert "lit at dusk" not in later.text
    again = ask(indexed, FIRST, conversation_id=first.conversation_id)
    assert again.text == first.text, "the same question has the same answer"
