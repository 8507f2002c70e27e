"""An e-mail with its head, attachments and text. Qt thread."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from desktop_rag.core.domain import Document, StoredText
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.document_kinds import head_line, head_name
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import literal, one_line
from desktop_rag.ui.viewers.page_source import section_source
from desktop_rag.ui.viewers.page_viewer import PageViewer
from desktop_rag.ui.viewers.viewer import Hits, Span, Viewer
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.layouts import clear, vertical
from desktop_rag.ui.widgets.marked_text import MarkedText

_MAX_SHOWN_CHARS = 300
_MAX_PARTS = 30


@dataclass(frozen=True, slots=True)
class HeadLine:
    """A line of the head: its name, its value, and the offset of the value."""

    name: str
    value: str
    start: int


def head_of(text: str) -> tuple[list[HeadLine], int]:
    """The lines of the head as readers write them, and the offset of the message's body."""
    lines: list[HeadLine] = []
    at = 0
    while found := head_line(text, at):
        lines.append(HeadLine(found[1], found[2], found.start(2)))
        at = found.end()
    while at < len(text) and text[at] == "\n":
        at += 1
    return lines, at


class MailViewer(Viewer):
    """Shows an e-mail."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._head: list[HeadLine] = []
        self._values: list[MarkedText] = []
        self._body_start = 0
        self.body = PageViewer(bridge, theme)
        self.body.page.setAccessibleName(tr("Message"))
        self.body.address_clicked.connect(self.address_clicked)
        self.setFocusProxy(self.body)
        self._card = Card(kind="mailHead")
        self._card.setAccessibleName(tr("Head of the message"))
        self._grid = QGridLayout(self._card)
        self._grid.setContentsMargins(18, 12, 18, 12)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        vertical(self._card, (self.body, 1), on=self, margins=0, spacing=0)

    def show_document(self, stored: StoredText, cited: Span) -> None:
        """Show a message at these words."""
        self._cited, self._hits = cited, Hits()
        self._head, self._body_start = head_of(stored.text)
        self._fill_head(stored.parts)
        span = self._body_start, len(stored.text)
        target = cited if cited[0] >= self._body_start else (self._body_start, self._body_start)
        self.body.show_source(section_source(stored.text, (), span), target)
        self._mark_head()
        if self._head:
            self.place_changed.emit("")

    def show_span(self, span: Span) -> None:
        self._cited = span
        self._mark_head()
        if span[0] >= self._body_start:
            self.body.show_span(span)

    def show_hits(self, hits: Hits) -> None:
        self._hits = hits
        self._mark_head()
        is_in_head = hits.current_span is not None and hits.current_span[0] < self._body_start
        self.body.show_hits(Hits(hits.words, hits.spans) if is_in_head else hits)

    def _fill_head(self, parts: Sequence[Document]) -> None:
        clear(self._grid)
        self._values.clear()
        for number, line in enumerate(self._head):
            row = 0 if line.name == "Subject" else number + 1
            name = PlainLabel(head_name(line.name), tone="muted", scale="small")
            self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            value = MarkedText(self._theme, head_name(line.name), role="text")
            if line.name == "Subject":
                value.setProperty("part", "subject")
            self._values.append(value)
            self._grid.addWidget(value, row, 1)
        if parts:
            name = PlainLabel(tr("Attached"), tone="muted", scale="small")
            self._grid.addWidget(name, len(self._head) + 1, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addLayout(self._buttons(parts), len(self._head) + 1, 1)
        self._card.setVisible(bool(self._head or parts))

    def _buttons(self, parts: Sequence[Document]) -> QVBoxLayout:
        column = vertical(spacing=2)
        for part in parts[:_MAX_PARTS]:
            button = TextButton(literal(one_line(part.part)), kind="quiet",
                                icon="attach:accent", theme=self._theme)  # fmt: skip
            button.setProperty("part", "attachment")
            part_id = part.document_id
            button.clicked.connect(lambda _=False, part_id=part_id: self.part_opened.emit(part_id))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        if len(parts) > _MAX_PARTS:
            more = tr("and {value:,} more, in the library", value=len(parts) - _MAX_PARTS)
            column.addWidget(PlainLabel(more, tone="muted", scale="small"))
        return column

    def _mark_head(self) -> None:
        marks = sorted({self._cited, *self._hits.spans})
        for line, value in zip(self._head, self._values, strict=True):
            shown = line.value[:_MAX_SHOWN_CHARS]
            spans: list[Span] = []
            for start, end in marks:
                first = max(start - line.start, spans[-1][1] if spans else 0)
                last = min(end - line.start, len(shown))
                if first < last:
                    spans.append((first, last))
            value.show_marked(shown, spans)
