"""Suggested questions after an answer are answerable, new, and never in the way."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerChanged, Message, TextDelta
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.core.settings import AnswerSettings, Settings
from tests.asking import answer_of, ask
from tests.indexed import OpenIndexed, add_texts, index_texts
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

QUESTION = "When is the lamp of the lighthouse lit?"
MANUAL = """\
# Lighthouse

## Lighting the lamp

The lamp of the lighthouse is lit at dusk by the keeper.

## Cleaning the lens

The lens is cleaned with a soft cloth by the apprentice.

## Painting the tower

The tower is painted white every spring by a painter from Hull.
"""
PROPOSED = """\
Here are some questions:
1. **Who cleans the lens of the lighthouse?**
- How often is the tower painted white?
* When is the lamp of the lighthouse lit?
2) What did the parliament decide about fishing quotas?
3) Who cleans it with a soft cloth?
path:secret.md what is in there?
Who cleans the lens of the lighthouse?
"""
CLEANING = "What does “manual.md” say about “Cleaning the lens”?"
PAINTING = "What does “manual.md” say about “Painting the tower”?"


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    texts = {
        "manual.md": MANUAL,
        "ferry.md": "# Ferry\n\nThe deck of the ferry is cleaned by the cook.\n",
    }
    return open_indexed(texts)


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer(PROPOSED) as running:
        running.first_answers = ["The lamp is lit at dusk [1]."]
        answers = AnswerSettings(checks_claims=False)
        indexed.chat.apply(Settings(endpoint=running.endpoint(), answers=answers))
        yield running


def gone_on(services: Services, answer: Message) -> list[AnswerChanged]:
    events = services.chat.go_on(answer, cancel=threading.Event())
    return [event for event in events if isinstance(event, AnswerChanged)]


def test_a_chat_with_excerpts_only_sends_nothing_afterwards_either(
    indexed: Services, server: ChatServer
) -> None:
    scope = QuestionScope(is_without_model=True)
    answer = ask(indexed, QUESTION, scope=scope)
    [change] = gone_on(indexed, answer)
    assert change.message.follow_ups, "the documents themselves suggest some"
    assert server.chats == []


def test_an_answer_that_no_model_wrote_is_sent_to_none(
    indexed: Services, server: ChatServer
) -> None:
    asked = ask(indexed, QUESTION)
    sent = len(server.chats)
    again = indexed.chat.retry(asked.conversation_id, as_excerpts=True, cancel=threading.Event())
    assert gone_on(indexed, answer_of(list(again)))
    assert len(server.chats) == sent


def test_only_new_questions_that_the_documents_answer_are_kept(
    indexed: Services, server: ChatServer
) -> None:
    answer = ask(indexed, QUESTION)
    [change] = gone_on(indexed, answer)
    assert change.message.follow_ups == (
        "Who cleans the lens of the lighthouse?",
        "How often is the tower painted white?",
    )
    kept = indexed.chat.history.messages(answer.conversation_id)[-1]
    assert kept == change.message, "the next start shows them too"
    asked = server.chats[-1]["messages"][-1]["content"]
    assert QUESTION in asked
    assert "[1]" not in asked, "a number of the answer means nothing there"
    assert gone_on(indexed, kept) == [], "what is known is not asked for again"


def test_a_model_that_writes_no_questions_leaves_it_to_the_headings(
    indexed: Services, server: ChatServer
) -> None:
    server.answer = "I am sorry, I can only answer in JSON: []"
    [change] = gone_on(indexed, ask(indexed, QUESTION))
    assert change.message.follow_ups == (CLEANING, PAINTING)


def test_without_an_endpoint_headings_of_the_sources_are_offered(indexed: Services) -> None:
    answer = ask(indexed, QUESTION)
    [change] = gone_on(indexed, answer)
    offered = change.message.follow_ups
    assert offered == (CLEANING, PAINTING), "the answer has said how the lamp is lit"
    found = ask(indexed, CLEANING)
    assert "soft cloth" in found.text


def test_a_heading_that_other_documents_have_too_is_not_offered(
    indexed: Services, tmp_path: Path
) -> None:
    other = "# Pier\n\n## Cleaning the lens\n\nThe lens of the pier light has a brush of its own."
    add_texts(indexed, tmp_path / "more", {"pier.md": other})
    [change] = gone_on(indexed, ask(indexed, QUESTION))
    assert change.message.follow_ups == (PAINTING,)


def test_headings_with_the_same_words_are_offered_once(services: Services, tmp_path: Path) -> None:
    def report(lamps: str, heading: str, prices: str) -> str:
        ports = " ".join(f"Port number {n} has piers of its own." for n in range(60))
        return f"# Report\n\n## Lamps\n\n{lamps} {ports}\n\n## {heading}\n\n{prices}\n"

    sold = "The harbour lamps of 2018 were sold in the ports of the north."
    lent = "In June 2019 the keeper lent harbour lamps to fishermen of the south."
    prices = "The prices are compared with those of the other harbours of the coast."
    costs = "What a lamp costs elsewhere is told by ships that come from there."
    texts = {
        "board-letter-of-2018.md": report(sold, "Competition", prices),
        "keeper-minutes-june-2019.md": report(lent, "Competitions", costs),
    }
    indexed = index_texts(services, tmp_path / "reports", texts)
    answer = ask(indexed, "Which harbour lamps were sold in 2018 and lent in 2019?")
    cited = {Path(source.path).name for source in answer.sources if source.is_cited}
    assert cited == set(texts)
    [change] = gone_on(indexed, answer)
    assert len(change.message.follow_ups) == 1


def test_headings_are_asked_about_in_the_language_of_the_answer(
    services: Services, tmp_path: Path
) -> None:
    """A source in another language is quoted in a question of the answer's language."""
    german = (
        "Die Lampe des Leuchtturms wird in der Dämmerung vom Wärter angezündet, und sie brennt "
        "bis zum Morgen. Der Wärter schreibt die Zeit in das Buch."
    )
    texts = {"lampe.md": f"# Leuchtturm\n\n{german}\n", "manual.md": MANUAL}
    indexed = index_texts(services, tmp_path / "papers", texts)
    question = "Wann zündet der Wärter die Lampe des Leuchtturms an, lamp lit dusk?"
    answer = ask(indexed, question)
    assert {Path(source.path).name for source in answer.sources} == set(texts)
    [change] = gone_on(indexed, answer)
    offered = change.message.follow_ups
    assert offered
    assert all(text.startswith("Was steht in „manual.md“ über „") for text in offered)


