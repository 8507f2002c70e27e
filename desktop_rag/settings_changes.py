"""Changes of the settings, from the window, by their keys and from other processes.

Worker threads.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.records import MOST_WHOLE
from desktop_rag.core.setting_text import SettingText
from desktop_rag.core.settings import SETTING_TEXTS, Settings
from desktop_rag.models.endpoint_address import normalise_base_url

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


# --- by their keys -------------------------------------------------------------------------------

# The verbs and calls about endpoints set these, with their keys.
_OF_ENDPOINTS = ("endpoint.base_url", "endpoint.model", "endpoint.name")
_ON, _OFF = ("on", "yes", "true", "1"), ("off", "no", "false", "0")


def settable() -> dict[str, SettingText]:
    """What people read of each setting that can be changed by its key, `retrieval.room`."""
    return {key: text for key, text in SETTING_TEXTS.items() if key not in _OF_ENDPOINTS}


def settings_listed(settings: Settings, words: str = "") -> list[dict[str, Any]]:
    """The settings as rows of JSON; only those that have all these words, if any."""
    wanted = words.casefold().split()
    return [
        {
            "key": key,
            "name": text.name,
            "value": _value_at(settings, key),
            "choices": dict(text.choices),
            "about": text.about,
            "waits_for_start": text.waits,
        }
        for key, text in settable().items()
        if all(word in f"{key} {text.name} {text.words}".casefold() for word in wanted)
    ]


def with_setting(settings: Settings, key: str, value: object) -> Settings:
    """The settings with another value, of its own type or as text; AppError for a wrong one."""
    if key not in settable():
        near = [each for each in settable() if key.casefold() in each]
        hint = f"Known are {', '.join(near)}." if near else "“settings list” names them all."
        raise AppError(f"There is no setting “{key}”.", hint)
    section, _, name = key.partition(".")
    part = getattr(settings, section)
    new = _value_of(value, _value_at(settings, key), SETTING_TEXTS[key], key)
    if name == "base_url" and new:
        new = normalise_base_url(new)
    sections: dict[str, Any] = {section: replace(part, **{name: new})}
    return replace(settings, **sections)


def _value_at(settings: Settings, key: str) -> Any:  # noqa: ANN401  of any setting
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)


def _value_of(value: object, present: object, text: SettingText, key: str) -> Any:  # noqa: ANN401
    said = str(value).strip()
    match present:
        case bool():
            if said.casefold() in (*_ON, *_OFF):
                return said.casefold() in _ON
            hint = "It is on or off."
        case StrEnum():
            names = {name.casefold(): kind for kind, name in text.choices.items()}
            found = names.get(said.casefold(), said.casefold())
            if found in text.choices:
                return type(present)(found)
            hint = f"Choose one of {', '.join(text.choices)}."
        case int() | float():
            most = text.most or MOST_WHOLE
            hint = f"It is a number from {text.least:,} to {most:,}."
            number = _number(said, type(present))
            if number is not None and text.least <= number <= most:
                return number
        case tuple():
            return tuple(filter(None, (part.strip() for part in said.split(","))))
        case _:
            return said
    raise AppError(f"{key} can't be “{said}”.", hint)


def _number(said: str, kind: Callable[[str], float]) -> float | None:
    try:
        return kind(said)
    except ValueError:
        return None
