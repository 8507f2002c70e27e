"""The text of an answer as a column of segments, rendered a few milliseconds at a time. Qt thread.

Streamed and stored answers are rendered alike. While text arrives only the last block is rendered
again. Of a very long answer only the beginning is shown until the person asks for all of it.
"""

import time
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QTimer, Signal, Slot
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.formulas import formulas, open_formula
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.claim_marks import MARK, badges_in, with_marks
from desktop_rag.ui.markdown.copied_blocks import blocks_in
from desktop_rag.ui.markdown.formula_drawer import FormulaDrawer
from desktop_rag.ui.markdown.formula_object import formula_name
from desktop_rag.ui.markdown.markdown_html import (
    MarkdownStyle,
    render_html,
)
from desktop_rag.ui.markdown.segments import Segment, last_block_start, next_segment
from desktop_rag.ui.messages.segment_view import SegmentView
from desktop_rag.ui.widgets.controls import TextButton

SHOWN_CHARS = 40_000
_BUDGET_S = 0.008
# In heights of a line.
_COPY_ROOM = 2.0


class AnswerBody(QWidget):
    """Renders Markdown; its signals carry what was clicked."""

    citation_clicked = Signal(object)
    claim_clicked = Signal(int)
    address_clicked = Signal(str)

    def __init__(
        self, theme: Theme, drawer: FormulaDrawer | None = None, parent: QWidget | None = None
    ) -> None:
        """Without a `drawer`, formulas stay source."""
        super().__init__(parent)
        self._theme = theme
        self._drawer = drawer
        # Parts that are shown once their formulas are drawn, by their position.
        self._waiting: dict[int, tuple[str, bool]] = {}
        self._text = ""
        self._sources: tuple[SourceRef, ...] = ()
        self._claims: tuple[Claim, ...] = ()
        self._words, self._current = "", -1
        self._limit = SHOWN_CHARS
        self._is_live = False
        self._segments: list[Segment] = []
        self._shown: list[tuple[object, ...]] = []
        self._views: list[SegmentView] = []
        self._build()
        self._connect()

    def _build(self) -> None:
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._show_all = TextButton("", kind="quiet")
        self._show_all.hide()
        self._column.addWidget(self._show_all)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)

    def _connect(self) -> None:
        self._show_all.clicked.connect(self._on_show_all_clicked)
        self._timer.timeout.connect(self._render)
        self._theme.changed.connect(self._on_theme_changed)
        if self._drawer:
            self._drawer.drawn.connect(self._on_formulas_drawn)

    @property
    def is_rendered(self) -> bool:
        """True once rendering is complete."""
        return not (self._timer.isActive() or self._waiting)

    def show_text(
        self,
        text: str,
        sources: Sequence[SourceRef],
        claims: Sequence[Claim] = (),
        *,
        is_live: bool = False,
    ) -> None:
        """Show this text; a prefix shared with the previous text is not rendered again.

        While the answer is live, its last block has a separate view.
        """
        text = with_marks(text, claims)
        is_same = tuple(sources) == self._sources and tuple(claims) == self._claims
        is_longer = text.startswith(self._text) and is_same
        if is_longer and len(text) == len(self._text) and is_live == self._is_live:
            return
        self._text, self._is_live = text, is_live
        self._sources, self._claims = tuple(sources), tuple(claims)
        del self._segments[-1 if is_longer else 0 :]
        self._render()

    def mark_words(self, words: str, current: int) -> None:
        """Mark words in the text; `current` is the index of the hit the person is at, or -1."""
        self._words, self._current = words, current
        found = self._mark()
        if current >= found and self._limit < len(self._text):
            self._on_show_all_clicked()

    def found_place(self) -> QPoint:
        """Where the current hit is; the beginning without one."""
        for view in self._views:
            if (place := view.found_place()) is not None:
                return view.mapTo(self, place)
        return QPoint(0, 0)

    def _mark(self) -> int:
        found = 0
        for view in self._views:
            found += view.mark_words(self._words, self._current - found)
        return found

    @Slot()
    def _render(self) -> None:
        self._timer.stop()
        shown = self._text[: self._limit]
        stop_at = time.perf_counter() + _BUDGET_S
        pieces = len(self._segments)
        while (self._segments[-1].end if self._segments else 0) < len(shown):
            if time.perf_counter() > stop_at:
                self._timer.start(0)
                return
            last = self._segments[-1] if self._segments else Segment("", 0)
            segment = next_segment(shown, last.end, last.fence)
            self._segments.append(segment)
            is_growing = self._is_live and segment.end == len(shown)
            parts = self._growing(segment.source) if is_growing else [segment.source]
            for n, piece in enumerate(parts):
                self._show_piece(pieces, piece, is_growing=is_growing and n == len(parts) - 1)
                pieces += 1
        self._drop_views_from(pieces)
        self._offer_all()

    def _growing(self, source: str) -> list[str]:
        """What is final of a text, and its last block, up to a formula that is not complete."""
        shown = source[: open_formula(source)] if self._drawer else source
        cut = last_block_start(shown)
        return [piece for piece in (shown[:cut], shown[cut:]) if piece]

    def _show_piece(self, position: int, source: str, *, is_growing: bool = False) -> None:
        self._waiting.pop(position, None)
        formulas_in = [(f.latex, f.is_display) for f in formulas(MARK.sub("", source))]
        if self._drawer and not self._drawer.has_all(formulas_in):
            self._waiting[position] = (source, is_growing)
            if position == len(self._views):
                self._add_view()
            return
        badges = badges_in(source, self._claims)
        # A changed verdict in another segment must not clear a selection in this one.
        key = (source, self._sources, badges, self._theme.is_dark, is_growing)
        if position == len(self._views):
            self._add_view()
        if self._shown[position] != key:
            self._shown[position] = key
            citations = frozenset(source.n for source in self._sources)
            room = _COPY_ROOM * self.fontMetrics().height()
            look = MarkdownStyle(self._theme.colours, _code_font(), round(room))
            draws = self._drawer.drawing if self._drawer else None
            written = render_html(source, citations, look, badges, draws)
            drawn = ((key, draws(*key)) for key in formulas_in if draws)
            drawings = {formula_name(*key): drawing for key, drawing in drawn if drawing}
            self._views[position].show_html(written, self._sources, self._claims, drawings)
            # What is still being written can't be copied.
            blocks = () if is_growing else blocks_in(source, with_formulas=bool(self._drawer))
            self._views[position].show_blocks(blocks)
            if self._words:
                self._mark()

    def _add_view(self) -> None:
        view = SegmentView(self._theme, self)
        view.citation_clicked.connect(self.citation_clicked)
        view.claim_clicked.connect(self.claim_clicked)
        view.address_clicked.connect(self.address_clicked)
        self._column.insertWidget(len(self._views), view)
        self._views.append(view)
        self._shown.append(())

    def _drop_views_from(self, position: int) -> None:
        for view in self._views[position:]:
            view.hide()
            view.deleteLater()
        del self._views[position:], self._shown[position:]
        self._waiting = {place: s for place, s in self._waiting.items() if place < position}

    def _offer_all(self) -> None:
        hidden = len(self._text) - self._limit
        if hidden > 0:
            self._show_all.setText(tr("Show {hidden:,} more characters", hidden=hidden))
        self._show_all.setVisible(hidden > 0)

    @Slot()
    def _on_show_all_clicked(self) -> None:
        self._limit = max(self._limit, len(self._text))
        self._show_all.hide()
        del self._segments[-1:]
        self._render()

    @Slot()
    def _on_formulas_drawn(self) -> None:
        for position, (source, is_growing) in list(self._waiting.items()):
            self._show_piece(position, source, is_growing=is_growing)

    @Slot()
    def _on_theme_changed(self) -> None:
        self._segments.clear()
        self._timer.start(0)


def _code_font() -> str:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
