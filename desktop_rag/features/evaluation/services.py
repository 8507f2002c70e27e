"""Answers the questions of runs while the app is open, one at a time.

Owns one thread, or uses the caller's.

Each answer is stored before the next question is asked, so that a run goes on where it was after a
crash. An answer to the person comes first and interrupts one that is made here.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

from desktop_rag.app import Services, build_services
from desktop_rag.core.errors import AppError, Cancelled, InterruptedAnswer, PassingError
from desktop_rag.features.evaluation.experiments.answerer import Answerer, answering
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.experiments.experiments import Experiments
from desktop_rag.features.evaluation.values.run import (
    Run,
    RunAnswer,
    RunState,
    RunWentOn,
    SetQuestion,
    SetsChanged,
)
from desktop_rag.registry import WingServices
from desktop_rag.scratch_library import scratch_library

log = logging.getLogger(__name__)

# After so many failures in a row for one reason the run waits for the person.
_MOST_FAILURES = 3
_GAVE_WAY_S = 2.0
_AGAIN_S = 10.0


class EvaluationServices(WingServices):
    """Works through the runs of `experiments` that wait, the oldest first."""

    def __init__(self, services: Services) -> None:
        chat, store = services.chat, services.engine.store(ExperimentStore)
        self.experiments = Experiments(store, chat, services.library)
        self._store = store
        self._chat = chat
        self._library = services.library
        self._open_scratch = partial(scratch_library, build_services, services.home)
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="experiments", daemon=True)
        self._stop_hearing = chat.changes.hear(SetsChanged, self._on_sets_changed)

    def start(self) -> None:
        """Go on with the runs that wait, and with those to come. Idempotent."""
        if self._thread.ident is None:
            self._thread.start()

    def close(self) -> None:
        """Give up the answer under way; its question is asked at the next start. Idempotent."""
        self._closing.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()
        self._stop_hearing()

    def work_off(self, is_mine: Callable[[Run], bool] = lambda _: True) -> None:
        """Answer until no such run waits. One thread at a time."""
        while not self._closing.is_set():
            waiting = [
                r for r in self._store.all(Run) if r.state is RunState.WAITING and is_mine(r)
            ]
            if not waiting:
                return
            self._go_on(waiting[0])

    def _go_on(self, run: Run) -> None:
        cancel = _PausedOrClosing(self._closing, lambda: self._is_waiting(run.run_id))
        try:
            with answering(
                self._chat, self._library, self._open_scratch, run,
                lambda doing: self._tell(run, doing), cancel,
            ) as answerer:  # fmt: skip
                if not run.settings:
                    if not self._is_waiting(run.run_id):
                        return  # paused while the documents were indexed
                    settings = asdict(answerer.setup.settings)
                    run = replace(run, settings=settings, figures=answerer.figures)
                    self._store.put(run)
                self._answer_all(run, answerer, cancel)
        except Cancelled:
            log.info("a run was interrupted")
        except AppError as error:
            self._end(run, RunState.FAILED, error.title, error.hint)

    def _answer_all(self, run: Run, answerer: Answerer, cancel: threading.Event) -> None:
        failures = 0
        for question in _pending(run, self._store.all(RunAnswer, run.run_id)):
            if cancel.is_set():
                return
            answer = self._answered(run, question, answerer, cancel)
            if not self._store.put(answer):
                return
            self._tell(run)
            failures = failures + 1 if answer.has_failed else 0
            if failures >= _MOST_FAILURES:
                self._end(run, RunState.PAUSED, answer.error_title, answer.error_hint)
                return
        if not cancel.is_set():
            self._end(run, RunState.DONE)

    def _answered(
        self, run: Run, question: SetQuestion, answerer: Answerer, cancel: threading.Event
    ) -> RunAnswer:
        while True:
            try:
                return answerer.answer(run, question, cancel)
            except InterruptedAnswer:
                # The person keeps asking: it is their turn.
                if cancel.wait(_GAVE_WAY_S):
                    raise Cancelled from None

    def _end(self, run: Run, state: RunState, title: str = "", hint: str = "") -> None:
        ended = replace(run, state=state, error_title=title, error_hint=hint)
        if self._is_waiting(run.run_id):
            self._store.put(ended)
        self.experiments.publish(SetsChanged())

    def _is_waiting(self, run_id: str) -> bool:
        run = self._store.get(Run, run_id)
        return run is not None and run.state is RunState.WAITING

    def _tell(self, run: Run, doing: str = "") -> None:
        answered = len(self._store.all(RunAnswer, run.run_id))
        total = len(run.questions)
        self.experiments.publish(RunWentOn(run.run_id, run.set_id, answered, total, doing))

    def _on_sets_changed(self, _event: SetsChanged) -> None:
        self._woken.set()

    def _work(self) -> None:
        while not self._closing.is_set():
            wait_s = None
            try:
                self.work_off()
            except PassingError as error:
                log.info("runs are looked at again later: %s", error.title)
                wait_s = _AGAIN_S
            self._woken.wait(wait_s)
            self._woken.clear()


class _PausedOrClosing(threading.Event):
    """Set once the app ends or the run no longer waits; looked up once a second at most."""

    def __init__(self, closing: threading.Event, may_go_on: Callable[[], bool]) -> None:
        super().__init__()
        self._closing_event = closing
        self._may_go_on = may_go_on
        self._looked_at = 0.0

    def is_set(self) -> bool:
        if self._closing_event.is_set():
            return True
        if not super().is_set() and time.monotonic() - self._looked_at > 1.0:
            self._looked_at = time.monotonic()
            if not self._may_go_on():
                self.set()
        return super().is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._closing_event.wait(timeout) or self.is_set()


def _pending(run: Run, answers: list[RunAnswer]) -> list[SetQuestion]:
    """The questions without an answer, and those that failed before the person resumed."""
    settled = {
        answer.question_id
        for answer in answers
        if not (answer.has_failed and answer.answered_at < run.resumed_at)
    }
    return [question for question in run.questions if question.question_id not in settled]
