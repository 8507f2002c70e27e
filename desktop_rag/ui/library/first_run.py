"""The page of an empty library: three ways to start, and the supported formats. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, IconLabel, PlainLabel, TextButton

_ICON_PX = 28
_GAP_PX = 14
# Title, text and button of each card.
_FOLDER = (
    tr("Add a folder"),
    tr("Papers, notes, reports: everything in it is indexed now and kept up to date from then on."),
    tr("Add folder…"),
)
_DEMO = (
    tr("Try the demo"),
    tr("A small sample library. Index it, ask a first question, and remove it when you are done."),
    tr("Add demo documents"),
)
_ENDPOINT = (
    tr("Connect a model"),
    tr("Optional. Without one, answers quote the best sentences from your documents."),
    tr("Open settings"),
)


class ChoiceCard(Card):
    """One way to start: an icon, a title, a text and a button. `chosen` follows a click on it."""

    chosen = Signal()

    def __init__(
        self, theme: Theme, icon: str, texts: tuple[str, str, str], *, is_main: bool = False
    ) -> None:
        """`texts` are the title, the text and the button."""
        super().__init__()
        title, text, action = texts
        self.button = TextButton(action, kind="primary" if is_main else "")
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 18, 18, 18)
        column.setSpacing(8)
        column.addWidget(IconLabel(theme, icon, size_px=_ICON_PX))
        column.addWidget(PlainLabel(title, scale="heading"))
        words = PlainLabel(text, tone="muted", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignTop)
        column.addWidget(words, 1)
        column.addSpacing(6)
        column.addWidget(self.button)
        self.button.clicked.connect(self._on_clicked)

    @Slot()
    def _on_clicked(self) -> None:
        self.chosen.emit()


# The kinds of files that have no name of their own.
KINDS_IN_WORDS = {
    "e-mail": tr("e-mail"),
    "notebooks": tr("notebooks"),
    "plain text": tr("plain text"),
    "source code": tr("source code"),
    "web pages": tr("web pages"),
}


class FirstRun(QWidget):
    """Offers to add a folder, to try the demo library, or to connect a model."""

    folder_requested = Signal()
    demo_requested = Signal()
    settings_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        kinds_read: Sequence[str],
        parent: QWidget | None = None,
        *,
        has_demo: bool = True,
    ) -> None:
        """`kinds_read` names the supported kinds of files, such as `PDF`."""
        super().__init__(parent)
        self.setProperty("kind", "page")
        *kinds, last = (KINDS_IN_WORDS.get(kind, kind) for kind in kinds_read)
        self._kinds_read = tr("{join} and {value}", join=", ".join(kinds), value=last)
        self._folder = ChoiceCard(theme, "folder-plus:accent", _FOLDER, is_main=True)
        self._demo = ChoiceCard(theme, "file-text:accent", _DEMO)
        self._endpoint = ChoiceCard(theme, "server:accent", _ENDPOINT)
        self._build()
        # Only once it is in the layout: a parentless visible widget is a window.
        self._demo.setVisible(has_demo)
        self._folder.chosen.connect(self.folder_requested)
        self._demo.chosen.connect(self.demo_requested)
        self._endpoint.chosen.connect(self.settings_requested)

    def _build(self) -> None:
        # Beside each other where there is room for their words, else below each other.
        self._cards = cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        cards.setSpacing(_GAP_PX)
        for card in (self._folder, self._demo, self._endpoint):
            cards.addWidget(card, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addStretch(1)
        column.addWidget(PlainLabel(tr("Ask your documents"), scale="title", wrap=True))
        column.addWidget(
            PlainLabel(
                tr(
                    "Add a folder and start asking. You can search its files by words within"
                    " seconds and by meaning soon after. They stay where they are, on this"
                    " computer."
                ),
                tone="muted",
                wrap=True,
            )
        )
        column.addSpacing(10)
        column.addLayout(cards)
        column.addSpacing(6)
        column.addWidget(
            PlainLabel(
                tr(
                    "Supported: {kinds_read}. You can also drop folders or files here.",
                    kinds_read=self._kinds_read,
                ),
                tone="muted",
                wrap=True,
            )
        )
        column.addStretch(2)

    def minimumSizeHint(self) -> QSize:
        size = super().minimumSizeHint()
        return QSize(min(size.width(), self._column_px()), size.height())

    def _column_px(self) -> int:
        """The width of the widest card."""
        cards = (self._folder, self._demo, self._endpoint)
        return max(card.minimumSizeHint().width() for card in cards)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed_px = self._cards.count() * (self._column_px() + _GAP_PX)
        directions = QBoxLayout.Direction
        is_wide = event.size().width() >= needed_px
        self._cards.setDirection(directions.LeftToRight if is_wide else directions.TopToBottom)
