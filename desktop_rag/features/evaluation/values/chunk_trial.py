"""How well search finds known places with several chunk settings. Frozen values, pure.

A place is the sentence that answers a question. It counts as found when the passages for an answer
contain all of it: as many as an answer takes, and no more tokens. With a count alone, the largest
chunks would win.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Chunk, ChunkSettings
from desktop_rag.core.terms import terms
from desktop_rag.core.text import rough_token_counts, sentences
from desktop_rag.features.evaluation.values.paired_comparison import PairedComparison, compare

# As deep as the place of an answer is looked for.
DEPTH = 50
_LEAST_SHARE = 0.5


class QuestionOrigin(StrEnum):
    """The origin of a question, which decides what its result is worth."""

    SET = "set"
    MODEL = "model"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """A question with the document that answers it, as a path or an address.

    `expected` is an answer whose place in the document is looked for; without one, or where it is
    not found, any passage of the document counts.
    """

    question_id: str
    text: str
    place: str
    expected: str = ""
    origin: QuestionOrigin = QuestionOrigin.SET


class MissReason(StrEnum):
    """Why a place was not found."""

    NONE = ""
    UNREAD = "unread"
    SPLIT = "split"
    WORDS = "words"
    LATER = "later"
    TOO_LARGE = "too large"


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What search gave for one question.

    `rank` is that of the first passage with a part of the place, from 1, or 0 when it was not among
    the first DEPTH. `pieces` is the number of chunks that the place lies in, 0 for a whole
    document, and `shared` the share of the question's words that those chunks have. `first` names
    the document that came first.
    """

    question_id: str
    is_found: bool
    rank: int = 0
    reason: MissReason = MissReason.NONE
    pieces: int = 0
    shared: float = 0.0
    first: str = ""


@dataclass(frozen=True, slots=True)
class ChunkTrial:
    """One chunk setting: its number of chunks, and what each question found."""

    chunking: ChunkSettings
    chunks: int
    retrieved: tuple[Retrieved, ...]

    @property
    def found(self) -> int:
        """The number of places found."""
        return sum(each.is_found for each in self.retrieved)


@dataclass(frozen=True, slots=True)
class ChunkComparison:
    """Chunk settings compared over the documents of a collection; the first is the present one.

    `left_out` questions of the set have no known source in the collection. There is a trial for
    each setting, over the same questions in the same order.
    """

    comparison_id: str
    collection_id: str
    collection: str
    made_at: float
    questions: tuple[TrialQuestion, ...]
    trials: tuple[ChunkTrial, ...]
    left_out: int = 0
    passages: int = 0
    tokens: int = 0

    def paired(self, trial: ChunkTrial) -> PairedComparison:
        """A trial beside the present settings, question by question."""
        first, second = ([float(r.is_found) for r in t.retrieved] for t in (self.trials[0], trial))
        return compare(first, second)

    def worst(self, trial: ChunkTrial, most: int) -> list[tuple[TrialQuestion, Retrieved]]:
        """The questions that found least: those that missed their place, then those found late."""
        both = zip(self.questions, trial.retrieved, strict=True)
        poor = [pair for pair in both if not pair[1].is_found or pair[1].rank > 1]
        return sorted(poor, key=lambda p: (p[1].is_found, -(p[1].rank or DEPTH + 1)))[:most]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands in the scratch library: [start, end) of a document's text.

    `text` is empty when the whole document counts; `document_id` when it could not be read.
    """

    document_id: str = ""
    start: int = 0
    end: int = 0
    text: str = ""


def answer_span(text: str, expected: str) -> tuple[int, int] | None:
    """The sentence with most of the words of an expected answer; None when no one has half."""
    wanted = set(terms(expected))
    best, share = None, _LEAST_SHARE
    for start, end in sentences(text):
        common = len(wanted & set(terms(text[start:end]))) / len(wanted) if wanted else 0.0
        if common > share or (common == share and best is None):
            best, share = (start, end), common
    return best


def retrieved(
    question: TrialQuestion,
    place: Place,
    found: Sequence[Passage],
    chunks: Sequence[Chunk],
    *,
    passages: int,
    tokens: int,
) -> Retrieved:
    """What the passages, best first, say of a place; `chunks` are those of its document."""
    if not place.document_id:
        return Retrieved(question.question_id, is_found=False, reason=MissReason.UNREAD)
    given = list(_given(found, passages, tokens))
    ranks = (n for n, passage in enumerate(found, 1) if _has_part(passage, place))
    rank = next(ranks, 0)
    is_found = _is_whole(given, place)
    held = [c for c in chunks if place.text and c.start < place.end and c.end > place.start]
    shared = _shared(question.text, held or chunks)
    reason = MissReason.NONE if is_found else _reason(rank, len(given), held, place, shared)
    pieces = len(_needed(held, place))
    first = (found[0].title or found[0].path) if found else ""
    return Retrieved(question.question_id, is_found, rank, reason, pieces, round(shared, 3), first)


def _given(found: Sequence[Passage], passages: int, tokens: int) -> Iterator[Passage]:
    """The passages that fit an answer; the first one always does."""
    left = tokens
    first = found[:passages]
    for number, count in enumerate(rough_token_counts([passage.text for passage in first])):
        left -= count
        if number and left < 0:
            return
        yield first[number]


def _has_part(passage: Passage, place: Place) -> bool:
    if passage.document_id == place.document_id:
        return not place.text or (passage.start < place.end and passage.end > place.start)
    return bool(place.text) and place.text in passage.text


def _is_whole(given: Sequence[Passage], place: Place) -> bool:
    """True when the passages together contain all of the place."""
    if any(place.text and place.text in passage.text for passage in given):
        return True
    if not place.text:
        return any(_has_part(passage, place) for passage in given)
    at = place.start
    own = [p for p in given if p.document_id == place.document_id]
    for passage in sorted(own, key=lambda p: p.start):
        if passage.start <= at:
            at = max(at, passage.end)
    return at >= place.end


def _needed(held: Sequence[Chunk], place: Place) -> list[Chunk]:
    """The chunk with all of the place, or those that it is split into."""
    whole = [c for c in held if c.start <= place.start and c.end >= place.end]
    return whole[:1] or list(held)


def _reason(
    rank: int, given: int, held: Sequence[Chunk], place: Place, shared: float
) -> MissReason:
    if place.text and len(_needed(held, place)) > 1:
        return MissReason.SPLIT
    if 0 < rank <= given:
        return MissReason.TOO_LARGE
    return MissReason.WORDS if shared < _LEAST_SHARE else MissReason.LATER


def _shared(question: str, chunks: Sequence[Chunk]) -> float:
    """The share of the question's words that the best of these chunks has."""
    wanted = set(terms(question))
    if not wanted:
        return 0.0
    counts = (len(wanted & set(terms(chunk.embedded_text))) for chunk in chunks)
    return max(counts, default=0) / len(wanted)
