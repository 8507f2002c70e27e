"""Asks scheduled questions when they are due. Owns one thread, which checks twice a minute.

A run is the least urgent work of the app: it waits for indexing, for half an hour at most, and the
person's own questions interrupt it.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from desktop_rag.core.errors import AppError, Cancelled, InterruptedAnswer, PassingError
from desktop_rag.core.library_events import DocumentsChanged
from desktop_rag.features.schedules.scheduled_questions import Schedule, ScheduledQuestions
from desktop_rag.features.schedules.values.scheduled_question import (
    Rhythm,
    ScheduledQuestion,
    is_due,
)
from desktop_rag.ingest.library import Library

log = logging.getLogger(__name__)

_LOOK_S = 30.0
# Documents are at rest when they stayed the same for so long.
_AT_REST = timedelta(seconds=60)
_MOST_WAIT_FOR_INDEXING = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The fingerprint of a question's documents after `changes` of the library."""

    changes: int
    question: ScheduledQuestion
    fingerprint: str
    since: datetime


class ScheduleRunner:
    """Runs what is due, one question at a time, and what the person asks for at once."""

    def __init__(
        self,
        questions: ScheduledQuestions,
        library: Library,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        """`now` gives the local time."""
        self._questions = questions
        self._library = library
        self._now = now
        self._wanted: list[str] = []
        self._due_since: dict[str, datetime] = {}
        self._seen: dict[str, _Seen] = {}
        self._changes = 0
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="schedule", daemon=True)
        self._stop_hearing = library.changes.hear(DocumentsChanged, self._on_documents_changed)

    def start(self) -> None:
        """Begin to check what is due."""
        self._thread.start()

    def close(self) -> None:
        """Stop, giving up the run under way, which is due again. Idempotent."""
        self._closing.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()
        self._stop_hearing()

    def run_soon(self, question_id: str) -> None:
        """Ask this question next, whatever its schedule. Any thread."""
        with self._lock:
            self._wanted.append(question_id)
        self.wake()

    def wake(self) -> None:
        """Check at once. Cheap; any thread."""
        self._woken.set()

    def check(self) -> None:
        """Run what the person asked for and what is due. One thread at a time."""
        with self._lock:
            wanted, self._wanted = self._wanted, []
        for schedule in self._questions.all():
            if self._closing.is_set():
                return
            question = schedule.question
            is_wanted = question.question_id in wanted
            if is_wanted or self._is_due_now(schedule):
                self._run(question, has_consent=is_wanted)

    def _run(self, question: ScheduledQuestion, *, has_consent: bool) -> None:
        self._due_since.pop(question.question_id, None)
        try:
            self._questions.run(question, self._closing, has_consent=has_consent)
        except AppError as error:
            log.info("a scheduled question was not answered: %s", error.title)
        except InterruptedAnswer:
            log.info("a scheduled question gave way to others")
        except Cancelled:
            log.info("a scheduled question was cut short")

    def _is_due_now(self, schedule: Schedule) -> bool:
        question = schedule.question
        fingerprint = ""
        if question.rhythm is Rhythm.ON_CHANGE:
            fingerprint = self._fingerprint_at_rest(question)
        if not is_due(question, schedule.state, self._now(), fingerprint):
            self._due_since.pop(question.question_id, None)
            return False
        since = self._due_since.setdefault(question.question_id, self._now())
        waited = abs(self._now() - since)
        return self._library.indexing.is_idle or waited >= _MOST_WAIT_FOR_INDEXING

    def _fingerprint_at_rest(self, question: ScheduledQuestion) -> str:
        """The fingerprint of its documents; "" while they change."""
        if not self._library.indexing.is_idle:
            return ""
        now, changes = self._now(), self._changes
        seen = self._seen.get(question.question_id)
        # A shared library that was away when it was asked may be there now.
        is_known = (
            seen and seen.fingerprint and (seen.changes, seen.question) == (changes, question)
        )
        if seen is None or not is_known:
            found = self._questions.occasion(question)
            since = seen.since if seen and seen.fingerprint == found else now
            seen = self._seen[question.question_id] = _Seen(changes, question, found, since)
        return seen.fingerprint if abs(now - seen.since) >= _AT_REST else ""

    def _on_documents_changed(self, _event: DocumentsChanged) -> None:
        self._changes += 1

    def _work(self) -> None:
        # Not at once: the start is the person's, and folders are looked through first.
        while not self._closing.is_set():
            self._woken.wait(_LOOK_S)
            self._woken.clear()
            try:
                self.check()
            except PassingError as error:
                log.info("schedules are looked at again later: %s", error.title)
