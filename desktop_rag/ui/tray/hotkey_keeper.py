"""Keeps the global hotkeys bound as the settings say. Qt thread; binding runs on a worker."""

import sys
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import BackgroundSettings
from desktop_rag.desktop.hotkeys.desktop_hotkeys import has_portal_only, open_hotkeys
from desktop_rag.desktop.hotkeys.hotkey import Action, Binding, Bound, Hotkey, HotkeyDesktop
from desktop_rag.desktop.requests import QuickAskRequested
from desktop_rag.ui.foundation.bridge import Bridge

_NOT_ASKED = Bound(Binding.FAILED, tr("The desktop has not been asked for this key yet."))


class HotkeyKeeper(QObject):
    """`bound` carries what became of each wanted hotkey, as a dict from Action to Bound."""

    bound = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        parent: QObject | None = None,
        open_desktop: Callable[[Callable[[Action], None]], HotkeyDesktop] = open_hotkeys,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._open_desktop = open_desktop
        self._desktop: HotkeyDesktop | None = None
        self._wanted: dict[Action, Hotkey] | None = None
        self._is_closed = False
        # As `bound` carried it last.
        self.outcome: dict[Action, Bound] = {}

    def apply(self, background: BackgroundSettings) -> None:
        """Bind the hotkeys of these settings, if they are others than now."""
        keys = {Action.ASK: background.hotkey,
                Action.ASK_ABOUT_SELECTION: background.selection_hotkey}  # fmt: skip
        wanted = {action: key for action, text in keys.items() if (key := Hotkey.parse(text))}
        if has_portal_only() and wanted and not background.asks_for_hotkeys:
            self._on_bound(dict.fromkeys(wanted, _NOT_ASKED))
            return
        if wanted == self._wanted or (self._wanted is None and not wanted):
            return
        self._wanted = wanted
        if sys.platform == "darwin":
            # Carbon belongs to the Qt thread.
            self._on_bound(self._bind(wanted))
        else:
            self._bridge.run(self, lambda: self._bind(wanted), self._on_bound)

    def close(self) -> None:
        """Give all keys back."""
        self._is_closed = True
        if self._desktop:
            self._desktop.close()
            self._desktop = None

    def _bind(self, wanted: dict[Action, Hotkey]) -> dict[Action, Bound]:
        try:
            if self._desktop is None:
                self._desktop = self._open_desktop(self._on_pressed)
            return self._desktop.bind(wanted)
        except OSError as exc:
            words = tr("This desktop offers no hotkeys to programs ({exc}).", exc=exc)
            return dict.fromkeys(wanted, Bound(Binding.FAILED, words))

    def _on_bound(self, outcome: dict[Action, Bound]) -> None:
        if not self._is_closed:
            self.outcome = outcome
            self.bound.emit(outcome)

    def _on_pressed(self, action: Action) -> None:
        """Called on a thread of the desktop's."""
        takes_selection = action is Action.ASK_ABOUT_SELECTION
        self._bridge.post(QuickAskRequested(takes_selection=takes_selection))
