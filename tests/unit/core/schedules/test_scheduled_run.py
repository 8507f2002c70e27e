"""Runs as rows, also those of earlier versions."""

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.schedules.values.scheduled_question import (
    ComparedSentence,
    ScheduledRun,
    SentenceChange,
)

SOURCE = SourceRef(1, "d", "/a.md", "A", Anchor(page=2), "At dusk.", 1.0, is_cited=True)
SENTENCE = ComparedSentence(SentenceChange.CHANGED, "At dusk.", "At noon.", (1,))
RUN = ScheduledRun("r", "q", 1.0, "When?", "At dusk [1].", sources=(SOURCE,), compared=(SENTENCE,))


def test_a_run_comes_back_equal() -> None:
    assert ScheduledRun.from_json(RUN.to_json()) == RUN


def test_a_run_of_an_earlier_version_has_sentences_without_numbers() -> None:
    row = RUN.to_json()
    for sentence in row["compared"]:
        del sentence["numbers"]
    assert ScheduledRun.from_json(row).compared[0].numbers == ()
