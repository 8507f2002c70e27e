"""Keeps what is shown of an answer while it is written, and makes a message of it after a crash.

A thread of its own saves ("answer-keeper"), so that the answer never waits for the disk, and the
last words are saved although the model falls silent after them.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from desktop_rag.answer.conversations.conversation_file import message_from_json, message_to_json
from desktop_rag.answer.writing.answers import AnswerDraft
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerRestated,
    Message,
    MessageState,
    Role,
    SourceRef,
    SourcesFound,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.records import UnfinishedAnswer, UnfinishedAnswerStore

log = logging.getLogger(__name__)

T = TypeVar("T")

# What was shown two seconds ago is on the disk: half a second is left for the write.
_EVERY_S = 1.5
_TITLE = "This answer was cut off."
_HINT = "The app ended while it was being written. Retry writes it again."


@dataclass(frozen=True, slots=True)
class AnswerStart:
    """What is known of an answer before its first word; `replaces` is the id of a former one.

    Nothing is saved of one that is not `is_kept`.
    """

    conversation_id: str
    model: str
    is_open: bool
    replaces: str = ""
    scope: QuestionScope = ALL_DOCUMENTS
    is_kept: bool = True


class AnswerKeeper:
    """Saves one answer as it grows: each word once, never more than a moment late.

    `is_stored` is set once the finished answer is stored as a message with `answer_id`.
    """

    def __init__(self, store: UnfinishedAnswerStore, start: AnswerStart, every_s: float) -> None:
        self.answer_id = uuid.uuid4().hex
        self.is_stored = False
        self._store = store
        self._start = start
        self._every_s = every_s
        self._changed = threading.Condition()
        self._shown = Message(
            "", "", Role.ASSISTANT, "", time.time(), model=start.model, scope=start.scope
        )
        self._is_about_saved = False
        self._is_restated = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def noting(self, events: Generator[AnswerEvent, None, T]) -> Generator[AnswerEvent, None, T]:
        """The same events and result, with what each event shows kept. On the answering thread."""
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return end.value
            self.note(event)
            yield event

    def note(self, event: AnswerEvent) -> None:
        """Keep what the event shows; cheap."""
        with self._changed:
            match event:
                case SourcesFound():
                    self._shown = replace(
                        self._shown,
                        sources=event.sources,
                        notes=event.notes,
                        is_own_knowledge=event.is_own_knowledge,
                    )
                    self._is_about_saved = False
                case TextDelta():
                    self._text.append(event.text)
                case ThinkingDelta():
                    self._thinking.append(event.text)
                case AnswerRestated():
                    self._text, self._thinking = [event.text], [event.thinking]
                    self._is_restated = True
                case _:
                    return
            self._changed.notify_all()
            if self._start.is_kept and self._thread is None and self._has_news():
                self._thread = threading.Thread(target=self._run, name="answer-keeper", daemon=True)
                self._thread.start()

    def finish(self) -> None:
        """Stop saving. An answer that is stored needs nothing more; another one is saved whole."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is None:
            return
        self._thread.join()
        try:
            if self.is_stored:
                self._store.remove(self.answer_id)
            else:
                self._save()
        except AppError as error:
            log.info("an unfinished answer was left as it is: %s", error.title)

    def _has_news(self) -> bool:
        return bool(self._text or self._thinking)

    def _run(self) -> None:
        while self._is_due():
            with suppress(AppError):  # tried again with the next words, and at the end
                self._save()

    def _is_due(self) -> bool:
        """Wait for words, then for the next save; False when the answer is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._has_news())
            self._changed.wait_for(lambda: self._is_closed, self._every_s)
            return not self._is_closed

    def _save(self) -> None:
        with self._changed:
            text, thinking = self._text, self._thinking
            shown = None if self._is_about_saved else self._shown
            is_restated, self._is_restated = self._is_restated, False
            self._text, self._thinking, self._is_about_saved = [], [], True
        if not (text or thinking):
            return
        about = None if shown is None else _about(self._start, shown)
        try:
            self._store.append(
                self.answer_id,
                about=about,
                text="".join(text),
                thinking="".join(thinking),
                is_restated=is_restated,
            )
        except AppError:
            with self._changed:
                if not self._is_restated:
                    self._text[:0], self._thinking[:0] = text, thinking
                self._is_restated = self._is_restated or is_restated
                self._is_about_saved = self._is_about_saved and shown is None
            raise


class UnfinishedAnswers:
    """The answers that are being written, and those that a crash has cut."""

    def __init__(
        self,
        engine: Engine,
        located: Callable[[Sequence[SourceRef]], tuple[SourceRef, ...]],
        every_s: float = _EVERY_S,
    ) -> None:
        """`located` gives sources the exact places of their quotes."""
        self._store = engine.unfinished
        self._conversations = engine.conversations
        self._located = located
        self._every_s = every_s

    @contextmanager
    def keeping(self, start: AnswerStart) -> Generator[AnswerKeeper]:
        """Save an answer until the end of the context.

        When it is not stored by then, as it was given up or the disk is full, what was shown stays
        saved for the next start.
        """
        keeper = AnswerKeeper(self._store, start, self._every_s)
        try:
            yield keeper
        finally:
            keeper.finish()

    def store_cut_ones(self) -> None:
        """Make messages of what crashes have left. For the start, before any answer."""
        try:
            for unfinished in self._store.all():
                self._store_cut(unfinished)
                self._store.remove(unfinished.answer_id)
        except AppError as error:
            log.info("cut answers are left for the next start: %s", error.title)

    def _store_cut(self, unfinished: UnfinishedAnswer) -> None:
        try:
            cut, replaces = _cut_message(unfinished)
            self._conversations.get(cut.conversation_id)
        except (KeyError, TypeError, ValueError) as exc:
            log.info("an unfinished answer belongs to no chat: %s", type(exc).__name__)
            return
        present = {m.message_id: m for m in self._conversations.messages(cut.conversation_id)}
        if cut.message_id in present:
            return  # it was stored whole in the last moment
        cut = replace(cut, sources=self._located(cut.sources))
        former = present.get(replaces)
        # A whole answer is worth more than the beginning of another one: both stay.
        if former and former.state is not MessageState.DONE:
            self._conversations.replace_message(replaces, cut)
        else:
            self._conversations.add_message(cut)


def _about(start: AnswerStart, shown: Message) -> dict[str, Any]:
    return {
        "conversation_id": start.conversation_id,
        "replaces": start.replaces,
        "is_open": start.is_open,
        "message": message_to_json(shown),
    }


def _cut_message(unfinished: UnfinishedAnswer) -> tuple[Message, str]:
    """The message, and the id of the answer that it was to replace."""
    about = unfinished.about
    shown = message_from_json(about["message"])
    draft = AnswerDraft(
        about["conversation_id"],
        model=shown.model,
        is_open=about["is_open"],
        is_own_knowledge=shown.is_own_knowledge,
        text=unfinished.text,
        thinking=unfinished.thinking,
        sources=shown.sources,
        notes=shown.notes,
        scope=shown.scope,
    )
    made = draft.message(MessageState.CUT, _TITLE, _HINT)
    cut = replace(made, message_id=unfinished.answer_id, created_at=shown.created_at, seconds=0.0)
    return cut, about["replaces"]
