"""Markdown of untrusted texts as tokens: no raw HTML, no link definitions. Pure; any thread."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from desktop_rag.core.markup.formulas import LONGEST, formula_at
from desktop_rag.ui.markdown.claim_marks import MARK

# Formulas as tokens of the Markdown parser. Pure.
#
# A block of lines that begins with `$$` or `\[` becomes a paragraph, so that no line of it is read
# as a list or a heading; within a paragraph each formula becomes a token `formula` with its LaTeX.

_OPENINGS = ("$$", r"\[")
_PARAGRAPH_ENDS = ["paragraph", "reference", "blockquote", "list"]


def add_formulas(parser: MarkdownIt) -> None:
    """Let the parser know formulas."""
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
    """The line behind a formula that begins in line `first`, and its text; None for no formula."""
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
