"""Markdown of untrusted texts as tokens and segments: no raw HTML, no link definitions. Pure.

A display formula that begins a line becomes a paragraph, so that no line of it is read as a list or
a heading. Within paragraphs each formula becomes a token `formula` with its LaTeX.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from desktop_rag.core.markup.formulas import LONGEST, formula_at
from desktop_rag.ui.markdown.claim_marks import MARK

_OPENINGS = ("$$", r"\[")
_PARAGRAPH_ENDS = ["paragraph", "reference", "blockquote", "list"]


def add_formulas(parser: MarkdownIt) -> None:
    """Add rules for formulas to the parser."""
    parser.block.ruler.before("code", "formula_block", _block, {"alt": _PARAGRAPH_ENDS})
    parser.inline.ruler.before("escape", "formula", _inline)


def _block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    begin = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not state.src.startswith(_OPENINGS, begin):
        return False
    end = _end_of_block(state, first, last)
    if end is None:
        return False
    if silent:
        return True
    line, text = end
    state.line = line
    state.push("paragraph_open", "p", 1).map = [first, line]
    inline = state.push("inline", "", 0)
    inline.map, inline.content, inline.children = [first, line], text, []
    state.push("paragraph_close", "p", -1)
    return True


def _end_of_block(state: StateBlock, first: int, last: int) -> tuple[int, str] | None:
    """The line after a formula that begins in line `first`, and its text; None without one."""
    begin = state.bMarks[first]
    for line in range(first, last):
        is_inside = state.sCount[line] >= state.blkIndent and not state.isEmpty(line)
        if not is_inside or state.bMarks[line] - begin > 2 * LONGEST:
            return None
        text = state.getLines(first, line + 1, state.blkIndent, False).strip()
        found = formula_at(text, 0)
        if found and found.is_display:
            # In a line with other words it is part of their paragraph.
            is_alone = "\n" in text or not text[found.end :].strip()
            return (line + 1, text) if is_alone else None
    return None


def _inline(state: StateInline, silent: bool) -> bool:
    found = formula_at(state.src, state.pos) if state.src[state.pos] in "$\\" else None
    if found is None or found.end > state.posMax:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = found.latex
        token.markup = state.src[found.start : found.end]
        token.meta = {"is_display": found.is_display}
    state.pos = found.end
    return True


LINE_END = re.compile(r"\r\n?|\n")
_MAX_BRACKETS = 400


class _Parser(MarkdownIt):
    """Accepts every address: the renderer decides which become links."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, RUF100
        return True


def _parser(*, with_formulas: bool) -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False, "linkify": False})
    parser.enable(["table", "strikethrough"])
    parser.disable(["reference", "html_block", "html_inline"])
    if with_formulas:
        add_formulas(parser)
    return parser


_PARSERS = {wanted: _parser(with_formulas=wanted) for wanted in (False, True)}


def parse_blocks(source: str, *, with_formulas: bool = True) -> list[Token]:
    """The blocks of a text; their inline content is not parsed."""
    tokens: list[Token] = []
    text = LINE_END.sub("\n", source).replace("\0", "\ufffd")
    parser = _PARSERS[with_formulas]
    parser.block.parse(text, parser, {}, tokens)
    return tokens


def _parse(source: str, *, with_formulas: bool) -> list[Token]:
    parser = _PARSERS[with_formulas]
    tokens = parse_blocks(source, with_formulas=with_formulas)
    for token in tokens:
        if token.type == "inline":
            token.children = []
            if token.content.count("[") > _MAX_BRACKETS:
                # Parsing is quadratic in open brackets.
                token.children.append(Token("text", "", 0, content=token.content))
            else:
                parser.inline.parse(token.content, parser, {}, token.children)
    return tokens


def parse_with_marks(source: str, *, with_formulas: bool) -> list[Token]:
    """All tokens, with the marks of claims only where they leave the formatting unchanged."""
    marked = _parse(source, with_formulas=with_formulas)
    if not MARK.search(source):
        return marked
    plain = _parse(MARK.sub("", source), with_formulas=with_formulas)
    if _without_marks(marked) != _without_marks(plain):
        return plain
    for token, other in zip(marked, plain, strict=True):
        if _without_marks(token.children or ()) != _without_marks(other.children or ()):
            token.children = other.children
    return marked


def _without_marks(tokens: Sequence[Token]) -> list[tuple[str, ...]]:
    """The properties that distinguish tokens, ignoring marks."""
    return [
        (t.type, t.markup, str(t.attrs), MARK.sub("", t.info), MARK.sub("", t.content))
        for t in tokens
        if t.type != "text" or MARK.sub("", t.content)
    ]


SEGMENT_CHARS = 3_000
_MAX_BLOCK_CHARS = 5_000
_SETTLED_CHARS = 200
# Tables from this many columns on can be scrolled sideways.
_WIDE_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a long text that renders by itself. The next one starts at `end`.

    `fence` is the line that reopens a code block that was split, else "".
    """

    source: str
    end: int
    fence: str = ""


def next_segment(text: str, start: int = 0, fence: str = "") -> Segment:
    """The segment of `text` at `start`, given the `fence` of the previous segment.

    A wide table has its own segment. While a text grows, only its last segment changes.
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
    """The start of the first wide table, or its end if the text begins with it; 0 for none."""
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