def test_nothing_follows_an_answer_that_rests_on_nothing(indexed: Services) -> None:
    answer = ask(indexed, "What did the parliament decide about fishing quotas in 1974?")
    assert not answer.sources
    assert gone_on(indexed, answer) == []


def test_it_can_be_switched_off(indexed: Services, server: ChatServer) -> None:
    answers = AnswerSettings(checks_claims=False, suggests_questions=False)
    indexed.chat.apply(Settings(endpoint=server.endpoint(), answers=answers))
    assert gone_on(indexed, ask(indexed, QUESTION)) == []
    assert len(server.chats) == 1


def test_it_does_not_begin_while_another_answer_streams(
    indexed: Services, server: ChatServer
) -> None:
    first = ask(indexed, QUESTION)
    server.first_answers = ["The tower is white [1]. It is painted every spring."]
    streaming = indexed.chat.ask("Who paints the tower white?", cancel=threading.Event())
    next(event for event in streaming if isinstance(event, TextDelta))
    changes: list[AnswerChanged] = []
    worker = threading.Thread(target=lambda: changes.extend(gone_on(indexed, first)))
    worker.start()
    worker.join(0.5)
    assert worker.is_alive()
    assert len(server.chats) == 2, "the first answer and the one that streams"
    list(streaming)
    worker.join(20)
    assert len(server.chats) == 3
    assert changes


