"""Sources of the answer before, for a question that goes on from it. Pure but for the reader."""

from collections.abc import Sequence
from dataclasses import replace

from desktop_rag.answer.passages import ReadContent
from desktop_rag.core.conversation import Message, SourceRef


def sources_before(history: Sequence[Message], read_content: ReadContent) -> tuple[SourceRef, ...]:
    """What the last answer with sources rested on, or else was given; numbered, cited nowhere yet.

    Left out is what its document no longer says at that place.
    """
    last = next((message.sources for message in reversed(history) if message.sources), ())
    cited = [source for source in last if source.is_cited]
    whole = [_uncited(source) for source in cited or last]
    still = [source for source in whole if _still_says(source, read_content)]
    return _numbered(still)


def with_earlier(
    found: Sequence[SourceRef], earlier: Sequence[SourceRef], most: int
) -> tuple[SourceRef, ...]:
    """What was found, then what was there before and isn't among it; up to `most` in all.

    What was found now is thought stronger: it gives way last when the prompt has no room.
    """
    least = min((source.score for source in found), default=0.0)
    others = [e for e in earlier if not any(_overlap(e, source) for source in found)]
    kept = [replace(e, score=least - n) for n, e in enumerate(others, start=1)]
    room = max(most - len(kept), -(-most // 2))
    return _numbered([*found[:room], *kept][:most])


def _uncited(source: SourceRef) -> SourceRef:
    """The whole passage again, of which its quote was shown."""
    before = max(source.text.find(source.quote), 0) if source.quote else 0
    start = source.start - before
    return replace(source, quote="", is_cited=False, start=start, end=start + len(source.text))


def _still_says(source: SourceRef, read_content: ReadContent) -> bool:
    text, _ = read_content(source.document_id)
    return text is not None and text[source.start : source.end] == source.text


def _overlap(one: SourceRef, other: SourceRef) -> bool:
    is_same = one.document_id == other.document_id
    return is_same and one.start < other.end and other.start < one.end


def _numbered(sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
    return tuple(replace(source, n=n) for n, source in enumerate(sources, start=1))
