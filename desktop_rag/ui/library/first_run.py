"""What an empty library shows: three ways to begin, and what can be read. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, IconLabel, PlainLabel, TextButton

_ICON_PX = 28
# Title, sentence and button of each card.
_FOLDER = (
    "Choose a folder",
    "Papers, notes, reports: everything below it is read now and kept up to date from then on.",
    "Add folder…",
)
_DEMO = (
    "Try the demo",
    "A small library written for this app. Index it, ask a first question, remove it again.",
    "Add demo documents",
)
_ENDPOINT = (
    "Connect a model",
    "Optional. Without one, answers are the best sentences of your documents, word for word.",
    "Open settings",
)


class ChoiceCard(Card):
    """One way to begin: an icon, a title, a sentence and a button. `chosen` tells of the click."""

    chosen = Signal()

    def __init__(
        self, theme: Theme, icon: str, texts: tuple[str, str, str], *, is_main: bool = False
    ) -> None:
        """`texts`: title, sentence, button."""
        super().__init__()
        title, sentence, action = texts
        self.button = TextButton(action, kind="primary" if is_main else "")
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 18, 18, 18)
        column.setSpacing(8)
        column.addWidget(IconLabel(theme, icon, size_px=_ICON_PX))
        column.addWidget(PlainLabel(title, scale="heading"))
        words = PlainLabel(sentence, tone="muted", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignTop)
        column.addWidget(words, 1)
        column.addSpacing(6)
        column.addWidget(self.button)
        self.button.clicked.connect(self._on_clicked)

    @Slot()
    def _on_clicked(self) -> None:
        self.chosen.emit()


class FirstRun(QWidget):
    """Choose a folder, try the demo library, or connect a model first (which may wait)."""

    folder_asked = Signal()
    demo_asked = Signal()
    endpoint_asked = Signal()

    def __init__(
        self,
        theme: Theme,
        kinds_read: Sequence[str],
        parent: QWidget | None = None,
        *,
        has_demo: bool = True,
    ) -> None:
        """`kinds_read` names the kinds of files that are read, as a person calls them."""
        super().__init__(parent)
        self._kinds_read = f"{', '.join(kinds_read[:-1])} and {kinds_read[-1]}"
        self._folder = ChoiceCard(theme, "folder-plus:accent", _FOLDER, is_main=True)
        self._demo = ChoiceCard(theme, "library:accent", _DEMO)
        self._endpoint = ChoiceCard(theme, "server:accent", _ENDPOINT)
        self._build()
        # Not before it stands in here: alone it would be a window for a moment.
        self._demo.setVisible(has_demo)
        self._folder.chosen.connect(self.folder_asked)
        self._demo.chosen.connect(self.demo_asked)
        self._endpoint.chosen.connect(self.endpoint_asked)

    def _build(self) -> None:
        cards = QHBoxLayout()
        cards.setSpacing(14)
        for card in (self._folder, self._demo, self._endpoint):
            cards.addWidget(card, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addStretch(1)
        column.addWidget(PlainLabel("Ask your own documents", scale="title"))
        column.addWidget(
            PlainLabel(
                "Choose a folder and ask away: its files are found by their words within seconds, "
                "and by their meaning soon after. They stay where they are, on this computer.",
                tone="muted",
                wrap=True,
            )
        )
        column.addSpacing(10)
        column.addLayout(cards)
        column.addSpacing(6)
        column.addWidget(
            PlainLabel(
                f"Reads {self._kinds_read}. You can also drop folders or files here.",
                tone="muted",
                wrap=True,
            )
        )
        column.addStretch(2)
