"""Answers of assistants with rails: the question goes through them, and so does the answer.

Runs on the answering thread. The rails are a port: their room is a neighbour of this one.
"""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import cache
from threading import Event

from desktop_rag.answer.answering import Answering, FinishedAnswer
from desktop_rag.answer.checking.answer_checking import CheckClaim, claims_of
from desktop_rag.answer.conversations.answer_rails import AnswerRails, RailedQuestion
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import AnswerEvent, Message, MessageState, SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import parse_query
from desktop_rag.models.ports import ChatTurn, HeardAnswer

# What a statement is worth at most that is not supported, however many words it shares.
_DOUBTFUL = 0.4
_MOST_FOUND = 5
_DONE_BEFORE = "Done for this person before, because they asked for it and agreed:"


class RailedAnswering:
    """Answers as `Answering` does, through the rails of the assistant if it has any."""

    def __init__(
        self,
        answering: Answering,
        rails: AnswerRails | None,
        finder: SourceFinder,
        models: ChatModels,
        check: CheckClaim,
    ) -> None:
        """Without `rails` an assistant that has some doesn't answer."""
        self._answering = answering
        self._rails = rails
        self._finder = finder
        self._models = models
        self._check = check

    def answer(
        self, request: AnswerRequest, cancel: Event
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        """The finished answer; yields the events on the way. Failures end in the message."""
        if self._rails is not None:
            self._rails.lapse(request.conversation_id)
        assistant = request.setup.assistant
        if assistant is None or not assistant.rails or request.refusal:
            return (yield from self._answering.answer(request, cancel))
        draft = AnswerDraft(request.conversation_id, began_at=time.monotonic())
        has_several_steps = False

        def own(question: str) -> Generator[AnswerEvent, None, Message]:
            nonlocal has_several_steps
            known = self._rails.done_before(assistant.assistant_id) if self._rails else ""
            asking = _knowing(_asking(request, question), known)
            finished = yield from self._answering.answer(asking, cancel)
            has_several_steps = finished.has_several_steps
            return finished.message

        try:
            if self._rails is None:
                raise AppError("The rails of this assistant can't be used here.")
            asked = self._asked(assistant.rails, request, own, cancel)
            done = yield from self._rails.run(asked, cancel)
        except AppError as error:
            done = draft.message(MessageState.FAILED, error.title, error.hint)
        done = replace(done, seconds=time.monotonic() - draft.began_at)
        return FinishedAnswer(done, has_several_steps)

    def _asked(
        self,
        rails: str,
        request: AnswerRequest,
        own: Callable[[str], Generator[AnswerEvent, None, Message]],
        cancel: Event,
    ) -> RailedQuestion:
        setup = request.setup

        def search(query: str) -> Sequence[Passage]:
            found = self._finder.look_up(
                parse_query(query), setup.settings.retrieval, mode="hybrid", limit=_MOST_FOUND,
                reach=setup.reach,
            )  # fmt: skip
            return found.passages

        check = checked_once(self._check)

        def support(text: str, sources: Sequence[SourceRef]) -> float | None:
            return least_support(text, sources, check, cancel)

        return RailedQuestion(
            rails, request.question, request.history, request.conversation_id, own, search,
            support, self._completion(request, cancel), setup.assistant_id, request.may_change,
        )  # fmt: skip

    def _completion(self, request: AnswerRequest, cancel: Event) -> Callable[[str], str] | None:
        model = self._models.main(request.setup.settings)
        if model is None:
            return None

        def complete(prompt: str) -> str:
            heard = HeardAnswer()
            for delta in model.stream([ChatTurn("user", prompt)], cancel):
                heard.add(delta)
            return heard.text

        return complete


def checked_once(check: CheckClaim) -> CheckClaim:
    """The same check, where each claim is checked once: an answer in pieces repeats them.

    It keeps all it was asked, so it is for one answer. Any thread.
    """
    known = cache(check)
    return lambda claim, sources: known(claim, tuple(sources))


def least_support(
    text: str, sources: Sequence[SourceRef], check: CheckClaim, cancel: Event
) -> float | None:
    """The support of the statement of an answer that has the least; None if none can be checked."""
    claims = claims_of(text, sources, check, cancel)
    supports = [
        checked.support if checked.is_likely else min(checked.support, _DOUBTFUL)
        for checked in (claim.checked for claim in claims)
        if checked.verdict is not Verdict.NOT_CHECKED
    ]
    return min(supports, default=None)


def _knowing(request: AnswerRequest, done_before: str) -> AnswerRequest:
    """The request to a model that is told what was done for the person before."""
    assistant = request.setup.assistant
    if assistant is None or not done_before:
        return request
    told = f"{_DONE_BEFORE}\n{done_before}"
    instructions = "\n\n".join(filter(None, (assistant.instructions, told)))
    setup = replace(request.setup, assistant=replace(assistant, instructions=instructions))
    return replace(request, setup=setup)


def _asking(request: AnswerRequest, question: str) -> AnswerRequest:
    """The request with the question as the rails left it."""
    if question == request.question:
        return request
    return replace(request, question=question, query=parse_query(question))
