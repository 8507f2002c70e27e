"""Makes one answer and stores it: kept while it grows, remembered afterwards.

Runs on the answering thread.
"""

import itertools
from collections.abc import Generator
from dataclasses import replace
from threading import Event

from desktop_rag.answer.answering import FinishedAnswer
from desktop_rag.answer.conversations.answer_memory import Memory
from desktop_rag.answer.conversations.unfinished_answers import (
    AnswerKeeper,
    AnswerStart,
    UnfinishedAnswers,
)
from desktop_rag.answer.conversations.unstored_chats import UnstoredChats
from desktop_rag.answer.railed_answering import RailedAnswering
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.core.conversation import AnswerEvent, Message, Role
from desktop_rag.core.question_scope import ALL_DOCUMENTS


class StoredAnswering:
    """Answers questions that are stored."""

    def __init__(
        self,
        answering: RailedAnswering,
        conversations: UnstoredChats,
        unfinished: UnfinishedAnswers,
        memory: Memory,
    ) -> None:
        self._answering = answering
        self._conversations = conversations
        self._unfinished = unfinished
        self._memory = memory

    def answer(
        self, request: AnswerRequest, cancel: Event, *, again_to: Message | None = None
    ) -> Generator[AnswerEvent, None, Message]:
        """The stored answer; yields the events on the way.

        It goes in place of the last answer to the question `again_to`, if it had one. An answer
        from every file stands below that one, and goes in place of one of its kind only.
        """
        with self._unfinished.keeping(self._start_of(request, again_to)) as keeper:
            finished = yield from self._kept(request, cancel, keeper)
            done = replace(finished.message, message_id=keeper.answer_id)
            # The answer of now: since the start, a former one may have been put back.
            if again_to and (present := self._answer_to(again_to, request)):
                self._conversations.replace_message(present.message_id, done)
            else:
                self._conversations.add_message(done)
            done = self._conversations.as_kept(done)
            keeper.is_stored = not done.is_unstored
            if request.uses_memory:
                self._memory.record(
                    request.question,
                    done,
                    has_several_steps=finished.has_several_steps,
                    assistant_id=request.setup.assistant_id,
                )
        return done

    def _kept(
        self, request: AnswerRequest, cancel: Event, keeper: AnswerKeeper
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        events = self._answering.answer(request, cancel)
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return end.value
            keeper.note(event)
            yield event

    def _start_of(self, request: AnswerRequest, again_to: Message | None) -> AnswerStart:
        former = self._answer_to(again_to, request) if again_to else None
        return AnswerStart(
            request.conversation_id,
            request.setup.settings.endpoint.model,
            request.setup.is_open,
            former.message_id if former else "",
            request.scope if request.scope.is_without_documents else ALL_DOCUMENTS,
        )

    def _answer_to(self, question: Message, request: AnswerRequest) -> Message | None:
        """Its last answer of the kind asked for: a new version that was cut stands below the
        former answer.
        """
        messages = self._conversations.messages(question.conversation_id)
        later = itertools.dropwhile(lambda m: m.message_id != question.message_id, messages)
        after = itertools.islice(later, 1, None)
        answers = itertools.takewhile(lambda m: m.role is Role.ASSISTANT, after)
        of_kind = [m for m in answers if m.is_of_every_file == request.every_file]
        return of_kind[-1] if of_kind else None
