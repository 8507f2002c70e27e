"""What is done about an answer once it stands. Worker threads.

Nothing of it begins while an answer is on its way, in whatever conversation, and what asks a model
gives way to one: a server on the person's own computer does one thing at a time.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Event

from desktop_rag.answer.follow_ups import FollowUps
from desktop_rag.answer.small_job import Unless
from desktop_rag.core.conversation import AnswerChanged, Message, MessageState
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import ChatModel
from desktop_rag.store.contract.records import ConversationStore

_WAIT_S = 0.2
log = logging.getLogger(__name__)

# So often a job begins anew that gave way to an answer.
_TRIES = 3


class Afterwards:
    """Finds what may be asked after an answer."""

    def __init__(
        self,
        conversations: ConversationStore,
        follow_ups: FollowUps,
        helper: Callable[[], ChatModel | None],
        answers: ModelGate,
    ) -> None:
        """`helper` gives the model for small jobs; `answers` is closed while one is on its way."""
        self._conversations = conversations
        self._follow_ups = follow_ups
        self._helper = helper
        self._answers = answers

    def about(
        self,
        answer: Message,
        history: Sequence[Message],
        settings: Settings,
        *,
        collection_id: str,
        cancel: Event,
    ) -> Iterator[AnswerChanged]:
        """The answer as it changes, stored each time. `history` ends with its question.

        Of one that was stopped, failed or rests on nothing there is nothing to find.
        """
        if answer.state is not MessageState.DONE or not answer.sources:
            return
        if settings.answers.suggests_questions and not answer.follow_ups:
            found = self._questions(answer, history, settings, collection_id, cancel)
            if found:
                self._conversations.set_follow_ups(answer.message_id, found)
                yield AnswerChanged(replace(answer, follow_ups=found))

    def _questions(
        self,
        answer: Message,
        history: Sequence[Message],
        settings: Settings,
        collection_id: str,
        cancel: Event,
    ) -> tuple[str, ...]:
        for _ in range(_TRIES):
            self._wait_for_answers(cancel)
            gives_way = Unless(cancel, lambda: self._answers.is_closed)
            found = self._follow_ups.find(
                answer,
                history,
                settings.retrieval,
                collection_id=collection_id,
                model=self._usable_helper(),
                cancel=gives_way,
            )
            if found or not gives_way.is_set():
                return found
        return ()

    def _usable_helper(self) -> ChatModel | None:
        try:
            return self._helper()
        except AppError as error:
            log.info("the endpoint cannot be used: %s", error.title)  # questions say so
            return None

    def _wait_for_answers(self, cancel: Event) -> None:
        while self._answers.is_closed and not cancel.is_set():
            self._answers.wait(_WAIT_S)
