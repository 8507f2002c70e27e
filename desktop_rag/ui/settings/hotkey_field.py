"""A field that takes a hotkey by pressing it, and says what became of it. Qt thread."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import told, tr
from desktop_rag.desktop.hotkeys.hotkey import Binding, Bound, Hotkey
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, set_property

_MODIFIER_KEYS = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta)
_TONES = {Binding.BOUND: "success", Binding.TAKEN: "danger"}


class _PressedKey(QLineEdit):
    """Shows the key that was pressed last; `pressed` carries it in words."""

    pressed = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setPlaceholderText(tr("None. Press keys to set one"))
        self.setAccessibleName(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _MODIFIER_KEYS or (key == Qt.Key.Key_Tab and not event.modifiers()):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete) and not event.modifiers():
            self.pressed.emit("")
        else:
            self.pressed.emit(QKeySequence(event.keyCombination()).toString())


class HotkeyField(QWidget):
    """`changed` carries the hotkey in words, "" for none."""

    changed = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._key = _PressedKey(name)
        self._clear = TextButton(tr("Clear"), kind="quiet")
        self._clear.setAccessibleDescription(tr("Use no key for: {name}", name=name))
        self._outcome = PlainLabel(tone="muted", scale="small", wrap=True)
        self._outcome.hide()
        row = QHBoxLayout()
        row.addWidget(self._key, 1)
        row.addWidget(self._clear)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._outcome)
        self._key.pressed.connect(self._on_pressed)
        self._clear.clicked.connect(lambda: self._on_pressed(""))

    @property
    def hotkey(self) -> str:
        """The hotkey in words, "" for none."""
        return self._key.text()

    def show_hotkey(self, text: str) -> None:
        """Show this one without emitting a change."""
        self._key.setText(text)
        self._clear.setVisible(bool(text))

    def show_outcome(self, bound: Bound | None) -> None:
        """Say what the desktop did with the hotkey; None when there is none."""
        words = "" if bound is None else told(bound.words)
        if bound and bound.outcome is Binding.BOUND:
            words = tr("In use: {words}", words=words) if words else tr("In use")
        set_property(self._outcome, "tone", _TONES.get(bound.outcome, "warning") if bound else "")
        self._say(words)

    def _say(self, words: str) -> None:
        self._outcome.setText(words)
        self._outcome.setVisible(bool(words))

    @Slot(str)
    def _on_pressed(self, text: str) -> None:
        if text and Hotkey.parse(text) is None:
            self._say(tr("Use it with Ctrl, Alt or Meta, or a function key."))
            return
        self.show_hotkey(text)
        self._say("")
        self.changed.emit(text)
