"""Settings sections: the app on the desktop, how it looks, what it is and records. Qt thread."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import (
    TEXT_SIZES,
    ActivitySettings,
    AppearanceSettings,
    BackgroundSettings,
    ColourScheme,
    WhenClosed,
    nearest_text_size,
)
from desktop_rag.desktop.hotkeys.hotkey import Action, Binding, Bound, Hotkey, has_portal_only
from desktop_rag.ui.documents.external_viewer import FileOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.window_language import language_name, languages
from desktop_rag.ui.settings.edited_settings import SAME_AS_SYSTEM, SCHEMES, WHEN_CLOSED
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton, set_property
from desktop_rag.ui.widgets.form_fields import (
    DropDown,
    SettingsSection,
    note,
    radio_group,
    selected_value,
    show_checked,
)
from desktop_rag.ui.widgets.layouts import horizontal, vertical

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
_STAY_NOTE = tr("While it runs, your folders are kept up to date and the quick ask opens at once.")
_NOTICE_NOTE = tr(
    "When the first indexing is done, a folder goes offline, something needs you, or an answer is"
    " ready while you look elsewhere."
)


class BackgroundForm(SettingsSection):
    """Edits BackgroundSettings, for the app without its window; `changed` carries the value."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Quick ask and background"), parent=parent)
        self._background = BackgroundSettings()
        self._when_closed = radio_group(self, tr("When the window is closed"), WHEN_CLOSED)
        self._starts = QCheckBox(tr("Start at login, in the background"))
        self._notifies = QCheckBox(tr("Show notifications"))
        self._hotkey = HotkeyField(tr("Hotkey of the quick ask"))
        self._selection_hotkey = HotkeyField(tr("Hotkey to ask about selected text"))
        self._ask_desktop = TextButton(tr("Ask the desktop for these keys"))
        self.add_row(
            tr("Quick ask"),
            self._hotkey,
            is_wide=True,
            words=tr("shortcut, global hotkey, key combination, spotlight, popup"),
        )
        self.add_row(
            tr("With selected text"),
            self._selection_hotkey,
            is_wide=True,
            words=tr("shortcut, selection, highlighted text, clipboard, other program"),
        )
        self.add_note(note(_HOTKEY_NOTE))
        if has_portal_only():
            self.add_row("", self._ask_desktop, words=tr("Wayland, shortcut, permission"))
            self.add_note(note(_PORTAL_NOTE))
        self.add_row(
            tr("Closing the window"),
            *self._when_closed.values(),
            spacing_px=20,
            words=tr("quit, exit, tray, background, minimize"),
        )
        self.add_note(note(_STAY_NOTE))
        self.add_row(
            tr("Login"), self._starts, words=tr("autostart, startup, boot, start with the computer")
        )
        self.add_row(
            tr("Notifications"),
            self._notifies,
            words=tr("alerts, messages, popups, do not disturb"),
        )
        self.add_note(note(_NOTICE_NOTE))
        for button in self._when_closed.values():
            button.clicked.connect(self._on_edited)
        for field in (self._hotkey, self._selection_hotkey):
            field.changed.connect(self._on_edited)
        self._ask_desktop.clicked.connect(
            lambda: self._change_to(replace(self._background, asks_for_hotkeys=True))
        )
        for box in (self._starts, self._notifies):
            box.toggled.connect(self._on_edited)

    def show_background(self, background: BackgroundSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._background = background
        self._hotkey.show_hotkey(background.hotkey)
        self._selection_hotkey.show_hotkey(background.selection_hotkey)
        self._when_closed[background.when_closed].setChecked(True)
        show_checked(self._starts, background.starts_at_login)
        show_checked(self._notifies, background.notifies)

    def show_hotkeys(self, outcome: Mapping[Action, Bound]) -> None:
        """Show the outcome of binding the hotkeys."""
        self._hotkey.show_outcome(outcome.get(Action.ASK))
        self._selection_hotkey.show_outcome(outcome.get(Action.ASK_ABOUT_SELECTION))

    @Slot()
    def _on_edited(self) -> None:
        self._change_to(
            replace(
                self._background,
                when_closed=WhenClosed(selected_value(self._when_closed)),
                starts_at_login=self._starts.isChecked(),
                notifies=self._notifies.isChecked(),
                hotkey=self._hotkey.hotkey,
                selection_hotkey=self._selection_hotkey.hotkey,
            )
        )

    def _change_to(self, background: BackgroundSettings) -> None:
        self._background = background
        self.changed.emit(background)


_SIZE_NOTE = tr("Ctrl and + or − change it everywhere in the window, Ctrl and 0 resets it.")
_LANGUAGE_NOTE = tr(
    "The language of the window, from the next start on. For that of answers see the page Answers."
)


class AppearanceForm(SettingsSection):
    """Edits AppearanceSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Appearance"), parent=parent)
        self._schemes = radio_group(self, tr("Theme"), SCHEMES)
        self._sizes = DropDown()
        for percent in TEXT_SIZES:
            self._sizes.addItem(f"{percent} %", percent)
        self._languages = DropDown()
        self._languages.addItem(SAME_AS_SYSTEM, "")
        for code in languages(resources_dir() / "words"):
            self._languages.addItem(language_name(code), code)
        self.add_row(
            tr("Theme"),
            *self._schemes.values(),
            spacing_px=20,
            words=tr("dark mode, light mode, night, colours, brightness"),
        )
        self.add_row(
            tr("Text size"),
            self._sizes,
            words=tr("font, zoom, larger letters, bigger, small print, scaling"),
        )
        self.add_note(note(_SIZE_NOTE))
        self.add_row(
            tr("Language"),
            self._languages,
            words=tr("German, English, translation, menus, language of the window"),
        )
        self.add_note(note(_LANGUAGE_NOTE))
        for button in self._schemes.values():
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        self._sizes.activated.connect(self._on_edited)
        self._languages.activated.connect(self._on_edited)

    def show_appearance(self, appearance: AppearanceSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._schemes[appearance.scheme].setChecked(True)
        self._sizes.setCurrentIndex(
            self._sizes.findData(nearest_text_size(appearance.text_percent))
        )
        self._languages.setCurrentIndex(max(0, self._languages.findData(appearance.language)))

    @Slot()
    def _on_edited(self) -> None:
        self.changed.emit(
            AppearanceSettings(
                ColourScheme(selected_value(self._schemes)),
                self._sizes.currentData(),
                self._languages.currentData(),
            )
        )


LICENCE = tr("Apache License 2.0")
_HOME_NOTE = tr("Index, chats, settings and log, all on this computer. API keys are not in it.")
_ACTIVITY_NOTE = tr(
    "Questions by their chat, requests to endpoints, changes of the index and errors, on this"
    " computer only, for 90 days at most. No text of documents, no answers, no keys. See the page"
    " Activity."
)


class AboutSection(SettingsSection):
    """Shows version, licence and data folder."""

    def __init__(self, bridge: Bridge, home: Home, parent: QWidget | None = None) -> None:
        super().__init__(tr("About"), parent=parent)
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


class ActivityForm(SettingsSection):
    """Edits ActivitySettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Activity"), parent=parent)
        self._records = QCheckBox(tr("Record what the app does"))
        self.add_row(
            tr("Event log"),
            self._records,
            words=tr("history, tracking, telemetry, logging, activity, stop recording"),
        )
        self.add_note(note(_ACTIVITY_NOTE))
        self._records.toggled.connect(lambda on: self.changed.emit(ActivitySettings(on)))

    def show_activity(self, activity: ActivitySettings) -> None:
        """Show these settings without emitting `changed`."""
        show_checked(self._records, activity.is_recorded)


def _version() -> str:
    """The installed version. It reads a file, so it runs on a worker thread."""
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return tr("not installed (running from source)")
