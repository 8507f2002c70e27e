"""A choice of several from a list that may be long: it scrolls beyond a few. Qt thread."""

from collections.abc import Iterable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from desktop_rag.ui.foundation.wording import one_line

_MOST_LINES = 5
_GAP_PX = 6


class TickedList(QScrollArea):
    """One box for each choice, by its key."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._boxes: dict[str, QCheckBox] = {}
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(_GAP_PX)
        self.setWidget(inside)

    def show_choices(self, choices: Mapping[str, str], ticked: Iterable[str] = ()) -> None:
        """Offer these, some of them ticked."""
        for box in self._boxes.values():
            box.deleteLater()
        chosen = frozenset(ticked)
        # Ampersands of foreign names are no shortcuts.
        self._boxes = {
            key: QCheckBox(one_line(words).replace("&", "&&")) for key, words in choices.items()
        }
        for key, box in self._boxes.items():
            box.setChecked(key in chosen)
            self._column.addWidget(box, 0, Qt.AlignmentFlag.AlignLeft)
        lines = min(len(self._boxes), _MOST_LINES)
        line_px = max((box.sizeHint().height() for box in self._boxes.values()), default=0)
        self.setFixedHeight(lines * (line_px + _GAP_PX))

    @property
    def ticked(self) -> tuple[str, ...]:
        """The keys of those that are ticked, in their order."""
        return tuple(key for key, box in self._boxes.items() if box.isChecked())