def test_a_model_that_takes_too_long_is_not_waited_for(
    indexed: Services, server: ChatServer
) -> None:
    indexed.chat.apply(Settings(endpoint=server.endpoint(timeout_s=3600)))
    answer = ask(indexed, QUESTION)
    server.mode = "silence"
    changes = indexed.chat.go_on(answer, limit_s=0.05, cancel=threading.Event())
    *_, last = [change for change in changes if isinstance(change, AnswerChanged)]
    assert last.message.follow_ups == (CLEANING, PAINTING), "the headings offer some"


def test_it_gives_way_to_an_answer_and_is_taken_up_again(
    indexed: Services, server: ChatServer
) -> None:
    first = ask(indexed, QUESTION)
    server.has_sent.clear()
    server.mode = "stall"
    changes: list[AnswerChanged] = []
    worker = threading.Thread(target=lambda: changes.extend(gone_on(indexed, first)))
    worker.start()
    assert server.has_sent.wait(10)
    server.mode = "answer"
    server.first_answers = ["The tower is painted every spring [1]."]
    assert ask(indexed, "Who paints the tower white?").text == server_said(indexed)
    worker.join(20)
    assert server.has_lost_client.is_set(), "the job left the server to the answer"
    assert changes


def server_said(services: Services) -> str:
    newest = services.chat.history.all()[0].conversation_id
    return services.chat.history.messages(newest)[-1].text


def test_an_answer_that_is_gone_has_nothing_after_it(indexed: Services) -> None:
    answer = ask(indexed, QUESTION)
    list(indexed.chat.retry(answer.conversation_id, cancel=threading.Event()))
    assert gone_on(indexed, answer) == []


def test_a_heading_that_looks_like_a_filter_breaks_nothing(
    services: Services, tmp_path: Path
) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    text = MANUAL.replace("Cleaning the lens", "Lens changes before:2024-99").replace(
        "Painting the tower", "Painting the tower file:lamp"
    )
    (folder / "manual.md").write_text(text)
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    for change in gone_on(services, ask(services, QUESTION)):
        assert not any(":" in question for question in change.message.follow_ups)


def test_a_model_that_fails_leaves_it_to_the_headings(
    indexed: Services, server: ChatServer
) -> None:
    answer = ask(indexed, QUESTION)
    server.mode, server.status = "status", 500
    [change] = gone_on(indexed, answer)
    assert CLEANING in change.message.follow_ups


def test_nothing_goes_on_once_the_app_ends(indexed: Services, server: ChatServer) -> None:
    answer = ask(indexed, QUESTION)
    indexed.chat.stop()
    assert gone_on(indexed, answer) == []
    assert len(server.chats) == 1


def test_a_first_question_quotes_no_heading_of_another_language(open_indexed: OpenIndexed) -> None:
    english = "The keeper lights the lamp at dusk and cleans the lens with a soft cloth. " * 20
    german = "Der Leuchtturm wird jedes Jahr im Frühling von einem Maler aus der Stadt gestrichen. "
    manual = f"# Lighthouse\n\n## Der Anstrich\n\n{german * 3}\n\n## Lamp keeping\n\n{english}\n"
    found = open_indexed({"manual.md": manual}).chat.first_questions("en")
    assert found == ("What does “manual.md” say about “Lamp keeping”?",)


def test_a_first_question_is_in_the_language_of_the_window(open_indexed: OpenIndexed) -> None:
    english = "The keeper lights the lamp at dusk and cleans the lens with a soft cloth. " * 5
    chat = open_indexed({"manual.md": f"# Lighthouse\n\n## Lamp keeping\n\n{english}\n"}).chat
    [found] = chat.first_questions("de")
    assert found.startswith("Was steht")
    assert "„Lamp keeping“" in found
    assert chat.first_questions("xx") == chat.first_questions("en"), "that of the document"
