"""Progress in words: what happens now, how far it is, what follows, and for how long."""

from dataclasses import replace

import pytest

from desktop_rag.activity.activity_event import ActivityEvent, EventKind, IndexChange
from desktop_rag.activity.event_wording import kind_of, title_of
from desktop_rag.core.language.translation import in_english, use_language
from desktop_rag.core.library_events import IndexProgress, Stage, StepProgress
from desktop_rag.progress_words import (
    duration_left,
    headline,
    overall_percent,
    percent,
    progress_line,
    steps_in_words,
)

READING = StepProgress(Stage.READING, files_total=2116, files_done=306, seconds_left=80)
MEANING = StepProgress(Stage.EMBEDDING, seconds_left=540)
REFINING = StepProgress(Stage.REFINING, seconds_left=30)
RUN = IndexProgress(
    Stage.READING, 2116, 306, "notes.md", 0.1, 650, steps=(READING, MEANING, REFINING)
)
LATER = IndexProgress(
    Stage.EMBEDDING, 2116, 12, fraction=0.4, seconds_left=570,
    steps=(
        StepProgress(Stage.READING, True, 2116, 2116, 0),
        StepProgress(Stage.EMBEDDING, False, 2116, 12, 540),
        REFINING,
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (IndexProgress(Stage.STARTING), "Opening the library"),
        (IndexProgress(), "No documents yet"),
        (IndexProgress(files_total=1), "1 file, up to date"),
        (IndexProgress(files_total=118, files_unread=14), "118 files, 14 not read"),
        (IndexProgress(Stage.SCANNING), "Looking for changes"),
        (IndexProgress(Stage.SCANNING, 1998, 1998), "Looking for changes · 1,998 files"),
        (
            RUN,
            (
                "Reading files · 306 of 2,116 files · about 1 min left"
                " · then search by meaning, about 9 min · then long passages, less than a minute"
            ),
        ),
        (
            LATER,
            (
                "Searchable by words. Preparing search by meaning · 12 of 2,116 files"
                " · about 9 min left · then long passages, less than a minute"
            ),
        ),
    ],
)
def test_a_line_says_what_happens_and_what_follows(progress: IndexProgress, line: str) -> None:
    assert progress_line(progress) == line


def test_before_the_pace_is_known_the_steps_are_named_without_times() -> None:
    steps = tuple(replace(step, seconds_left=None) for step in RUN.steps)
    at_first = IndexProgress(Stage.READING, 2116, 0, fraction=0.0, steps=steps)
    line = "Reading files · 306 of 2,116 files · then search by meaning · then long passages"
    assert progress_line(at_first) == line
    assert steps_in_words(at_first)[1:] == ["Search by meaning", "Long passages"]


def test_a_terminal_is_told_in_english_whatever_the_window_speaks() -> None:
    event = ActivityEvent(1.0, EventKind.INDEX, subject="papers", detail=IndexChange.READ)
    use_language(lambda text: f"<{text}>")
    try:
        assert headline(RUN) == "<Reading files>"
        assert steps_in_words(RUN)[2].startswith("<Long passages>")
        assert (title_of(event), kind_of(event)) == ("papers <was read>", "<Index>")
        with in_english():
            assert progress_line(RUN).startswith("Reading files · 306 of 2,116 files · about 1 min")
            assert (title_of(event), kind_of(event)) == ("papers was read", "Index")
    finally:
        use_language(None)


def test_only_times_that_are_known_are_told() -> None:
    steps = (READING, replace(MEANING, seconds_left=None))
    line = "Reading files · 306 of 2,116 files · about 1 min left · then search by meaning"
    assert progress_line(IndexProgress(Stage.READING, 2116, 306, steps=steps)) == line


def test_what_ends_soon_needs_no_times_of_its_steps() -> None:
    soon = IndexProgress(Stage.READING, 2116, 306, "", 0.1, 50, RUN.steps)
    line = "Reading files · 306 of 2,116 files · less than a minute left"
    assert progress_line(soon) == line


def test_a_pause_promises_no_time() -> None:
    paused = IndexProgress(Stage.PAUSED, 2116, 306, "a", 0.1, 650, RUN.steps)
    assert progress_line(paused) == "Indexing is paused · 306 of 2,116 files"


def test_every_step_has_its_count_or_its_time() -> None:
    assert steps_in_words(RUN) == [
        "Reading: 306 of 2,116 files",
        "Search by meaning: about 9 min",
        "Long passages: less than a minute",
    ]
    assert steps_in_words(LATER)[:2] == [
        "Reading: 2,116 of 2,116 files",
        "Search by meaning: 12 of 2,116 files",
    ]
    assert headline(IndexProgress(files_total=3)) == "Up to date"
    assert overall_percent(RUN) == "10.0% overall"


@pytest.mark.parametrize(
    ("fraction", "words"),
    [(0.0, "0.0%"), (0.4371, "43.7%"), (0.99999, "99.9%"), (1.0, "100.0%"), (1.2, "100.0%")],
)
def test_percent_has_decimals_and_is_never_full_too_early(fraction: float, words: str) -> None:
    assert percent(fraction) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (12, "less than a minute left"),
        (120, "about 2 min left"),
        (3600, "about 1 h left"),
        (5460, "about 1 h 31 min left"),
    ],
)
def test_duration_left(seconds: float | None, words: str) -> None:
    assert duration_left(seconds) == words
