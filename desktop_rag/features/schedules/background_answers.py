"""Answers that nobody waits for: `chat.background`. Worker threads; the caller's blocks.

A person's question always goes first: an answer begins once none is under way, and is given up for
one that begins.
"""

import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from threading import Event

from desktop_rag.answer.endpoints.helper_job import CancelWhen
from desktop_rag.answer.railed_answering import RailedAnswering
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.core.conversation import Message, MessageState, Role
from desktop_rag.core.errors import AppError, Cancelled, InterruptedAnswer
from desktop_rag.core.query import parse_query
from desktop_rag.core.question import Setup
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.features.schedules.answer_comparison import AnswerComparison
from desktop_rag.features.schedules.values.standing_run import ComparedSentence
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.store.contract.search import NameStore, Scope

_WAIT_S = 0.2
# How often an answer that gave way is begun again before it is put off.
_TRIES = 3


class BackgroundAnswers:
    """Answers without a conversation and stores nothing."""

    def __init__(
        self,
        answering: RailedAnswering,
        priority: AnswerPriority,
        comparison: AnswerComparison,
        names: NameStore,
        *,
        set_up: Callable[[str], Setup],
        is_stopping: Callable[[], bool],
    ) -> None:
        """`set_up` gives the setup of an assistant by its id."""
        self._answering = answering
        self._priority = priority
        self._comparison = comparison
        self._names = names
        self._set_up = set_up
        self._is_stopping = is_stopping

    def answer(
        self,
        question: str,
        scope: QuestionScope,
        assistant_id: str,
        cancel: Event,
        *,
        but: tuple[str, ...] = (),
        search_for: str = "",
    ) -> Message:
        """The finished answer to a question about this scope, without the files in `but`.

        With `search_for` its sources are searched by these words instead of by the question.

        Raises:
            AppError: when it failed, as the message of the failed answer says.
            InterruptedAnswer: when answers to the person kept interrupting it.
            Cancelled: soon after `cancel` is set or the chat stops.
        """
        message = Message(uuid.uuid4().hex, "", Role.USER, question, time.time(), scope=scope)

        def request() -> AnswerRequest:
            setup = self._set_up(assistant_id)
            setup = replace(setup, reach=replace(setup.reach, but=but))
            made = AnswerRequest.of(message, (), setup)
            if search_for:
                made = replace(made, query=parse_query(search_for), query_error=None)
            return made

        done = self._giving_way(request, cancel)
        if done.state is MessageState.FAILED:
            raise AppError(done.error_title, done.error_hint)
        return done

    def _giving_way(self, request: Callable[[], AnswerRequest], cancel: Event) -> Message:
        stopping = CancelWhen(cancel, self._is_stopping)
        for _ in range(_TRIES):
            while self._priority.is_answering and not stopping.is_set():
                self._priority.wait(_WAIT_S)
            yielding = CancelWhen(stopping, lambda: self._priority.is_answering)
            done = self._finish(request(), yielding)
            if stopping.is_set():
                raise Cancelled
            if not yielding.is_set():
                return done
        raise InterruptedAnswer

    def answer_as(self, question: str, setup: Setup, cancel: Event) -> Message:
        """The answer with this setup, also one that failed, which says why.

        Raises:
            InterruptedAnswer, Cancelled: as `answer` does.
        """
        message = Message(uuid.uuid4().hex, "", Role.USER, question, time.time())
        return self._giving_way(lambda: AnswerRequest.of(message, (), setup), cancel)

    def model_name(self, assistant_id: str) -> tuple[str, str]:
        """The model that would answer and its address; both "" when it would be excerpts."""
        endpoint = self._set_up(assistant_id).settings.endpoint
        return (endpoint.model, endpoint.base_url) if endpoint.is_set else ("", "")

    def compare(self, before: str, after: str) -> tuple[ComparedSentence, ...]:
        """What changed in substance from one answer to the next."""
        return self._comparison.compare(before, after)

    def fingerprint(self, scope: QuestionScope) -> str:
        """A short text that is another one once a document of the scope has changed."""
        return self._names.fingerprint(Scope(about=scope.items))

    def _finish(self, request: AnswerRequest, cancel: Event) -> Message:
        answers = self._answering.answer(request, cancel)
        while True:
            try:
                next(answers)
            except StopIteration as finished:
                done: Message = finished.value.message
                return done
