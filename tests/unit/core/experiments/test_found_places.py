"""What passages say of a known place, why a place was missed, and how settings are compared."""

from collections.abc import Sequence

import pytest

from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Anchor, Chunk, ChunkSettings
from desktop_rag.features.evaluation.cli.run_verbs import chunk_lines, worst
from desktop_rag.features.evaluation.values.found_places import (
    MissReason,
    Place,
    Retrieved,
    answer_span,
    in_words,
    retrieved,
    why,
    worth,
)
from desktop_rag.features.evaluation.values.paired_comparison import Outcome
from desktop_rag.features.evaluation.values.run import (
    FROM_TEXT,
    SEARCH,
    Run,
    RunAnswer,
    SetQuestion,
    SetUp,
)
from desktop_rag.features.evaluation.values.run_summary import compared_with_first, summary
from desktop_rag.features.evaluation.values.scoring import RunScores, scored

TEXT = "The lamp is lit at dusk. The keeper sleeps by day. The ferry leaves at noon."
QUESTION = SetQuestion("q", "When is the lamp lit?", ("At dusk the lamp is lit.",))
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


def runs(*counts: int, of: int = 40, left_out: int = 0) -> list[RunScores]:
    """Runs that find the first so many of the questions; of those left out nothing is known."""
    questions = tuple(SetQuestion(str(n), f"q{n}", ("At dusk.",)) for n in range(of + left_out))
    found: list[RunScores] = []
    for number, count in enumerate(counts):
        chunking = ChunkSettings(max_tokens=10 * number)
        up = SetUp(in_words(chunking), chunking=chunking, only_searches=True)
        run = Run(f"r{number}", "s", 1, up, questions, 0.0, kind=SEARCH)
        answers = [
            RunAnswer(f"r{number}-{n}", run.run_id, str(n), "At dusk.", 0.0,
                      measured=float(n < count), rows=({"rank": int(n < count)},))
            for n in range(of)
        ]  # fmt: skip
        answers += [
            RunAnswer(f"r{number}-{of + n}", run.run_id, str(of + n), "At dusk.", 0.0)
            for n in range(left_out)
        ]
        found.append(scored(run, answers, ()))
    return found


def test_the_best_comes_first_and_a_small_difference_has_its_doubt() -> None:
    best, other = compared_with_first(runs(20, 18, 36), ())
    assert (best.outcome, other.outcome) == (Outcome.BETTER, Outcome.NO_DIFFERENCE)
    assert best.in_words().startswith(
        "By structure, up to 20 tokens is better: 16 to 0, 24 equal. This is likely not chance."
    )
    assert "The chance allows for 2 that were tried." in best.in_words()
    [small] = compared_with_first(runs(20, 22), ())
    assert small.outcome is not Outcome.BETTER


def test_more_settings_tried_need_a_clearer_difference() -> None:
    assert compared_with_first(runs(20, 26), ())[0].outcome is Outcome.BETTER
    assert compared_with_first(runs(20, 26, 20, 20), ())[0].outcome is Outcome.PERHAPS


def test_the_present_chunks_stay_where_nothing_finds_more() -> None:
    compared = [each.to_json() for each in compared_with_first(runs(30, 30, 29), ())]
    done = {"runs": [], "comparisons": compared, "worst": [], "is_used": False}
    assert "Keep the present chunks: no others that were tried find more." in chunk_lines(done)
    [better] = compared_with_first(runs(20, 36), ())
    lines = chunk_lines(done | {"comparisons": [better.to_json()]})
    assert not any(line.startswith("Keep") for line in lines)


def test_what_was_not_searched_for_is_left_out_and_not_scored_by_its_words() -> None:
    first, second = runs(30, 30, left_out=2)
    assert summary(first).score == 0.75
    [told] = compared_with_first([first, second], ())
    assert "Left out: 2 not judged." in told.in_words()


def test_what_questions_are_worth_is_said() -> None:
    [told] = compared_with_first(runs(30, 31), ())
    assert told.in_words().endswith("Your own questions show best what you would find.")
    assert "without a model" in worth([SetQuestion("q", "t", tags=(FROM_TEXT,))])


def test_the_worst_come_first() -> None:
    rows = worst(runs(30)[0])
    assert len(rows) == 10
    assert {row["question"] for row in rows} == {f"q{n}" for n in range(30, 40)}
    assert {row["why"] for row in rows} == {"At dusk."}
