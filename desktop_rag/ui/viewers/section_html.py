"""The text of a document, as the readers write it, as HTML. Pure; worker threads.

Readers write a heading as a line of its own, list items behind a dash or bullet, and the rows of a
table as lines with bars between the cells. Everything is escaped: the document can't bring HTML.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from desktop_rag.ui.markdown.markdown_html import MarkdownStyle
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
    text: str, span: Span, levels: Mapping[int, int], look: MarkdownStyle, is_plain: bool
) -> str:
    """The HTML of the text [start, end). `levels` are the levels of headings by their offsets."""
    if is_plain:
        return "".join(_plain(text[slice(*span)]))
    return "".join(_blocks(text, span, levels, look))


def _plain(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n[ \t]*\n", text):
        if paragraph.strip():
            yield f"{_PARAGRAPH}{_lines(paragraph.strip(chr(10)).split(chr(10)))}</p>"


def _blocks(text: str, span: Span, levels: Mapping[int, int], look: MarkdownStyle) -> Iterator[str]:
    pending: list[str] = []
    rows: list[str] = []
    offset = span[0]
    for line in text[slice(*span)].split("\n"):
        level = levels.get(offset)
        offset += len(line) + 1
        if rows and (_BAR not in line or level):
            yield _table(rows, look)
            rows = []
        if pending and (not line.strip() or _BAR in line or level or _ITEM.match(line)):
            yield f"{_PARAGRAPH}{_lines(pending)}</p>"
            pending = []
        if level:
            yield _heading(line, level)
        elif _BAR in line:
            rows.append(line)
        elif found := _ITEM.match(line):
            yield _item(line, found, look)
        elif line.strip():
            pending.append(line)
    if rows:
        yield _table(rows, look)
    if pending:
        yield f"{_PARAGRAPH}{_lines(pending)}</p>"


def _heading(line: str, level: int) -> str:
    size = _SIZES.get(level, "medium")
    line = _SIGN_OF_HEADING.sub("", line.strip())
    style = f"font-size:{size}; font-weight:600; margin-top:12px; margin-bottom:6px;"
    return f'<p style="{style}">{html.escape(line)}</p>'


def _item(line: str, found: re.Match[str], look: MarkdownStyle) -> str:
    """An item with its sign in front: a list of HTML would lose the sign of the document."""
    depth = 1 + min(4, len(found[1].expandtabs(4)) // 2)
    sign = found[0].strip()
    style = (
        f"margin-top:0px; margin-bottom:5px; margin-left:{depth * _INDENT_PX}px;"
        f" text-indent:-{_INDENT_PX - 4}px; line-height:140%;"
    )
    shown = "•" if sign in "-*" else html.escape(sign)
    colour = look.colours["muted"]
    words = html.escape(line[found.end() :].rstrip())
    return f'<p style="{style}"><span style="color:{colour};">{shown}</span> {words}</p>'


def _table(lines: Sequence[str], look: MarkdownStyle) -> str:
    border = look.colours["border_strong"]
    rows = [[cell.strip() for cell in line.split(_BAR)][:_MAX_COLUMNS] for line in lines]
    width = max(map(len, rows))
    written = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _filled(row, width)) + "</tr>"
        for row in rows
    )
    return (
        '<table cellspacing="0" cellpadding="5" border="1" style="border-collapse:collapse;'
        f' border-style:solid; border-color:{border}; margin-top:4px; margin-bottom:12px;">'
        f"{written}</table>"
    )


def _filled(row: Sequence[str], width: int) -> list[str]:
    return [*row, *[""] * (width - len(row))]


def _lines(lines: Sequence[str]) -> str:
    """Lines that stay lines; runs of spaces keep their width."""
    escaped = (html.escape(line.rstrip().expandtabs(4)) for line in lines)
    return "<br>".join(_SPACES.sub(lambda run: "\u00a0" * len(run[0]), line) for line in escaped)
