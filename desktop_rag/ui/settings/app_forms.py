"""Settings sections: the app on the desktop, how it looks, what it is and records. Qt thread."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop_rag.activity.event_wording import text_of
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import (
    TEXT_SIZES,
    ActivitySettings,
    AppearanceSettings,
    BackgroundSettings,
    nearest_text_size,
)
from desktop_rag.desktop.hotkeys.hotkey import Action, Binding, Bound, Hotkey, has_portal_only
from desktop_rag.ui.documents.external_viewer import FileOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.window_language import language_name, languages
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton, set_property
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note
from desktop_rag.ui.widgets.layouts import horizontal, vertical
from desktop_rag.ui.widgets.value_form import ValueForm

_MODIFIER_KEYS = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta)
_TONES = {Binding.BOUND: "success", Binding.TAKEN: "danger"}


class _PressedKey(QLineEdit):
    """Shows the last pressed key; `pressed` carries it in words."""

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
    """Takes a hotkey by pressing it, and shows if it works. `changed` carries its words or ""."""

    changed = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._key = _PressedKey(name)
        self._clear = TextButton(tr("Clear"), kind="quiet", then=lambda: self._on_pressed(""))
        self._clear.setAccessibleDescription(tr("Use no key for: {name}", name=name))
        self._outcome = PlainLabel(tone="muted", scale="small", wrap=True)
        self._outcome.hide()
        vertical(
            horizontal((self._key, 1), self._clear), self._outcome, on=self, margins=0, spacing=4
        )
        self._key.pressed.connect(self._on_pressed)

    @property
    def hotkey(self) -> str:
        """The hotkey in words, "" for none."""
        return self._key.text()

    def show_hotkey(self, text: str) -> None:
        """Show this hotkey without emitting `changed`."""
        self._key.setText(text)
        self._clear.setVisible(bool(text))

    def show_outcome(self, bound: Bound | None) -> None:
        """Show what the desktop did with the hotkey; None without one."""
        words = "" if bound is None else told(bound.words)
        if bound and bound.outcome is Binding.BOUND:
            words = tr("In use: {words}", words=words) if words else tr("In use")
        set_property(self._outcome, "tone", _TONES.get(bound.outcome, "warning") if bound else "")
        self._say(words)

    def _say(self, words: str) -> None:
        self._outcome.say(words)

    @Slot(str)
    def _on_pressed(self, text: str) -> None:
        if text and Hotkey.parse(text) is None:
            self._say(tr("Use it with Ctrl, Alt or Meta, or a function key."))
            return
        self.show_hotkey(text)
        self._say("")
        self.changed.emit(text)


_HOTKEY_NOTE = tr(
    "Work in every program. Selected text is read when you press the key, never otherwise. A key"
    " set in your desktop's own settings can run “desktop-rag quick-ask” instead."
)
_PORTAL_NOTE = tr("On this desktop (Wayland) a program can't take a key by itself: it asks once.")


class BackgroundForm(ValueForm):
    """Edits BackgroundSettings, for the app without its window."""

    def __init__(self) -> None:
        super().__init__(tr("Quick ask and background"), BackgroundSettings())
        self._hotkey = self._add_hotkey("hotkey")
        self._selection_hotkey = self._add_hotkey("selection_hotkey")
        self.add_note(note(_HOTKEY_NOTE))
        if has_portal_only():
            ask = TextButton(tr("Ask the desktop for these keys"), then=self._on_ask_clicked)
            self.add_row("", ask, words=tr("Wayland, shortcut, permission"))
            self.add_note(note(_PORTAL_NOTE))
        self.add("when_closed", "starts_at_login", "notifies")

    def _add_hotkey(self, setting: str) -> HotkeyField:
        field = HotkeyField(text_of(BackgroundSettings, setting).name)
        self.bind(setting, field.show_hotkey, lambda: field.hotkey, field.changed)
        self.add_field(setting, field, is_wide=True)
        return field

    def show_hotkeys(self, outcome: Mapping[Action, Bound]) -> None:
        """Show the outcome of binding the hotkeys."""
        self._hotkey.show_outcome(outcome.get(Action.ASK))
        self._selection_hotkey.show_outcome(outcome.get(Action.ASK_ABOUT_SELECTION))

    @Slot()
    def _on_ask_clicked(self) -> None:
        self.change_to(replace(self.value, asks_for_hotkeys=True))


class AppearanceForm(ValueForm):
    """Edits AppearanceSettings."""

    def __init__(self) -> None:
        super().__init__(tr("Appearance"), AppearanceSettings())
        sizes, tongues = DropDown(), DropDown()
        for percent in TEXT_SIZES:
            sizes.addItem(f"{percent} %", percent)
        tongues.addItem(text_of(AppearanceSettings, "language").empty, "")
        for code in languages(resources_dir() / "words"):
            tongues.addItem(language_name(code), code)
        self.add("scheme")
        self.add_field("text_percent", sizes)
        self.add_field("language", tongues)

    def show_value(self, value: AppearanceSettings) -> None:
        super().show_value(replace(value, text_percent=nearest_text_size(value.text_percent)))


LICENCE = tr("Apache License 2.0")
_HOME_NOTE = tr("Index, chats, settings and log, all on this computer. API keys are not in it.")


class AboutSection(SettingsSection):
    """Shows version, licence and data folder."""

    def __init__(self, bridge: Bridge, home: Home) -> None:
        super().__init__(tr("About"))
        self._opener = FileOpener(bridge, self)
        self._version = PlainLabel(selectable=True)
        folder = ElidedLabel(str(home.root), mode=Qt.TextElideMode.ElideMiddle)
        self._open_home = TextButton(tr("Open"), then=lambda: self._opener.open(home.root))
        self._open_home.setAccessibleDescription(tr("Open the app's data folder"))
        self.add_row(tr("Version"), self._version, words=tr("update, release, which version"))
        self.add_row(
            tr("Licence"),
            PlainLabel(LICENCE, selectable=True),
            words=tr("license, copyright, open source"),
        )
        self.add_row(
            tr("Data folder"),
            folder,
            self._open_home,
            is_wide=True,
            words=tr("where is my data, storage location, path, disk, log"),
        )
        self.add_note(note(_HOME_NOTE))
        bridge.run(self, _version, self._version.setText)


class ActivityForm(ValueForm):
    """Edits ActivitySettings."""

    def __init__(self) -> None:
        super().__init__(tr("Activity"), ActivitySettings())
        self.add("is_recorded")


def _version() -> str:
    """The installed version. It reads a file, so it runs on a worker thread."""
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return tr("not installed (running from source)")
