"""Forms over frozen values: each setting has a field that shows it and gives it back. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from PySide6.QtCore import Signal, SignalInstance, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QRadioButton,
    QSpinBox,
    QWidget,
)

from desktop_rag.activity.event_wording import text_of
from desktop_rag.core.language.translation import tr
from desktop_rag.core.setting_text import SettingText
from desktop_rag.ui.foundation.bridge import EditEnd
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    note,
    number_field,
    radio_group,
    selected_value,
    show_checked,
    show_number,
)

_BETWEEN_CHOICES_PX = 20
_BETWEEN_FIELDS_PX = 8


@dataclass(frozen=True, slots=True)
class _Bound:
    """How a field shows a setting, without telling of an edit, and how it is read."""

    show: Callable[[Any], object]
    read: Callable[[], Any]


class ValueForm(SettingsSection):
    """Edits a frozen value; `changed` carries each new one."""

    changed = Signal(object)

    def __init__(self, title: str, value: Any, intro: str = "") -> None:
        """`value` is one of those it edits, until another is shown."""
        super().__init__(title, intro)
        self.value = value
        self._bound: dict[str, _Bound] = {}
        self._edits: list[EditEnd] = []

    def show_value(self, value: Any) -> None:
        """Show these settings without emitting `changed`."""
        self.value = value
        for setting, bound in self._bound.items():
            bound.show(getattr(value, setting))

    def read(self) -> Any:
        """The value as the fields say it."""
        return replace(self.value, **{name: bound.read() for name, bound in self._bound.items()})

    def change_to(self, value: Any) -> None:
        """Show a value, and emit it if it is another one."""
        is_other = value != self.value
        self.show_value(value)
        if is_other:
            self.changed.emit(value)

    def settle(self) -> None:
        """Take what was typed last, even if the mouse button is still down."""
        for edit in self._edits:
            edit.settle()

    # --- rows ------------------------------------------------------------------------------------

    def add(self, *settings: str) -> list[QWidget]:
        """Add a row for each of these settings, as it is declared; returns their fields."""
        return [field for setting in settings for field in self._add(setting)]

    def add_field(
        self, setting: str, field: QWidget, *others: QWidget, is_wide: bool = False
    ) -> PlainLabel:
        """Add a row for a setting with a field of its own, and what stands beside it."""
        if setting not in self._bound:
            self.bind_field(setting, field)
        return self._add_named(setting, field, *others, is_wide=is_wide)

    def _add(self, setting: str) -> Sequence[QWidget]:
        text = text_of(type(self.value), setting)
        match getattr(self.value, setting):
            case bool():
                field = QCheckBox(text.name)
            case StrEnum():
                return self._add_choice(setting, text)
            case int() | float() as number:
                field = number_field(text.least, text.most, text.step, text.unit)
                field.setSpecialValueText(text.empty)
                kind, show = type(number), partial(show_number, field)
                self.bind(setting, show, lambda: kind(field.value()), field.valueChanged)
                self._add_named(setting, field)
                return (field,)
            case tuple():
                field = QLineEdit(placeholderText=text.empty)
                ended = self.ended(field)
                self.bind(setting, partial(_show_names, field), partial(_names_in, field), ended)
                self._add_named(setting, field, is_wide=True)
                return (field,)
            case _:
                field = QLineEdit(placeholderText=text.empty)
        self.add_field(setting, field)
        return (field,)

    def _add_named(self, setting: str, *fields: QWidget, is_wide: bool = False) -> PlainLabel:
        text = text_of(type(self.value), setting)
        label = text.label or ("" if isinstance(fields[0], QCheckBox) else text.name)
        if isinstance(fields[0], QLineEdit | QComboBox | QSpinBox):
            fields[0].setAccessibleName(text.name)
        is_choice = isinstance(fields[0], QRadioButton)
        shown = self.add_row(
            label,
            *fields,
            is_wide=is_wide,
            words=text.words,
            spacing_px=_BETWEEN_CHOICES_PX if is_choice else _BETWEEN_FIELDS_PX,
        )
        waits = tr("Takes effect after a restart.") if text.waits else ""
        if about := " ".join(filter(None, (text.about, waits))):
            self.add_note(note(about))
        return shown

    def _add_choice(self, setting: str, text: SettingText) -> Sequence[QWidget]:
        buttons = radio_group(self, text.name, text.choices)
        kind = type(getattr(self.value, setting))
        # Not `toggled`, which fires for the deselected button too.
        clicks = [button.clicked for button in buttons.values()]
        self.bind(
            setting,
            lambda value: buttons[value].setChecked(True),
            lambda: kind(selected_value(buttons)),
            *clicks,
        )
        self._add_named(setting, *buttons.values())
        return tuple(buttons.values())

    def bind(
        self,
        setting: str,
        show: Callable[[Any], object],
        read: Callable[[], Any],
        *edited: SignalInstance,
    ) -> None:
        """Let a field of any kind show a setting; the signals follow when it is edited."""
        self._bound[setting] = _Bound(show, read)
        for signal in edited:
            signal.connect(self._on_edited)

    def ended(self, field: QLineEdit) -> SignalInstance:
        """The signal that follows when a field is edited to its end."""
        edit = EditEnd(field)
        self._edits.append(edit)
        return edit.ended

    def bind_field(self, setting: str, field: QWidget) -> None:
        """Let a field of a usual kind show a setting."""
        match field:
            case QCheckBox():
                self.bind(setting, partial(show_checked, field), field.isChecked, field.toggled)
            case QSpinBox() | QDoubleSpinBox():
                self.bind(setting, partial(show_number, field), field.value, field.valueChanged)
            case QComboBox():
                self.bind(
                    setting,
                    lambda value: field.setCurrentIndex(max(0, field.findData(value))),
                    field.currentData,
                    field.activated,
                )
            case QLineEdit():
                ended = self.ended(field)
                self.bind(setting, field.setText, lambda: field.text().strip(), ended)
            case _:
                raise TypeError(field)

    @Slot()
    def _on_edited(self) -> None:
        self.change_to(self.read())


def _show_names(field: QLineEdit, names: Sequence[str]) -> None:
    field.setText(", ".join(names))


def _names_in(field: QLineEdit) -> tuple[str, ...]:
    return tuple(name for each in field.text().split(",") if (name := each.strip()))
