"""Splits a long Markdown text into parts that render by themselves. Pure; any thread."""

from dataclasses import dataclass

from desktop_rag.ui.markdown.parsing import LINE_END, parse_blocks

SEGMENT_CHARS = 3_000
_MAX_BLOCK_CHARS = 5_000
_SETTLED_CHARS = 200


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

    While a text grows, only its last segment changes.
    """
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


def _open_fence(source: str) -> str:
    last = next((t for t in reversed(parse_blocks(source)) if t.level == 0), None)
    if last is None or last.type != "fence":
        return ""
    is_closed = source.rstrip().rpartition("\n")[2].strip() == last.markup
    return "" if is_closed else f"{last.markup}{last.info}\n"
