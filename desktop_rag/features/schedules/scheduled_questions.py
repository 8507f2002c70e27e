"""The person's scheduled questions: storing, changing and answering them. Worker threads only."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Event, Lock

from desktop_rag.answer.chat import Chat
from desktop_rag.core.answer_costs import CostlyError, estimate
from desktop_rag.core.conversation import Message
from desktop_rag.core.errors import AppError
from desktop_rag.features.schedules.background_answers import BackgroundAnswers
from desktop_rag.features.schedules.schedule_store import ScheduleStore
from desktop_rag.features.schedules.values.scheduled_question import (
    RUNS_KEPT,
    AnswerHasChanged,
    Rhythm,
    ScheduledQuestion,
    ScheduledRun,
    SchedulesChanged,
    ScheduleState,
    latest_occasion,
    retry_at,
    validated_question,
)

_OTHER_QUESTION = "Not compared: the question was another one before."
_OTHER_KIND = "Not compared: one of the two answers has excerpts only, without a model."


@dataclass(frozen=True, slots=True)
class Schedule:
    """A scheduled question with its state and its latest run, None before the first."""

    question: ScheduledQuestion
    state: ScheduleState
    last: ScheduledRun | None = None
    is_running: bool = False


class ScheduledQuestions:
    """Keeps scheduled questions and answers them, one at a time."""

    def __init__(
        self, store: ScheduleStore, chat: Chat, now: Callable[[], datetime] = datetime.now
    ) -> None:
        """`now` gives the local time."""
        self._store = store
        self._chat = chat
        self.answers = BackgroundAnswers(chat)
        self._now = now
        self._turn = Lock()
        self._running_id = ""
        self._publish = chat.changes.publish

    # --- the list ----------------------------------------------------------------------------

    def all(self) -> list[Schedule]:
        """All questions that are not deleted, by name."""
        running = self._running_id
        return [
            Schedule(question, state, self._latest(question), question.question_id == running)
            for question, state in self._store.all()
        ]

    def state_of(self, question_id: str) -> ScheduleState:
        """The state of a question; that of a new one when there is none of this id."""
        states = {question.question_id: state for question, state in self._store.all()}
        return states.get(question_id, ScheduleState())

    def find(self, name: str) -> Schedule:
        """The question of this name, ignoring case. AppError when there is none or several."""
        every = self.all()
        found = [s for s in every if s.question.name.casefold() == name.strip().casefold()]
        if len(found) == 1:
            return found[0]
        names = ", ".join(f"“{s.question.name}”" for s in every)
        hint = f"There are: {names}." if names else "Add one: desktop-rag schedule add"
        if found:
            raise AppError(f"There is more than one scheduled question “{name}”.", hint)
        raise AppError(f"There is no scheduled question “{name}”.", hint)

    def runs(self, question_id: str) -> list[ScheduledRun]:
        """The answers so far, the newest first."""
        return self._store.runs(question_id)

    def add(self, question: ScheduledQuestion, known: Message | None = None) -> ScheduledQuestion:
        """Store a new question; returns it with its id.

        With a `known` answer, that is the first run, and the question is asked at its next
        occasion; else it is due at once. AppError when it is not valid.
        """
        kept = validated_question(
            replace(question, question_id=uuid.uuid4().hex, changed_at=time.time())
        )
        self._store.put(kept)
        if known:
            self._store.add_run(self._run_of(kept, known), RUNS_KEPT)
            self._store.set_state(kept.question_id, ScheduleState(self.occasion(kept)))
        self._publish(SchedulesChanged())
        return kept

    def change(self, question: ScheduledQuestion) -> ScheduledQuestion:
        """Store a changed question, which waits for its next occasion. AppError when invalid."""
        kept = validated_question(replace(question, changed_at=time.time()))
        self._store.put(kept)
        self._store.set_state(kept.question_id, ScheduleState(self.occasion(kept)))
        self._publish(SchedulesChanged())
        return kept

    def set_paused(self, question: ScheduledQuestion, *, is_paused: bool) -> None:
        """Pause the schedule, or resume it; what was missed meanwhile is made up once."""
        self._store.put(replace(question, is_paused=is_paused, changed_at=time.time()))
        self._publish(SchedulesChanged())

    def delete(self, question_id: str) -> None:
        """Hide the question; it is removed with its history at the next start."""
        self._store.set_deleted(question_id, True)
        self._publish(SchedulesChanged())

    def restore(self, question_id: str) -> None:
        """Undo `delete`."""
        self._store.set_deleted(question_id, False)
        self._publish(SchedulesChanged())

    # --- answering ---------------------------------------------------------------------------

    def occasion(self, question: ScheduledQuestion) -> str:
        """The occasion that a run settles now."""
        if question.rhythm is Rhythm.ON_CHANGE:
            return self._chat.scopes.fingerprint(question.scope)
        return latest_occasion(question, self._now())

    def run(
        self, question: ScheduledQuestion, cancel: Event, *, has_consent: bool = False
    ) -> ScheduledRun:
        """Answer the question now, and store the answer with its changes.

        `has_consent` says that the person wants this run, whatever it costs. AppError, which the
        question then shows, when there is no answer or it may cost more than the person set. With
        nothing stored, InterruptedAnswer when the person kept asking, Cancelled after `cancel`.
        """
        with self._turn:
            self._show_running(question.question_id)
            occasion = self.occasion(question)
            try:
                if not has_consent:
                    self._check_cost(question)
                run = self._answered(question, cancel)
            except AppError as error:
                self._note_failure(question, occasion, error)
                raise
            finally:
                self._show_running("")
            return self._stored(question, run, occasion)

    def _check_cost(self, question: ScheduledQuestion) -> None:
        settings = self._chat.set_up(question.assistant_id).settings
        found = estimate(1, [self._chat.models.with_prices(settings)], ())
        if found.needs_consent:
            raise CostlyError(found)

    def _answered(self, question: ScheduledQuestion, cancel: Event) -> ScheduledRun:
        message = self.answers.answer(
            question.question, question.scope, question.assistant_id, cancel
        )
        run = self._run_of(question, message)
        before = self._latest(question)
        if before is None:
            return run
        if before.question != question.question:
            return replace(run, note=_OTHER_QUESTION)
        if before.is_excerpts != run.is_excerpts:
            return replace(run, note=_OTHER_KIND)
        return replace(run, compared=self.answers.compare(before.answer, run.answer))

    def _latest(self, question: ScheduledQuestion) -> ScheduledRun | None:
        return next(iter(self._store.runs(question.question_id)), None)

    def _run_of(self, question: ScheduledQuestion, answer: Message) -> ScheduledRun:
        cited = tuple(source for source in answer.sources if source.is_cited)
        return ScheduledRun(
            uuid.uuid4().hex, question.question_id, self._now().timestamp(), question.question,
            answer.text, answer.model, answer.is_excerpts, answer.seconds,
            cited or answer.sources,
        )  # fmt: skip

    def _stored(
        self, question: ScheduledQuestion, run: ScheduledRun, occasion: str
    ) -> ScheduledRun:
        if self._store.add_run(run, RUNS_KEPT):
            self._store.set_state(question.question_id, ScheduleState(occasion))
            self._publish(SchedulesChanged())
            if run.is_changed:
                self._publish(AnswerHasChanged(question, run))
        return run

    def _note_failure(self, question: ScheduledQuestion, occasion: str, error: AppError) -> None:
        failures, now = self.state_of(question.question_id).failures + 1, self._now()
        failed = ScheduleState(
            occasion, failures, now.timestamp(), retry_at(failures, now), error.title, error.hint
        )
        self._store.set_state(question.question_id, failed)

    def _show_running(self, question_id: str) -> None:
        self._running_id = question_id
        self._publish(SchedulesChanged())
