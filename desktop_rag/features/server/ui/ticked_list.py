"""A choice of several, one box for each. Qt thread."""

from collections.abc import Iterable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import set_tip

_LONGEST = 44


class TickedList(QWidget):
    """The choices by their keys. Long names are cut; their tips are not."""

    def __init__(
        self, name: str, choices: Mapping[str, str], ticked: Iterable[str] = (),
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setAccessibleName(name)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        chosen = frozenset(ticked)
        self._boxes: dict[str, QCheckBox] = {}
        for key, words in choices.items():
            whole = one_line(words)
            shown = whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}…"
            # Ampersands of foreign names are no shortcuts.
            box = QCheckBox(shown.replace("&", "&&"))
            box.setAccessibleName(whole)
            if shown != whole:
                set_tip(box, whole)
            box.setChecked(key in chosen)
            column.addWidget(box, 0, Qt.AlignmentFlag.AlignLeft)
            self._boxes[key] = box

    @property
    def ticked(self) -> tuple[str, ...]:
        """The keys of those that are ticked, in their order."""
        return tuple(key for key, box in self._boxes.items() if box.isChecked())
