"""One service answers: alone, or through the wrap around an assistant with rails."""

import time
from collections.abc import Generator
from dataclasses import replace

import pytest

from desktop_rag.answer.answer_service import AnswerService, AnswerWrap, FinishedAnswer
from desktop_rag.answer.checking.disputes import ClaimChecks
from desktop_rag.answer.conversations.personal import Memory
from desktop_rag.answer.conversations.unstored_chats import UnstoredChats
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.search.candidates import FilenameMatcher
from desktop_rag.answer.search.fusion import FusionModel
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.changes import Changes
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.core.conversation import AnswerEvent, Message, MessageState, Role
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.question import EVERYTHING, Setup
from desktop_rag.core.settings import Settings
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.system_keyring import KeyStore
from desktop_rag.store.contract.engine import Engine

RAILED = Assistant("guide", "Guide", rails="grounding")


class Wrap:
    """Shows the app's own answer, and who was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def check(self, rails: str) -> None:
        """Any rails will do."""

    def answer(
        self, request: AnswerRequest, service: AnswerService
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        self.asked.append(request.question)
        finished = yield from service.own_answer(request)
        return replace(finished, message=replace(finished.message, text="wrapped"))


def service_over(engine: Engine, wrap: AnswerWrap | None) -> AnswerService:
    names = FilenameMatcher(engine.names)
    fusion = FusionModel.load(resources_dir() / "retrieval" / "fusion.toml")
    retriever = Retriever(engine.lexical, list, AnswerPriority(), names, fusion)
    return AnswerService(
        SourceFinder(retriever, engine.documents, None), engine, None,
        ChatModels(KeyStore(), Settings()),
        conversations=UnstoredChats(engine.conversations, Changes()),
        memory=Memory(engine.interactions, None),
        checks=ClaimChecks(
            lambda claim, _, __="": CheckedClaim(claim, Verdict.NOT_CHECKED, 0.0, None, (), ""),
            lambda question, history: None,
        ),
        wrap=wrap,
    )  # fmt: skip


def answered(
    service: AnswerService, assistant: Assistant | None = None, conversation_id: str = ""
) -> Message:
    asked = Message("q", conversation_id, Role.USER, "Where is the lamp?", time.time())
    setup = Setup(Settings(), EVERYTHING, assistant.assistant_id if assistant else "", assistant)
    events = service.answer(AnswerRequest.of(asked, (), setup))
    while True:
        try:
            next(events)
        except StopIteration as end:
            return end.value.message


@pytest.mark.parametrize("assistant", [None, replace(RAILED, rails="")])
def test_a_question_without_rails_never_meets_the_wrap(
    engine: Engine, assistant: Assistant | None
) -> None:
    wrap = Wrap()
    assert answered(service_over(engine, wrap), assistant).state is MessageState.DONE
    assert not wrap.asked


def test_an_assistant_with_rails_answers_through_the_wrap_only(engine: Engine) -> None:
    assert answered(service_over(engine, Wrap()), RAILED).text == "wrapped"
    unwrapped = answered(service_over(engine, None), RAILED)
    assert (unwrapped.state, unwrapped.text) == (MessageState.FAILED, "")


def test_what_waits_for_the_next_question_of_a_chat_is_done_once(engine: Engine) -> None:
    service = service_over(engine, None)
    done: list[str] = []
    service.do_before_next("chat", lambda: done.append("done"))
    answered(service, conversation_id="other")
    assert not done
    answered(service, conversation_id="chat")
    answered(service, conversation_id="chat")
    assert done == ["done"]
