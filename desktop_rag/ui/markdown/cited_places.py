"""Where the citations are in a document of rendered text. Qt thread."""

from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from desktop_rag.core.text import sentences
from desktop_rag.ui.markdown.markdown_html import cited_number


def cited_places(document: QTextDocument) -> list[tuple[int, int]]:
    """The start and the end of every citation; several without a gap are one place."""
    places: list[tuple[int, int]] = []
    block = document.begin()
    while block.isValid():
        for start, end in _in_block(block):
            if places and places[-1][1] == start:
                places[-1] = (places[-1][0], end)
            else:
                places.append((start, end))
        block = block.next()
    return places


def _in_block(block: QTextBlock) -> Iterator[tuple[int, int]]:
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if cited_number(fragment.charFormat().anchorHref()) is not None:
            yield fragment.position(), fragment.position() + fragment.length()
        iterator += 1


def sentence_before(place: QTextCursor) -> str:
    """The sentence that a citation at this place belongs to, without citations.

    In a table that is the row. A citation at the start of a line belongs to the sentence after it.
    """
    block = place.block()
    if table := place.currentTable():
        row = table.cellAt(place).row()
        cells = (table.cellAt(row, column) for column in range(table.columns()))
        return " ".join(_uncited(cell.firstCursorPosition().block()) for cell in cells)
    before = _uncited(block, place.position())
    text = before or _uncited(block)
    found = sentences(text)
    if not found:
        return ""
    start, end = found[-1 if before else 0]
    return text[start:end]


def _uncited(block: QTextBlock, until: int | None = None) -> str:
    """The text of a block without its citations, up to a position of the document."""
    text, done = "", 0
    raw = block.text().encode("utf-16-le")
    stop = len(raw) // 2 if until is None else until - block.position()
    for start, end in [*_in_block(block), (block.position() + stop, 0)]:
        at = min(start - block.position(), stop)
        text += raw[2 * done : 2 * at].decode("utf-16-le", "ignore")
        done = max(done, end - block.position())
    return text.strip()
