"""Draws the formulas of a window on its worker threads, and keeps the drawings. Qt thread."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.markdown.formula_drawing import Drawing, draw

# The LaTeX, and True for a formula on lines of its own.
Key = tuple[str, bool]
_KEPT = 2_000


class FormulaDrawer(QObject):
    """`drawn` says that formulas asked for by `has_all` are drawn, or known to be undrawable."""

    drawn = Signal()

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._drawings: dict[Key, Drawing | None] = {}
        self._asked: set[Key] = set()

    def drawing(self, latex: str, is_display: bool) -> Drawing | None:
        """The drawing; None while it is not drawn, and for what can't be drawn."""
        return self._drawings.get((latex, is_display))

    def has_all(self, keys: Iterable[Key]) -> bool:
        """True when all of them are drawn; the others are, in the background."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._drawings]
        if wanted := [key for key in missing if key not in self._asked]:
            self._asked.update(wanted)
            self._bridge.run(self, lambda: {key: draw(*key) for key in wanted}, self._on_drawn)
        return not missing

    def _on_drawn(self, drawings: dict[Key, Drawing | None]) -> None:
        self._asked.difference_update(drawings)
        self._drawings |= drawings
        # What is on the screen has its drawings itself.
        for key in list(self._drawings)[: max(0, len(self._drawings) - _KEPT)]:
            del self._drawings[key]
        self.drawn.emit()
