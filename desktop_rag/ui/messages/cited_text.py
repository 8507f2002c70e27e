"""Read-only text whose citations and sources are links to their documents. Qt thread."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QUrl, Signal, Slot
from PySide6.QtGui import QFontDatabase, QHelpEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QToolTip

from desktop_rag.core.conversation import SourceRef
from desktop_rag.ui.foundation.document_kinds import with_head_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, place_in_words
from desktop_rag.ui.markdown.formula_object import InertBrowser
from desktop_rag.ui.markdown.markdown_html import (
    MarkdownStyle,
    cited_number,
    cited_places,
    render_html,
)
from desktop_rag.ui.widgets.controls import plain_tooltip

_MAX_CHARS = 320


def citation_tip(source: SourceRef) -> str:
    """The tooltip of a citation: the cited words or beginning of the passage, file and place."""
    said = with_head_in_words(source.quote or source.text, source.path, source.part)
    words = " ".join(said.split())
    if len(words) > _MAX_CHARS:
        cut = words.rfind(" ", _MAX_CHARS // 2, _MAX_CHARS)
        words = f"{words[: cut if cut > 0 else _MAX_CHARS]} …"
    file = source.url or Path(source.path).name
    where = [piece for piece in (file, source.part, place_in_words(source.anchor)) if piece]
    return f"{one_line(words)}\n\n{one_line(' · '.join(where))}"


class CitedText(InertBrowser):
    """`read_requested` carries the SourceRef of a clicked link; other links do nothing."""

    read_requested = Signal(object)

    def __init__(self, theme: Theme, name: str) -> None:
        """`name` is the accessible name."""
        super().__init__(theme)
        self._linked: dict[int, SourceRef] = {}
        self.setAccessibleName(name)
        self.anchorClicked.connect(self._on_anchor_clicked)

    def link(self, sources: Sequence[SourceRef]) -> None:
        """Turn the numbers of these sources into links, and no others."""
        self._linked = {source.n: source for source in sources}

    def show_markdown(self, text: str, sources: Sequence[SourceRef]) -> None:
        """Show the Markdown of an answer."""
        self.link(sources)
        self.show_html(self.written(text))

    def written(self, text: str, labels: Mapping[int, int] | None = None) -> str:
        """The HTML of Markdown; `labels` are shown instead of the numbers of some sources."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        look = MarkdownStyle(self._theme.colours, font.family())
        return render_html(text, frozenset(self._linked), look, labels=labels)

    def show_html(self, html: str) -> None:
        """Show HTML made of what `written` returns."""
        self.setHtml(html)
        soft = QTextCharFormat()
        soft.setBackground(self._theme.colour("accent_soft"))
        for start, end in cited_places(self.document()):
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(soft)

    def linking(self, n: int, form: QTextCharFormat) -> QTextCharFormat:
        """The format of a link to source n; without such a source, the given format."""
        linked = QTextCharFormat(form)
        if n in self._linked:
            linked.setAnchor(True)
            linked.setAnchorHref(f"cite:{n}")
            linked.setForeground(self._theme.colour("link"))
        return linked

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            href = self.anchorAt(self.viewport().mapFromGlobal(event.globalPos()))
            source = self._linked.get(cited_number(href) or 0)
            tip = citation_tip(source) if source else ""
            QToolTip.showText(event.globalPos(), plain_tooltip(tip), self)
            return True
        return super().event(event)

    @Slot(QUrl)
    def _on_anchor_clicked(self, url: QUrl) -> None:
        if source := self._linked.get(cited_number(url.toString()) or 0):
            self.read_requested.emit(source)
