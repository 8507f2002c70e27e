"""Splits a long Markdown text into parts that render by themselves. Pure; any thread."""

from dataclasses import dataclass

from desktop_rag.ui.markdown.parsing import LINE_END, parse_blocks

SEGMENT_CHARS = 3_000
_MAX_BLOCK_CHARS = 5_000
_SETTLED_CHARS = 200
# A table of so many columns is scrolled sideways where it has no room.
_WIDE_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of an answer that renders by itself. The next one starts at `end`.

    `fence` is the line that reopens a code block that was split, else "".
    """

    source: str
    end: int
    fence: str = ""


def next_segment(text: str, start: int = 0, fence: str = "") -> Segment:
    """The segment of `text` at `start`, given the `fence` of the previous segment.

    A wide table has a segment of its own. While a text grows, only its last segment changes.
    """
    segment = _next_segment(text, start, fence)
    cut = _edge_of_wide_table(segment.source) if "|" in segment.source else 0
    return Segment(segment.source[:cut], start + cut - len(fence)) if cut else segment


def _next_segment(text: str, start: int, fence: str) -> Segment:
    rest = text[start : start + _MAX_BLOCK_CHARS]
    if len(text) - start <= SEGMENT_CHARS + _SETTLED_CHARS:
        return Segment(fence + rest, len(text))
    cut = _block_boundary(fence + rest) - len(fence)
    if cut > 0:
        return Segment(fence + rest[:cut], start + cut)
    if len(text) - start <= _MAX_BLOCK_CHARS:
        return Segment(fence + rest, len(text))
    cut = max(rest.rfind("\n"), 0) or max(rest.rfind(" "), 0)
    cut = cut + 1 if cut else len(rest)
    return Segment(fence + rest[:cut], start + cut, _open_fence(fence + rest[:cut]))


def last_block_start(source: str) -> int:
    """The start of a segment's last block; the text before it is final while the text grows."""
    return max(_block_starts(source), default=0)


def _block_boundary(source: str) -> int:
    """The block boundary to split at: the last one within SEGMENT_CHARS, else the first."""
    settled = [at for at in _block_starts(source) if at < len(source) - _SETTLED_CHARS]
    near = [b for b in settled if b <= SEGMENT_CHARS]
    return near[-1] if near else min(settled, default=0)


def _block_starts(source: str) -> list[int]:
    """Offsets of all top-level blocks except the first."""
    offsets = [0, *(match.end() for match in LINE_END.finditer(source))]
    starts = [t.map[0] for t in parse_blocks(source) if t.map and t.level == 0 and t.nesting >= 0]
    return [offsets[line] for line in starts if line]


def _edge_of_wide_table(source: str) -> int:
    """Where the first wide table begins, or ends if all begins with it; 0 for no such place."""
    offsets = [0, *(match.end() for match in LINE_END.finditer(source))]
    blocks = parse_blocks(source)
    for index, token in enumerate(blocks):
        if token.type != "table_open" or token.level or not token.map:
            continue
        head = next(n for n, t in enumerate(blocks) if n > index and t.type == "tr_close")
        if sum(t.type == "th_open" for t in blocks[index:head]) < _WIDE_COLUMNS:
            continue
        if begin := offsets[token.map[0]]:
            return begin
        later = [t.map[0] for t in blocks if t.map and not t.level and t.map[0] >= token.map[1]]
        return offsets[later[0]] if later else 0
    return 0


def _open_fence(source: str) -> str:
    last = next((t for t in reversed(parse_blocks(source)) if t.level == 0), None)
    if last is None or last.type != "fence":
        return ""
    is_closed = source.rstrip().rpartition("\n")[2].strip() == last.markup
    return "" if is_closed else f"{last.markup}{last.info}\n"
