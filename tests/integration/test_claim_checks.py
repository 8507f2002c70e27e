"""The sentences of an answer are checked against its sources once it stands."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import AnswerChanged, Message
from desktop_rag.core.settings import AnswerSettings, Settings
from tests.asking import ask
from tests.chat_server import ChatServer

QUESTION = "When is the lamp of the lighthouse lit?"
ANSWER = (
    "The lamp of the lighthouse is lit at dusk by the keeper [1]."
    " It was bought by seven cooks from Vienna in 1874 [1]."
)
ONLY_CHECKS = AnswerSettings(suggests_questions=False)


@pytest.fixture
def server(services: Services, tmp_path: Path) -> Iterator[ChatServer]:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text("The lamp of the lighthouse is lit at dusk by the keeper.")
    services.library.add_source(folder)
    services.library.start(watch=False)
    assert services.library.wait_until_quiet(30)
    with ChatServer(ANSWER) as running:
        services.chat.apply(Settings(endpoint=running.endpoint(), answers=ONLY_CHECKS))
        yield running


def gone_on(services: Services, answer: Message) -> list[AnswerChanged]:
    return list(services.chat.go_on(answer, cancel=threading.Event()))


def verdicts(message: Message) -> list[Verdict]:
    return [claim.verdict for claim in message.claims]


def test_claims_are_shown_at_once_then_checked_and_kept(
    services: Services, server: ChatServer
) -> None:
    answer = ask(services, QUESTION)
    pending, done = gone_on(services, answer)
    assert verdicts(pending.message) == [Verdict.NOT_CHECKED] * 2
    assert verdicts(done.message) == [Verdict.SUPPORTED, Verdict.NOT_IN_SOURCES]
    assert done.message.text == answer.text, "the answer is never changed"
    assert services.chat.history.messages(answer.conversation_id)[-1] == done.message
    assert len(server.chats) == 1, "no model was asked"
    assert gone_on(services, done.message) == [], "what is checked is not checked again"


def test_the_model_judges_them_too_where_that_is_wished(
    services: Services, server: ChatServer
) -> None:
    wished = AnswerSettings(suggests_questions=False, checks_with_model=True)
    services.chat.apply(Settings(endpoint=server.endpoint(), answers=wished))
    server.first_answers = [ANSWER, "**Partly.**", "supported, partly, contradicted or missing?"]
    answer = ask(services, QUESTION)
    last = gone_on(services, answer)[-1].message
    assert verdicts(last) == [Verdict.PARTLY, Verdict.NOT_IN_SOURCES]
    assert "test-model" in last.claims[0].checked.explanation
    assert services.chat.history.messages(answer.conversation_id)[-1] == last
    asked = server.chats[1]["messages"][-1]["content"]
    assert "seven cooks" not in asked
    assert asked.count("is lit at dusk by the keeper") == 2


def test_excerpts_are_the_words_of_the_sources_and_need_no_check(
    services: Services, server: ChatServer
) -> None:
    assert server.base_url
    services.chat.apply(Settings(answers=ONLY_CHECKS))
    assert gone_on(services, ask(services, QUESTION)) == []


def test_checks_can_be_switched_off(services: Services, server: ChatServer) -> None:
    off = AnswerSettings(suggests_questions=False, checks_claims=False)
    services.chat.apply(Settings(endpoint=server.endpoint(), answers=off))
    assert gone_on(services, ask(services, QUESTION)) == []


def test_a_cancel_keeps_nothing(services: Services, server: ChatServer) -> None:
    answer = ask(services, QUESTION)
    assert server.chats
    cancel = threading.Event()
    changes = services.chat.go_on(answer, cancel=cancel)
    next(changes)
    cancel.set()
    list(changes)
    assert services.chat.history.messages(answer.conversation_id)[-1].claims == ()


def test_the_best_place_to_verify_a_claim_is_looked_for_everywhere(
    services: Services, server: ChatServer
) -> None:
    assert server.base_url
    place = services.chat.place_about("the lamp of the lighthouse (lit: at dusk)")
    assert place is not None
    assert Path(place.path).name == "lamp.md"
    assert services.chat.place_about("Fishing quotas of the parliament in 1974") is None
