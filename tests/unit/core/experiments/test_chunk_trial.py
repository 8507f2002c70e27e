"""What passages say of a known place, why a place was missed, and what is advised."""

from collections.abc import Sequence

import pytest

from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Anchor, Chunk, ChunkSettings
from desktop_rag.features.evaluation.values.chunk_advice import advice, comparison_json, why, worth
from desktop_rag.features.evaluation.values.chunk_trial import (
    ChunkComparison,
    ChunkTrial,
    MissReason,
    Place,
    QuestionOrigin,
    Retrieved,
    TrialQuestion,
    answer_span,
    retrieved,
)

TEXT = "The lamp is lit at dusk. The keeper sleeps by day. The ferry leaves at noon."
QUESTION = TrialQuestion("q", "When is the lamp lit?", "/sea.md", "At dusk the lamp is lit.")
SPAN = (0, 24)
PLACE = Place("sea", *SPAN, TEXT[:24])


def passage(start: int, end: int, document: str = "sea") -> Passage:
    text = TEXT[start:end] if document == "sea" else "Something else entirely."
    return Passage(1, document, f"/{document}.md", document, text, Anchor(), start, end, 1.0)


def chunk(start: int, end: int) -> Chunk:
    return Chunk(0, start, end, TEXT[start:end], Anchor(), "", "")


def judged(
    found: Sequence[Passage], chunks: Sequence[Chunk], passages: int = 2, tokens: int = 1000
) -> Retrieved:
    return retrieved(QUESTION, PLACE, found, chunks, passages=passages, tokens=tokens)


def test_the_sentence_that_answers_is_found_by_its_words() -> None:
    assert answer_span(TEXT, "At dusk the lamp is lit.") == SPAN
    assert answer_span(TEXT, "Nobody knows anything about whales.") is None


WHOLE, HALVES = [chunk(0, 50)], [chunk(0, 12), chunk(12, 50)]
OTHER = passage(0, 24, "land")


@pytest.mark.parametrize(
    ("found", "chunks", "rank", "reason"),
    [
        ([passage(0, 50)], WHOLE, 1, MissReason.NONE),
        ([OTHER, passage(0, 50)], WHOLE, 2, MissReason.NONE),
        ([passage(12, 50), passage(0, 12)], HALVES, 1, MissReason.NONE),
        ([passage(12, 50), OTHER, passage(0, 12)], HALVES, 1, MissReason.SPLIT),
        ([OTHER, OTHER, passage(0, 50)], WHOLE, 3, MissReason.LATER),
        ([], WHOLE, 0, MissReason.LATER),
        ([], [chunk(50, 76)], 0, MissReason.WORDS),
    ],
)
def test_a_place_counts_when_an_answer_would_have_all_of_it(
    found: Sequence[Passage], chunks: Sequence[Chunk], rank: int, reason: MissReason
) -> None:
    seen = judged(found, chunks)
    assert (seen.rank, seen.reason) == (rank, reason)
    assert seen.is_found == (reason is MissReason.NONE)


def test_passages_beyond_the_tokens_of_an_answer_are_not_counted() -> None:
    found = [OTHER, passage(0, 50)]
    assert judged(found, WHOLE, tokens=1000).is_found
    assert not judged(found, WHOLE, tokens=8).is_found


def test_without_a_known_sentence_any_passage_of_the_document_counts() -> None:
    seen = retrieved(QUESTION, Place("sea"), [passage(50, 76)], [], passages=1, tokens=1)
    assert seen.is_found
    gone = retrieved(QUESTION, Place(), [], [], passages=1, tokens=1)
    assert why(gone) == "its document could not be read, or is gone"


def test_a_miss_is_explained_in_plain_words() -> None:
    assert why(judged([passage(12, 50)], HALVES)) == "the answer is split across 2 chunks"
    late = judged([OTHER, OTHER, passage(0, 50)], WHOLE)
    assert why(late) == "the right passage was number 3; first came land"
    other = judged([], [chunk(50, 76)])
    assert why(other).startswith("the right passage was not among the first 50; it has 20 % of")


def comparison(*counts: int, of: int = 40) -> ChunkComparison:
    """Settings that find the first so many of the questions."""
    questions = tuple(TrialQuestion(str(n), "q", "/a") for n in range(of))
    trials = tuple(
        ChunkTrial(
            ChunkSettings(max_tokens=10 * number),
            100,
            tuple(Retrieved(str(n), n < count, int(n < count)) for n in range(of)),
        )
        for number, count in enumerate(counts)
    )
    return ChunkComparison("c", "s", "Sea", 0.0, questions, trials, left_out=2)


def test_a_clear_difference_is_advised_and_a_small_one_with_its_doubt() -> None:
    clear = advice(comparison(20, 18, 36))
    assert (clear.is_change, clear.is_sure, clear.chunking.max_tokens) == (True, True, 20)
    words = "finds 36 of 40 answers here, the present chunks 20: 40 % of the questions more."
    assert words in clear.words
    small = advice(comparison(20, 22))
    assert (small.is_change, small.is_sure) == (True, False)
    assert "It may be chance" in small.words


def test_more_settings_tried_need_a_clearer_difference() -> None:
    assert advice(comparison(20, 26)).is_sure
    assert not advice(comparison(20, 26, 20, 20)).is_sure


def test_the_present_chunks_stay_where_nothing_finds_more() -> None:
    kept = advice(comparison(30, 30, 29))
    assert (kept.is_change, kept.chunking.max_tokens) == (False, 0)
    assert kept.words.startswith("Keep the present chunks: they find 30 of 40 answers")


def test_what_questions_are_worth_is_said() -> None:
    compared = comparison(30, 30)
    assert "2 questions were left out" in worth(compared)
    made = TrialQuestion("q", "t", "/a", origin=QuestionOrigin.TEXT)
    alone = ChunkComparison("c", "s", "Sea", 0.0, (made,), compared.trials)
    assert "without a model" in worth(alone)


def test_the_worst_come_first_in_the_document() -> None:
    shown = comparison_json(comparison(30, 36))
    assert len(shown["worst"]) == 10
    assert {row["found"] for row in shown["worst"]} == {False}
    assert [row["found"] for row in shown["settings"]] == [30, 36]
