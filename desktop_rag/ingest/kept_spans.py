"""Which spans of a document's chunks stay where they are after an edit. Pure.

Borders are placed by what stands around them, so an edit would move those of a whole section. The
chunks from before tell where borders were: wherever the text between two is still there, they
stay, and only what lies between is cut anew.
"""

from collections.abc import Iterator, Sequence

from desktop_rag.core.parsed import Chunk
from desktop_rag.ingest.pieces import Span, stripped

# How far an edit may have moved a chunk to be found again, in characters.
_REACH = 200_000
# A shorter text may stand anywhere again; it is only believed at the place it should be.
_LEAST_MOVED = 80


def kept_spans(before: Sequence[Chunk], text: str) -> list[Span]:
    """Spans of the text that were a chunk before, without what it shared with the one before it.

    In rising order, without overlaps.
    """
    return list(_from_front(list(_own_texts(before)), text))


def _own_texts(before: Sequence[Chunk]) -> Iterator[tuple[int, str]]:
    """Where each chunk's own text began, and that text: what is shared is the other's."""
    end = 0
    for chunk in before:
        for start, _ in stripped(chunk.text, max(0, end - chunk.start), len(chunk.text)):
            yield chunk.start + start, chunk.text[start:]
        end = chunk.end


def _from_front(own: Sequence[tuple[int, str]], text: str) -> Iterator[Span]:
    """Walk along, knowing by how much the text has shifted so far."""
    cursor = shift = 0
    for start, content in own:
        expected = start + shift
        if expected < cursor or not text.startswith(content, expected):
            if len(content) < _LEAST_MOVED:
                continue
            low = max(cursor, expected - _REACH)
            expected = text.find(content, low, expected + len(content) + _REACH)
            if expected < 0:
                continue
            shift = expected - start
        cursor = expected + len(content)
        yield expected, cursor
