"""Sources of the previous answer, for a question that continues it. Pure except for the reader."""

from collections.abc import Sequence
from dataclasses import replace

from desktop_rag.answer.sources.source_merging import ReadContent
from desktop_rag.core.conversation import Message, SourceRef


def sources_before(history: Sequence[Message], read_content: ReadContent) -> tuple[SourceRef, ...]:
    """The cited sources of the last answer with sources, or else all of them, as uncited ones.

    Sources whose document has changed at that place are left out.
    """
    shown = next((message.sources for message in reversed(history) if message.sources), ())
    # The result of a query belongs to its own question.
    last = [source for source in shown if not source.query]
    cited = [source for source in last if source.is_cited]
    whole = [_uncited(source, read_content(source.document_id)[0]) for source in cited or last]
    return numbered_anew([source for source in whole if source])


def with_earlier(found: Sequence[SourceRef], earlier: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
    """The found sources, then the earlier ones that they do not include.

    Found sources rank higher, so a full prompt drops them last.
    """
    least = min((source.score for source in found), default=0.0)
    others = [e for e in earlier if not any(_overlap(e, source) for source in found)]
    kept = [replace(e, score=least - n) for n, e in enumerate(others, start=1)]
    return numbered_anew([*found, *kept])


def numbered_anew(sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
    """The sources, renumbered 1, 2, 3 …"""
    return tuple(replace(source, n=n) for n, source in enumerate(sources, start=1))


def _uncited(source: SourceRef, text: str | None) -> SourceRef | None:
    """The whole passage of a source again; None when the document no longer has it there."""
    place = source.text.find(source.quote)
    while place >= 0 and text is not None:
        start = source.start - place
        end = start + len(source.text)
        if start >= 0 and text[start:end] == source.text:
            return replace(source, quote="", is_cited=False, start=start, end=end)
        # The quote may occur in the passage more than once.
        place = source.text.find(source.quote, place + 1) if source.quote else -1
    return None


def _overlap(one: SourceRef, other: SourceRef) -> bool:
    is_same = one.document_id == other.document_id
    return is_same and one.start < other.end and other.start < one.end
