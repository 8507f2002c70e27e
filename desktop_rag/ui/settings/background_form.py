"""Settings for the app without its window. Qt thread."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import BackgroundSettings, WhenClosed
from desktop_rag.desktop.hotkeys.desktop_hotkeys import has_portal_only
from desktop_rag.desktop.hotkeys.hotkey import Action, Bound
from desktop_rag.ui.settings.choice_words import WHEN_CLOSED
from desktop_rag.ui.settings.hotkey_field import HotkeyField
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    note,
    radio_group,
    selected_value,
    show_checked,
)

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
    """Edits BackgroundSettings; `changed` carries the new value."""

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
        self.add_row(tr("Quick ask"), self._hotkey, is_wide=True)
        self.add_row(tr("With selected text"), self._selection_hotkey, is_wide=True)
        self.add_note(note(_HOTKEY_NOTE))
        if has_portal_only():
            self.add_row("", self._ask_desktop)
            self.add_note(note(_PORTAL_NOTE))
        self.add_row(tr("Closing the window"), *self._when_closed.values(), spacing_px=20)
        self.add_note(note(_STAY_NOTE))
        self.add_row(tr("Login"), self._starts)
        self.add_row(tr("Notifications"), self._notifies)
        self.add_note(note(_NOTICE_NOTE))
        for button in self._when_closed.values():
            button.clicked.connect(self._on_edited)
        for field in (self._hotkey, self._selection_hotkey):
            field.changed.connect(self._on_edited)
        self._ask_desktop.clicked.connect(self._on_desktop_asked)
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
        """Say what became of the hotkeys."""
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

    @Slot()
    def _on_desktop_asked(self) -> None:
        self._change_to(replace(self._background, asks_for_hotkeys=True))

    def _change_to(self, background: BackgroundSettings) -> None:
        self._background = background
        self.changed.emit(background)
