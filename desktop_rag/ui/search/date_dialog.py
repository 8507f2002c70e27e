"""A dialog for the days that files are from. Qt thread."""

from datetime import date

from PySide6.QtCore import QDate, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDateEdit, QDialog, QGridLayout, QHBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_NOTE = tr("By the date that a file states about itself, else by its last change.")


class DateDialog(QDialog):
    """`submitted` carries the first and the last day, each a date or None."""

    submitted = Signal(object, object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Dates"))
        today = QDate.currentDate()
        self._has_first, self._first = _day(tr("From"), tr("First day"), today.addMonths(-1))
        self._has_last, self._last = _day(tr("To"), tr("Last day"), today)
        self._has_first.setChecked(True)
        self._apply = TextButton(tr("Search"), kind="primary")
        self._apply.setDefault(True)
        self._cancel = TextButton(tr("Cancel"))
        grid = QGridLayout(self)
        grid.setContentsMargins(20, 18, 20, 16)
        grid.setSpacing(8)
        for row, widgets in enumerate(
            ((self._has_first, self._first), (self._has_last, self._last))
        ):
            for column, widget in enumerate(widgets):
                grid.addWidget(widget, row, column)
        grid.setColumnStretch(1, 1)
        grid.addWidget(PlainLabel(_NOTE, tone="muted", scale="small", wrap=True), 2, 0, 1, 2)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._apply)
        grid.addLayout(buttons, 3, 0, 1, 2)
        self._apply.clicked.connect(self._on_applied)
        self._cancel.clicked.connect(self.reject)

    @Slot()
    def _on_applied(self) -> None:
        first = _chosen(self._first) if self._has_first.isChecked() else None
        last = _chosen(self._last) if self._has_last.isChecked() else None
        self.submitted.emit(first, last)
        self.accept()


def _day(words: str, name: str, day: QDate) -> tuple[QCheckBox, QDateEdit]:
    box, field = QCheckBox(words), QDateEdit(day)
    field.setCalendarPopup(True)
    field.setAccessibleName(name)
    field.setEnabled(False)
    box.toggled.connect(field.setEnabled)
    return box, field


def _chosen(field: QDateEdit) -> date:
    day = field.date()
    return date(day.year(), day.month(), day.day())
