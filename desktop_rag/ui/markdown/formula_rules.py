r"""Formulas as tokens of the Markdown parser. Pure.

A block of lines that begins with `$$` or `\[` becomes a paragraph, so that no line of it is read
as a list or a heading; within a paragraph each formula becomes a token `formula` with its LaTeX.
"""

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from desktop_rag.core.markup.formulas import LONGEST, formula_at

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
