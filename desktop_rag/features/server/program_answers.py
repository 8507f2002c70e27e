"""Answers for other programs: as in the chat window, but stored nowhere. Worker threads."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from threading import Event
from typing import TypeVar

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    AnswerRestated,
    AnswerWaits,
    MessageState,
    Role,
    SourcesFound,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.errors import LIBRARY_AWAY, AppError, LibraryAwayError
from desktop_rag.features.server.access.callers import Asked, PassedOn, message_of
from desktop_rag.features.server.filters.filter_chain import AnswerEvents, CallsMade, FilterChain
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.models.ports import HeardAnswer

_T = TypeVar("_T", bound=AnswerEvent)
# What ends the search of a question: from here on the app mostly waits for the model.
_FOUND = (SourcesFound, ThinkingDelta, TextDelta, AnswerDone)
# The completion of an answer waits at most this long for searches.
_MOST_PATIENCE_S = 5.0
# A longer search waits for a model or reads much: the next one begins beside it.
_TURN_S = 1.0
_LOOK_S = 0.25


class FirstWords:
    """Counts the questions whose sources are being searched for, and gives each its turn.

    Searched for at once, a hundred end with the last; one after the other, half of them end in half
    of that time, and none later. Checks of claims take as much of the processor as a search, so
    they wait: nobody needs them as somebody needs the first words of an answer.
    """

    def __init__(self, at_once: int = 0) -> None:
        """So many are searched for `at_once`; 0 means as many as there are processors."""
        self._at_once = at_once or os.cpu_count() or 1
        self._searching = 0
        self._changed = threading.Condition()
        # Waiting turns in order of arrival, and when the turns under way began.
        self._waiting: deque[threading.Event] = deque()
        self._turns: dict[threading.Event, float] = {}

    @property
    def waiting(self) -> int:
        """The number of those who wait for their turn."""
        return len(self._waiting)

    def searching(
        self, events: Iterator[_T], is_cancelled: Callable[[], bool] = lambda: False
    ) -> Generator[_T]:
        """The events of an answer, begun in its turn and counted until its sources are found."""
        turn = self._begin(is_cancelled)
        is_over = False
        try:
            for event in events:
                if not is_over and isinstance(event, _FOUND):
                    is_over = True
                    self._end(turn)
                yield event
        finally:
            if not is_over:
                self._end(turn)

    def wait(self, is_cancelled: Callable[[], bool]) -> None:
        """Return when no question is searched for, when cancelled, or after a few seconds."""
        waited_s = 0.0
        with self._changed:
            while self._searching and waited_s < _MOST_PATIENCE_S and not is_cancelled():
                self._changed.wait(_LOOK_S)
                waited_s += _LOOK_S

    def _begin(self, is_cancelled: Callable[[], bool]) -> threading.Event:
        """Wait for a turn, or until the answer is cancelled."""
        turn = threading.Event()
        with self._changed:
            self._searching += 1
            self._waiting.append(turn)
        while not self._is_given(turn, is_lost=is_cancelled()):
            turn.wait(_LOOK_S)
            turn.clear()
        return turn

    def _is_given(self, turn: threading.Event, *, is_lost: bool) -> bool:
        with self._changed:
            since = time.monotonic() - _TURN_S
            has_place = sum(began > since for began in self._turns.values()) < self._at_once
            if not is_lost and (self._waiting[0] is not turn or not has_place):
                return False
            self._waiting.remove(turn)
            self._turns[turn] = time.monotonic()
            self._call_next()
            return True

    def _end(self, turn: threading.Event) -> None:
        with self._changed:
            del self._turns[turn]
            self._searching -= 1
            self._call_next()
            self._changed.notify_all()

    def _call_next(self) -> None:
        if self._waiting:
            self._waiting[0].set()


# A refusal of the endpoint is not the client's fault.
_BAD_GATEWAY = 502


class Answers:
    """Answers questions, checks the claims and finds follow-up questions, as the filters let it."""

    def __init__(self, chat: Chat, chain: FilterChain) -> None:
        self._chat = chat
        self._chain = chain
        self._first_words = FirstWords()

    def events(self, asked: Asked, cancel: Event) -> AnswerEvents:
        """The events of an answer; after AnswerDone it may change: its claims, its follow-ups.

        Refuses a question that can't be asked. An endpoint's failure is in the last message.
        """
        try:
            prepared = self._chain.prepared(asked)
            yield from self._chain.passed(prepared, self._answered(prepared, cancel))
        except AppError as error:
            raise Refusal.of_error(error) from error
        except Refusal as refusal:
            asked.caller.exchange.refusal = refusal.message
            raise

    def _passed_on(self, asked: Asked, passed: PassedOn, cancel: Event) -> AnswerEvents:
        """What a model of an endpoint answers to a conversation as it is."""
        model, heard = self._chat.models.main(asked.setup), HeardAnswer()
        assert model, "only models that are set have names"
        done = message_of(Role.ASSISTANT, "")
        try:
            for delta in model.stream(passed.turns, cancel, passed.tools, asked.setup.schema):
                heard.add(delta)
                if delta.status:
                    yield AnswerWaits(delta.status)
                elif delta.was_thinking:
                    yield AnswerRestated("", heard.thinking)
                elif delta.calls:
                    yield CallsMade(delta.calls)
                elif delta.is_thinking:
                    yield ThinkingDelta(delta.text)
                else:
                    yield TextDelta(delta.text)
        except AppError as error:
            done = replace(done, state=MessageState.FAILED, error_title=error.title,
                           error_hint=error.hint)  # fmt: skip
        yield AnswerDone(replace(done, text=heard.text, thinking=heard.thinking, model=model.name))

    def _answered(self, asked: Asked, cancel: Event) -> AnswerEvents:
        if passed := asked.passed:
            yield from self._passed_on(asked, passed, cancel)
            return
        with self._chat.attachments.held(asked.images) as attachments:
            *before, question = asked.messages
            messages = [*before, replace(question, attachments=attachments)]
            answered = self._chat.answer(messages, asked.setup, cancel=cancel)
            for event in self._first_words.searching(answered, cancel.is_set):
                yield event
                if isinstance(event, AnswerDone) and event.message.state is MessageState.DONE:
                    self._first_words.wait(cancel.is_set)
                    yield from self._chat.complete(
                        event.message, messages, asked.setup, cancel=cancel
                    )


def failure(done: AnswerDone | AnswerChanged) -> Refusal | None:
    """Why an answer failed, None if it did not."""
    message = done.message
    if message.state is not MessageState.FAILED:
        return None
    error = AppError(message.error_title, message.error_hint)
    if error.title == LIBRARY_AWAY:
        error = LibraryAwayError(error.hint)
    return Refusal.of_error(error, _BAD_GATEWAY, code="answer_failed")
