"""The filters in force, each removed by a press. Qt thread."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import value_in_words
from desktop_rag.ui.library.facets.facet_values import Facet
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, set_tip
from desktop_rag.ui.widgets.elided_button import ElidedButton

_MOST_CHIPS = 5
_ICON_PX = 16


class ActiveFilter(NamedTuple):
    """A chosen value of a facet with its words."""

    facet: Facet
    value: str
    label: str


class FilterChip(ElidedButton):
    """A filter in force; a press removes it."""

    _PADDING_PX = 48

    def __init__(self, theme: Theme, shown: ActiveFilter, parent: QWidget) -> None:
        super().__init__(
            f"{value_in_words(shown.facet, begins=True)}: {shown.label}", "chip", parent
        )
        self.setProperty("part", "filter")
        # Puts the cross after the text.
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.setIconSize(QSize(_ICON_PX, _ICON_PX))
        theme.set_icon(self, "close:accent_soft_text")
        self.setAccessibleName(tr("Remove the filter {full_text}", full_text=self.full_text))
        set_tip(self, self.accessibleName())


class ActiveFilters(QWidget):
    """One chip for each chosen value; all of it is hidden while there is none.

    `removed` carries the facet and the value, `cleared` follows the press that removes all.
    """

    removed = Signal(object, str)
    cleared = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[ActiveFilter, ...] = ()
        self._chips: list[FilterChip] = []
        self._others = PlainLabel("", tone="muted", scale="small")
        self._clear = TextButton(tr("Clear filters"), kind="quiet")
        self._clear.clicked.connect(self.cleared)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self._row.addWidget(self._others)
        self._row.addWidget(self._clear)
        self._row.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_filters(self, filters: Sequence[ActiveFilter], *, has_words: bool) -> None:
        """Show these; with `has_words` the typed words can be cleared with them."""
        if tuple(filters) != self._shown:
            self._shown = tuple(filters)
            self._rebuild()
        self.setVisible(bool(filters) or has_words)

    def _rebuild(self) -> None:
        had_focus = any(chip.hasFocus() for chip in self._chips)
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        self._chips = []
        before: QWidget | None = None
        for position, shown in enumerate(self._shown[:_MOST_CHIPS]):
            chip = FilterChip(self._theme, shown, self)
            chip.clicked.connect(lambda _=False, one=shown: self._on_removed(one))
            self._row.insertWidget(position, chip)
            chip.show()
            self._chips.append(chip)
            if before is not None:
                self.setTabOrder(before, chip)
            before = chip
        if before is not None:
            self.setTabOrder(before, self._clear)
        more = len(self._shown) - _MOST_CHIPS
        self._others.setText(tr("and {more:,} more", more=more) if more > 0 else "")
        self._others.setVisible(more > 0)
        if had_focus:
            (self._chips[0] if self._chips else self._clear).setFocus()

    def _on_removed(self, one: ActiveFilter) -> None:
        self.removed.emit(one.facet, one.value)
