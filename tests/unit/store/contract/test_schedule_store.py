from dataclasses import replace

import pytest

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.question_scope import QuestionScope, ScopeItem, ScopeKind
from desktop_rag.features.schedules.schedule_store import ScheduleStore
from desktop_rag.features.schedules.values.scheduled_question import (
    ComparedSentence,
    Rhythm,
    ScheduledQuestion,
    ScheduledRun,
    ScheduleState,
    SentenceChange,
)
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from tests.stored_rows import put, remove, wait_again

SCOPE = QuestionScope.of(ScopeItem(ScopeKind.FOLDER, "/docs/sea", "sea"))
TIDES = ScheduledQuestion("t", "tides", "When is high tide?")
LAMPS = ScheduledQuestion(
    "l", "Lamps “&” <b>", "Wann brennt die 漢?\nGenau.", Rhythm.WEEKLY, 510, 6, SCOPE, "a", True,
    7.5,
)  # fmt: skip
SOURCE = SourceRef(
    1, "d", "/docs/a.md", "A", Anchor(heading="Fees", line=3), "Lit at dusk.", 0.5, "dusk", 7, 11,
    is_cited=True, also_in=("/docs/b.md",),
)  # fmt: skip
RUN = ScheduledRun(
    "r1", "l", 5.0, "When?", "At dusk [1].", "m", True, 1.5, (SOURCE,),
    (ComparedSentence(SentenceChange.CHANGED, "At dusk.", "At dawn."),), "Note.",
)  # fmt: skip


@pytest.fixture
def store(engine: Engine) -> ScheduleStore:
    return engine.store(ScheduleStore)


def test_questions_come_back_equal_by_name(store: ScheduleStore) -> None:
    assert store.all() == []
    store.put(TIDES)
    store.put(LAMPS)
    assert store.all() == [(LAMPS, ScheduleState()), (TIDES, ScheduleState())]


def test_a_changed_question_keeps_its_state_and_runs(store: ScheduleStore) -> None:
    state = ScheduleState("2026-11-23 08:00", 2, 3.5, 4.5, "No", "Try")
    store.put(LAMPS)
    store.set_state("l", state)
    store.add_run(RUN, 5)
    changed = replace(LAMPS, question="Where?", is_paused=False)
    store.put(changed)
    assert store.all() == [(changed, state)]
    assert store.runs("l") == [RUN]


def test_the_newest_runs_are_kept(store: ScheduleStore) -> None:
    store.put(LAMPS)
    store.put(TIDES)
    other = replace(RUN, run_id="other", question_id="t")
    assert store.add_run(other, 3)
    for number in range(5):
        # After the clock was set back, a later run has an earlier time.
        store.add_run(replace(RUN, run_id=f"r{number}", ran_at=100.0 - number), 3)
    assert [run.run_id for run in store.runs("l")] == ["r4", "r3", "r2"]
    assert store.runs("t") == [other]


def test_deleting_can_be_undone_until_it_is_purged(store: ScheduleStore) -> None:
    store.put(LAMPS)
    store.add_run(RUN, 5)
    store.set_deleted("l", True)
    assert store.all() == []
    store.set_deleted("l", False)
    assert store.all() == [(LAMPS, ScheduleState())]
    assert store.runs("l") == [RUN]
    store.set_deleted("l", True)
    store.purge_deleted()
    store.set_deleted("l", False)
    assert (store.all(), store.runs("l")) == ([], [])


def test_a_question_that_is_gone_gets_no_run_and_no_state(store: ScheduleStore) -> None:
    assert not store.add_run(RUN, 5)
    store.set_state("l", ScheduleState("x"))
    assert (store.all(), store.runs("l")) == ([], [])


@pytest.mark.slow
def test_the_fingerprint_tells_of_every_change_in_scope(engine: Engine) -> None:
    def in_sea() -> str:
        item = ScopeItem(ScopeKind.FOLDER, "/docs/sea", "sea")
        return engine.names.fingerprint(Scope(about=(item,)))

    empty = in_sea()
    assert empty
    put(engine, "sea/a.md", "Lit at dusk.")
    one = in_sea()
    whole = engine.names.fingerprint(EVERYWHERE)
    put(engine, "land/b.md", "A field.")
    assert in_sea() == one
    assert engine.names.fingerprint(EVERYWHERE) != whole
    put(engine, "sea/c.md", "A buoy.")
    assert len({empty, one, in_sea()}) == 3
    remove(engine, "sea/c.md")
    assert in_sea() == one
    wait_again(engine, "sea/a.md")
    assert in_sea() == one
