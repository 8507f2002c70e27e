"""Form fields for following the links of pages. Qt thread."""

from dataclasses import replace

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import note, number_field

_MOST_STEPS = 100
_USUAL_STEPS = 3
_INDENT_PX = 24


class FollowForm(QWidget):
    """Edits whether, and how far, links are followed."""

    def __init__(self, links: WebLinks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._follows = QCheckBox(tr("Follow links"))
        self._depth = number_field(1, _MOST_STEPS, 1, tr(" steps"))
        self._depth.setAccessibleName(tr("Steps from the address"))
        self._path = QLineEdit()
        self._path.setPlaceholderText(tr("the folder of the address"))
        self._path.setAccessibleName(tr("Only below this path"))
        self._fields = QWidget()
        self._build()
        self._follows.toggled.connect(self._on_toggled)
        self._follows.setChecked(links.follow_depth > 0)
        self._depth.setValue(links.follow_depth or _USUAL_STEPS)
        self._path.setText(links.path_limit)
        self._on_toggled()

    def applied_to(self, links: WebLinks) -> WebLinks:
        """The links with what was entered here."""
        if not self._follows.isChecked():
            return replace(links, follow_depth=0, path_limit="")
        path = self._path.text().strip()
        return replace(links, follow_depth=self._depth.value(), path_limit=path)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._follows)
        inner = QVBoxLayout(self._fields)
        inner.setContentsMargins(_INDENT_PX, 0, 0, 0)
        inner.setSpacing(6)
        for label, field in (
            (tr("Steps from the address"), self._depth),
            (tr("Only below this path"), self._path),
        ):
            row = QHBoxLayout()
            row.addWidget(PlainLabel(label), 1)
            row.addWidget(field, 2)
            inner.addLayout(row)
        text = tr(
            "Pages of the same site are read, one after the other, unless it asks programs not to."
        )
        inner.addWidget(note(text))
        column.addWidget(self._fields)

    @Slot()
    def _on_toggled(self) -> None:
        self._fields.setVisible(self._follows.isChecked())
