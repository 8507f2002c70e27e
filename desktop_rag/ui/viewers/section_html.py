"""The text of a document, as the readers write it, as HTML. Pure; worker threads.

Readers write a heading as a line of its own, list items behind a dash or bullet, and the rows of a
table as lines with bars between the cells. Everything is escaped: the document can't bring HTML.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from desktop_rag.core.markup.formulas import formulas
from desktop_rag.ui.markdown.formula_object import formula_image
from desktop_rag.ui.markdown.markdown_html import Formulas, MarkdownStyle
from desktop_rag.ui.viewers.document_span import Span

_BAR = " | "
_ITEM = re.compile(r"(\s*)(?:[-*•◦▪‣–]|\d{1,3}[.)])\s+(?=\S)")
_SIZES = {1: "x-large", 2: "large", 3: "medium"}
_PARAGRAPH = '<p style="margin-top:0px; margin-bottom:9px; line-height:140%;">'
_SIGN_OF_HEADING = re.compile(r"^#{1,6}\s+(?=\S)")
_SPACES = re.compile(r"  +")
_MAX_COLUMNS = 60
_INDENT_PX = 18


def section_html(
    text: str,
    span: Span,
    levels: Mapping[int, int],
    look: MarkdownStyle,
    draws: Formulas | None = None,
    *,
    is_plain: bool = False,
) -> str:
    """The HTML of the text [start, end). `levels` are the levels of headings by their offsets.

    A formula that `draws` has a drawing of becomes an image, any other stays text.
    """
    if is_plain:
        return "".join(_plain(text[slice(*span)]))
    return "".join(_Blocks(look, draws).written(text, span, levels))


def _plain(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n[ \t]*\n", text):
        if paragraph.strip():
            yield f"{_PARAGRAPH}{_lines_of(paragraph.strip(chr(10)))}</p>"


class _Blocks:
    """Writes paragraphs, headings, items and tables."""

    def __init__(self, look: MarkdownStyle, draws: Formulas | None) -> None:
        self._look = look
        self._draws = draws

    def written(self, text: str, span: Span, levels: Mapping[int, int]) -> Iterator[str]:
        """The blocks of the text [start, end), each with its formulas."""
        pending: list[str] = []
        rows: list[str] = []
        offset = span[0]
        inside = self._inside_formulas(text[slice(*span)], span[0])
        for line in text[slice(*span)].split("\n"):
            level, is_inside = levels.get(offset), offset in inside
            is_row = _BAR in line and not is_inside
            item = None if is_inside else _ITEM.match(line)
            offset += len(line) + 1
            if rows and (not is_row or level):
                yield self._table(rows)
                rows = []
            if pending and not is_inside and (not line.strip() or is_row or level or item):
                yield f"{_PARAGRAPH}{self._lines(pending)}</p>"
                pending = []
            if level:
                yield self._heading(line, level)
            elif is_row:
                rows.append(line)
            elif item:
                yield self._item(line, item)
            elif line.strip():
                pending.append(line)
        if rows:
            yield self._table(rows)
        if pending:
            yield f"{_PARAGRAPH}{self._lines(pending)}</p>"

    def _inside_formulas(self, text: str, offset: int) -> set[int]:
        """Where lines begin that go on with a formula, whatever they look like."""
        if not self._draws:
            return set()
        return {
            offset + at + 1
            for found in formulas(text)
            for at in range(found.start, found.end)
            if text[at] == "\n"
        }

    def _heading(self, line: str, level: int) -> str:
        size = _SIZES.get(level, "medium")
        line = _SIGN_OF_HEADING.sub("", line.strip())
        style = f"font-size:{size}; font-weight:600; margin-top:12px; margin-bottom:6px;"
        return f'<p style="{style}">{self._words(line)}</p>'

    def _item(self, line: str, found: re.Match[str]) -> str:
        """An item with its sign in front: a list of HTML would lose the sign of the document."""
        depth = 1 + min(4, len(found[1].expandtabs(4)) // 2)
        sign = found[0].strip()
        style = (
            f"margin-top:0px; margin-bottom:5px; margin-left:{depth * _INDENT_PX}px;"
            f" text-indent:-{_INDENT_PX - 4}px; line-height:140%;"
        )
        shown = "•" if sign in "-*" else html.escape(sign)
        colour = self._look.colours["muted"]
        words = self._words(line[found.end() :].rstrip())
        return f'<p style="{style}"><span style="color:{colour};">{shown}</span> {words}</p>'

    def _table(self, lines: Sequence[str]) -> str:
        border = self._look.colours["border_strong"]
        rows = [_cells(line)[:_MAX_COLUMNS] for line in lines]
        width = max(map(len, rows))
        written = "".join(
            "<tr>"
            + "".join(f"<td>{self._words(cell)}</td>" for cell in _filled(row, width))
            + "</tr>"
            for row in rows
        )
        return (
            '<table cellspacing="0" cellpadding="5" border="1" style="border-collapse:collapse;'
            f' border-style:solid; border-color:{border}; margin-top:4px; margin-bottom:12px;">'
            f"{written}</table>"
        )

    def _lines(self, lines: Sequence[str]) -> str:
        return self._words("\n".join(lines), _lines_of)

    def _words(self, text: str, written: Callable[[str], str] = html.escape) -> str:
        """The text as HTML with its formulas drawn."""
        parts: list[str] = []
        done = 0
        for found in formulas(text) if self._draws else ():
            if self._draws and (drawing := self._draws(found.latex, found.is_display)):
                parts.append(written(text[done : found.start]))
                parts.append(formula_image(found.latex, found.is_display, drawing))
                done = found.end
        return "".join([*parts, written(text[done:])])


def _cells(line: str) -> list[str]:
    """The cells of a row; a bar at an end of the line has an empty cell outside."""
    return [cell.strip() for cell in f" {line.strip()} ".split(_BAR)]


def _filled(row: Sequence[str], width: int) -> list[str]:
    return [*row, *[""] * (width - len(row))]


def _lines_of(text: str) -> str:
    """Lines that stay lines; runs of spaces keep their width."""
    *whole, last = text.split("\n")
    # A formula may go on in the last line.
    lines = [*(line.rstrip() for line in whole), last]
    escaped = (html.escape(line.expandtabs(4)) for line in lines)
    return "<br>".join(_SPACES.sub(lambda run: "\u00a0" * len(run[0]), line) for line in escaped)
