"""The filters of a search: a menu for each kind, and a chip for each chosen filter. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from PySide6.QtCore import QDate, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDateEdit, QDialog, QGridLayout, QMenu, QWidget

from desktop_rag.core.language.translation import number_in_words, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import value_in_words
from desktop_rag.ui.search.filter_choices import (
    Choice,
    Choices,
    FilterKind,
    Found,
    SearchFilter,
    choices_among,
    chosen_dates,
    usual_dates,
    with_filter,
)
from desktop_rag.ui.widgets.controls import MenuButton, PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.forms import open_once
from desktop_rag.ui.widgets.layouts import Stretch, drop, horizontal
from desktop_rag.ui.widgets.removable_chip import RemovableChip

_NOTE = tr("By the date that a file states about itself, else by its last change.")


class DateDialog(QDialog):
    """A choice of days; `submitted` carries the first and the last one, each a date or None."""

    submitted = Signal(object, object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Dates"))
        today = QDate.currentDate()
        self._has_first, self._first = _day(tr("From"), tr("First day"), today.addMonths(-1))
        self._has_last, self._last = _day(tr("To"), tr("Last day"), today)
        self._has_first.setChecked(True)
        self._apply = TextButton(tr("Search"), kind="primary", then=self._on_applied)
        self._apply.setDefault(True)
        self._cancel = TextButton(tr("Cancel"), then=self.reject)
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
        buttons = horizontal(Stretch(), self._cancel, self._apply)
        grid.addLayout(buttons, 3, 0, 1, 2)

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


_NO_TAGS = tr("No tags yet. Give some to files in the library, or by “tags:” in front matter.")


class FilterBar(QWidget):
    """The menus and chips of the filters; `changed` follows each change of `filters`."""

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.filters: tuple[SearchFilter, ...] = ()
        self._choices: Choices = {}
        self._found: Found | None = None
        self._chips: list[RemovableChip] = []
        self._row = FlowRow(self)
        self._buttons = {kind: self._button(kind) for kind in FilterKind}
        self._clear = TextButton(tr("Clear all filters"), kind="quiet", then=self.clear)
        self._row.addWidget(self._clear)
        self._clear.hide()
        self.setAccessibleName(tr("Filters"))
        self.show_choices({})

    def menu(self, kind: FilterKind) -> QMenu:
        """The menu of a kind of filter."""
        return self._buttons[kind].choices

    def show_choices(self, choices: Choices) -> None:
        """Offer these; chosen filters stay chosen."""
        self._choices = choices
        self._buttons[FilterKind.COLLECTION].setVisible(bool(choices.get(FilterKind.COLLECTION)))

    def show_found(self, found: Found | None) -> None:
        """Count the choices among the results; None if nothing is searched for.

        Choices of one kind are alternatives: results for one tell nothing about the others, which
        then have no numbers.
        """
        self._found = found

    def add(self, added: SearchFilter) -> None:
        """Choose a filter."""
        self._set(with_filter(self.filters, added))

    @Slot()
    def clear(self) -> None:
        """Choose none."""
        self._set(())

    def _set(self, filters: tuple[SearchFilter, ...]) -> None:
        if filters != self.filters:
            self.filters = filters
            self._show_chips()
            self.changed.emit()

    # --- menus -----------------------------------------------------------------------------------

    def _button(self, kind: FilterKind) -> MenuButton:
        button = MenuButton(self._theme)
        button.setText(value_in_words(kind, begins=True))
        button.setAccessibleName(tr("Filter by {kind}", kind=value_in_words(kind)))
        button.choices.aboutToShow.connect(lambda: self._fill(kind))
        self._row.addWidget(button)
        return button

    def _fill(self, kind: FilterKind) -> None:
        menu = self.menu(kind)
        menu.clear()
        if kind is FilterKind.DATE:
            for usual in usual_dates(date.today()):
                self._offer(menu, Choice(usual))
            menu.addSeparator()
            menu.addAction(tr("Other days…"), self._on_other_days)
            return
        choices = self._counted(kind)
        for choice in choices:
            self._offer(menu, choice)
        if not choices:
            words = _NO_TAGS if kind is FilterKind.TAG else tr("Nothing to choose from yet.")
            menu.addAction(words).setEnabled(False)

    def _counted(self, kind: FilterKind) -> Sequence[Choice]:
        choices, found = self._choices.get(kind, ()), self._found
        if found and any(chosen.kind is kind for chosen in self.filters):
            found = replace(found, is_complete=False)
        return choices_among(choices, found) if found else choices

    def _offer(self, menu: QMenu, choice: Choice) -> None:
        """Add an entry for a choice, with its number of files; a folder has a submenu."""
        if choice.inside:
            below = menu.addMenu(_literal(choice.filter.label))
            self._add_entry(below, choice, tr("All of it"))
            below.addSeparator()
            for inner in choice.inside:
                self._add_entry(below, inner, inner.filter.label)
        else:
            self._add_entry(menu, choice, choice.filter.label)

    def _add_entry(self, menu: QMenu, choice: Choice, label: str) -> None:
        count = f"\t{_number_of(choice)}" if choice.files is not None else ""
        action = menu.addAction(f"{_literal(label)}{count}")
        action.setCheckable(True)
        action.setChecked(choice.filter in self.filters)
        action.triggered.connect(lambda is_on: self._on_toggled(choice.filter, is_on))

    def _on_toggled(self, toggled: SearchFilter, is_on: bool) -> None:
        if is_on:
            self.add(toggled)
        else:
            self._set(tuple(each for each in self.filters if each != toggled))

    @Slot()
    def _on_other_days(self) -> None:
        dialog = DateDialog(self.window())

        def choose(first: date | None, last: date | None) -> None:
            if chosen := chosen_dates(first, last):
                self.add(chosen)

        dialog.submitted.connect(choose)
        open_once(dialog)

    # --- chips -----------------------------------------------------------------------------------

    def _show_chips(self) -> None:
        self._row.removeWidget(self._clear)
        drop(self._chips, of=self._row)
        self._chips = [self._chip(chosen) for chosen in self.filters]
        self._row.addWidget(self._clear)
        self._clear.setVisible(len(self.filters) > 1)
        self.updateGeometry()

    def _chip(self, chosen: SearchFilter) -> RemovableChip:
        chip = RemovableChip(
            self._theme, chosen.words, tr("Remove the filter {words}", words=chosen.words), self
        )
        chip.removed.connect(lambda: self._on_toggled(chosen, is_on=False))
        self._row.addWidget(chip)
        chip.show()
        return chip


def _number_of(choice: Choice) -> str:
    """The number of files and of documents inside files, as in the library: `58 + 3`."""
    files = number_in_words(choice.files or 0)
    return f"{files} + {number_in_words(choice.parts)}" if choice.parts else files


def _literal(label: str) -> str:
    """The text of a menu entry, in which & begins no shortcut."""
    return label.replace("&", "&&")
