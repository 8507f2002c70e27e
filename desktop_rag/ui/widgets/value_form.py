"""Forms over frozen values: each setting has a field that shows it and gives it back. Qt thread."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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

from desktop_rag.ui.foundation.bridge import EditEnd
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    note,
    radio_group,
    selected_value,
    show_checked,
    show_number,
)

_BETWEEN_CHOICES_PX = 20


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

    def add_setting(
        self,
        setting: str,
        label: str,
        field: QWidget,
        *others: QWidget,
        words: str,
        about: str = "",
        is_wide: bool = False,
    ) -> PlainLabel:
        """Add a row for a setting; `about` is the note below it, the rest as of `add_row`."""
        self.bind_field(setting, field)
        named = self.add_row(label, field, *others, is_wide=is_wide, words=words)
        if about:
            self.add_note(note(about))
        return named

    def add_tick(
        self, setting: str, label: str, text: str, *, words: str, about: str = ""
    ) -> QCheckBox:
        """Add a row with a box to tick, which bears the text."""
        box = QCheckBox(text)
        self.add_setting(setting, label, box, words=words, about=about)
        return box

    def add_choice(
        self,
        setting: str,
        label: str,
        choices: Mapping[str, str],
        *,
        name: str = "",
        words: str,
        about: str = "",
        spacing_px: int = _BETWEEN_CHOICES_PX,
    ) -> dict[str, QRadioButton]:
        """Add a row to choose one of an Enum's values in; `name` is read out before each."""
        buttons = radio_group(self, name or label, choices)
        kind = type(getattr(self.value, setting))
        # Not `toggled`, which fires for the deselected button too.
        clicks = [button.clicked for button in buttons.values()]
        self.bind(
            setting,
            lambda value: buttons[value].setChecked(True),
            lambda: kind(selected_value(buttons)),
            *clicks,
        )
        self.add_row(label, *buttons.values(), spacing_px=spacing_px, words=words)
        if about:
            self.add_note(note(about))
        return buttons

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
