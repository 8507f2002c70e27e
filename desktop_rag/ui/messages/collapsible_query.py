"""The database query behind an answer, collapsed by default. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import ToolButton
from desktop_rag.ui.widgets.marked_text import MarkedText


class CollapsibleQuery(QWidget):
    """A toggle, and below it the query as selectable plain text; made for the first query."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_built = False
        self.hide()

    def _build(self) -> None:
        self._button = ToolButton()
        self._button.setObjectName("queryButton")
        self._button.setText(tr("Calculated with a query"))
        self._button.setCheckable(True)
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setIconSize(QSize(16, 16))
        self._button.toggled.connect(self._on_toggled)
        self._query = MarkedText(self._theme, tr("Query"), role="text")
        self._query.setObjectName("queryText")
        self._query.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(4)
        column.addWidget(self._button, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._query)
        self._on_toggled(is_open=False)
        self._is_built = True

    def show_queries(self, sources: Sequence[SourceRef]) -> None:
        """Show the queries of these sources; hidden without any."""
        queries = [source.query for source in sources if source.query]
        self.setVisible(bool(queries))
        if queries and not self._is_built:
            self._build()
        if self._is_built:
            self._query.show_marked("\n\n".join(queries), ())

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:
        self._theme.set_icon(self._button, f"chevron-{'down' if is_open else 'right'}:muted")
        self._query.setVisible(is_open)
