"""Where the citations are in a document of rendered text. Qt thread."""

from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextDocument

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
