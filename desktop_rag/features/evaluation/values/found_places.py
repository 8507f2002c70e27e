"""Whether search finds the known places of answers, and why not. Frozen values, pure.

A place is the sentence that answers a question. It counts as found when the passages for an answer
contain all of it: as many as an answer takes, and no more tokens. With a count alone, the largest
chunks would win.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from desktop_rag.core.domain import Passage
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import Chunk, ChunkSettings
from desktop_rag.core.terms import terms
from desktop_rag.core.text import rough_token_counts, sentences
from desktop_rag.features.evaluation.values.run import FROM_TEXT, PROPOSED, SetQuestion

# As deep as the place of an answer is looked for.
DEPTH = 50
_LEAST_SHARE = 0.5
CHUNKINGS = (
    ChunkSettings(), ChunkSettings(max_tokens=200), ChunkSettings(max_tokens=100),
    ChunkSettings("tokens", 200), ChunkSettings("words", 200),
)  # fmt: skip


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

    is_found: bool
    rank: int = 0
    reason: MissReason = MissReason.NONE
    pieces: int = 0
    shared: float = 0.0
    first: str = ""


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
    question: SetQuestion,
    place: Place,
    found: Sequence[Passage],
    chunks: Sequence[Chunk],
    *,
    passages: int,
    tokens: int,
) -> Retrieved:
    """What the passages, best first, say of a place; `chunks` are those of its document."""
    if not place.document_id:
        return Retrieved(is_found=False, reason=MissReason.UNREAD)
    given = list(_given(found, passages, tokens))
    ranks = (n for n, passage in enumerate(found, 1) if _has_part(passage, place))
    rank = next(ranks, 0)
    is_found = _is_whole(given, place)
    held = [c for c in chunks if place.text and c.start < place.end and c.end > place.start]
    shared = _shared(question.text, held or chunks)
    reason = MissReason.NONE if is_found else _reason(rank, len(given), held, place, shared)
    pieces = len(_needed(held, place))
    first = (found[0].title or found[0].path) if found else ""
    return Retrieved(is_found, rank, reason, pieces, round(shared, 3), first)


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


def why(found: Retrieved) -> str:
    """Why search missed a place, or found it late."""
    late = (
        tr("the right passage was not among the first {depth:,}", depth=DEPTH)
        if not found.rank
        else tr("the right passage was number {rank:,}", rank=found.rank)
    )
    first = tr("first came {name}", name=found.first) if found.first else ""
    match found.reason:
        case MissReason.NONE | MissReason.LATER:
            return "; ".join(part for part in (late, first if found.rank != 1 else "") if part)
        case MissReason.UNREAD:
            return tr("its document could not be read, or is gone")
        case MissReason.SPLIT:
            return tr("the answer is split across {count:,} chunks", count=found.pieces)
        case MissReason.WORDS:
            words = tr(
                "it has {share:.0f} % of the words of the question", share=100 * found.shared
            )
            return f"{late}; {words}"
        case MissReason.TOO_LARGE:
            return tr("only a part of the answer was in the passages")


def in_words(chunking: ChunkSettings) -> str:
    """`By structure, up to 200 tokens`."""
    match chunking.method:
        case "structure" if not chunking.max_tokens:
            return tr("By structure")
        case "structure":
            return tr("By structure, up to {count:,} tokens", count=chunking.max_tokens)
        case "tokens" if not chunking.max_tokens:
            return tr("By tokens")
        case "tokens":
            return tr("{count:,} tokens each", count=chunking.max_tokens)
        case "words":
            return tr("By words")


def worth(questions: Iterable[SetQuestion]) -> str:
    """What the questions can show, by their origins."""
    origins = Counter(
        next((tag for tag in question.tags if tag in {PROPOSED, FROM_TEXT}), "")
        for question in questions
    )
    said = {
        "": tr("Your own questions show best what you would find."),
        PROPOSED: tr(
            "A model wrote the questions from passages. They use the words of the text more than"
            " people do, so your own questions will find less."
        ),
        FROM_TEXT: tr(
            "The questions are headings and sentences of the documents, without a model. They"
            " show whether chunks keep together what belongs together, and little about how people"
            " ask: take a small difference for none."
        ),
    }
    return " ".join(said[origin] for origin, _ in origins.most_common())
