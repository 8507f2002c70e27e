"""Changes of the settings, from the window and from other processes. Worker threads."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.settings import Settings

Change = Callable[[Settings], Settings]
Apply = Callable[[Settings], None]


class SettingsChanges:
    """Stores settings and applies them.

    A change is a function from the present settings to new ones. An open window makes all changes,
    as it may hold settings that aren't stored yet.
    """

    def __init__(
        self,
        path: Path,
        present: Callable[[], Settings],
        apply: Sequence[Apply],
        recorder: Recorder,
    ) -> None:
        """`present` are the settings in use; `apply` is called in order with stored ones."""
        self._path = path
        self._present = present
        self._apply = apply
        self._recorder = recorder
        self._lock = Lock()
        self._window: Callable[[Change], Settings] | None = None

    def leave_to(self, window: Callable[[Change], Settings] | None) -> None:
        """Have this window make changes from now on; None ends that."""
        self._window = window

    def change(self, change: Change) -> Settings:
        """Make a change; returns the new settings. AppError from it, or when storing fails."""
        if window := self._window:
            return window(change)
        with self._lock:
            settings = change(self._present())
            if settings != self._present():
                self._store(settings)
        return settings

    def store(self, settings: Settings) -> None:
        """Store and apply settings of the window. AppError, with nothing applied, on failure."""
        with self._lock:
            self._store(settings)

    def _store(self, settings: Settings) -> None:
        save_settings(self._path, settings)
        self._recorder.settings_change(self._present(), settings)
        self._recorder.set_on(settings.activity.is_recorded)
        for apply in self._apply:
            apply(settings)
