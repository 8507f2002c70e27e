"""The settings as the window edits them, and their changes in words. Qt thread."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, cast

from PySide6.QtCore import QObject, Signal

from desktop_rag.activity.event_wording import setting_name, shown
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import SETTING_TEXTS, EndpointSettings, ModelCheck, Settings
from desktop_rag.ui.foundation.window_language import language_name
from desktop_rag.ui.foundation.wording import given_name, one_line, shortened, value_in_words

_LONGEST_VALUE = 40
_ENDPOINTS = ("endpoint", "other_endpoints")
_LANGUAGE = "appearance.language"


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A change of the settings, which can be put into words and undone."""

    before: Settings
    after: Settings

    def in_words(self) -> str:
        """`Model: amber → birch`: each changed setting with its old and new value."""
        said = [*_endpoints_in_words(self.before, self.after)]
        for section in fields(Settings):
            if section.name not in _ENDPOINTS:
                old, new = getattr(self.before, section.name), getattr(self.after, section.name)
                said += _fields_in_words(section.name, old, new)
        return ", ".join(dict.fromkeys(said))

    @property
    def waits_for_a_start(self) -> bool:
        """True when a part of it takes effect at the next start."""
        waiting = (key for key, text in SETTING_TEXTS.items() if text.waits)
        return any(_field(self.before, key) != _field(self.after, key) for key in waiting)

    def turned(self) -> "SettingsChange":
        """The change that undoes it."""
        return SettingsChange(self.after, self.before)

    def made_in(self, present: Settings) -> Settings:
        """Other settings with only this change applied."""
        changed = {
            section.name: _merged(*(getattr(s, section.name) for s in (*self._both, present)))
            for section in fields(Settings)
            if section.name not in _ENDPOINTS
        }
        return replace(present, **changed, **self._endpoints(present))

    @property
    def _both(self) -> tuple[Settings, Settings]:
        return self.before, self.after

    def _endpoints(self, present: Settings) -> dict[str, Any]:
        """The used endpoint and the others, as arguments of `replace`."""
        old, new, now = (_by_address(s) for s in (*self._both, present))
        kept = dict(now)
        for address in {*old, *new}:
            if address not in new:
                kept.pop(address, None)
            elif address not in old:
                kept[address] = new[address]
            elif address in now:
                kept[address] = _merged(old[address], new[address], now[address])
        used = present.endpoint.base_url
        if self.before.endpoint.base_url != self.after.endpoint.base_url or used not in kept:
            used = self.after.endpoint.base_url
        others = tuple(each for address, each in kept.items() if address and address != used)
        return {"endpoint": kept.get(used, EndpointSettings()), "other_endpoints": others}


def _by_address(settings: Settings) -> dict[str, EndpointSettings]:
    return {each.base_url: each for each in (settings.endpoint, *settings.other_endpoints)}


def _merged(old: Any, new: Any, now: Any) -> Any:
    """A section with the differing fields taken over."""
    if old == new:
        return now
    differing = {
        each.name: getattr(new, each.name)
        for each in fields(new)
        if getattr(old, each.name) != getattr(new, each.name)
    }
    return replace(now, **differing)


def _endpoints_in_words(before: Settings, after: Settings) -> list[str]:
    old, new = _by_address(before), _by_address(after)
    gone = [
        given_name(each.label) for address, each in old.items() if address and address not in new
    ]
    come = [
        given_name(each.label) for address, each in new.items() if address and address not in old
    ]
    said: list[str] = []
    if gone and come:
        said += [_changed(tr("Address"), gone[0], come[0])]
    else:
        said += [tr("Endpoint added: {name}", name=name) for name in come]
        said += [tr("Endpoint removed: {name}", name=name) for name in gone]
    for address in old.keys() & new.keys():
        named = f" ({given_name(new[address].label)})" if len(after.endpoints) > 1 else ""
        said += [
            words + named for words in _fields_in_words("endpoint", old[address], new[address])
        ]
    if not (gone or come) and before.endpoint.base_url != after.endpoint.base_url:
        names = (given_name(each.endpoint.label) for each in (before, after))
        said += [_changed(tr("Endpoint for answers"), *names)]
    return said


def _fields_in_words(section: str, old: Any, new: Any) -> Sequence[str]:
    if old == new:
        return ()
    if section == "shared_library":
        return (setting_name(section),)
    return [
        _changed(setting_name(key := f"{section}.{each.name}"), *values, key)
        for each in fields(new)
        if (values := (getattr(old, each.name), getattr(new, each.name)))[0] != values[1]
    ]


def _field(settings: Settings, key: str) -> object:
    section, name = key.split(".")
    return getattr(getattr(settings, section), name)


def _changed(name: str, old: object, new: object, key: str = "") -> str:
    return f"{name}: {_value(old, key)} → {_value(new, key)}"


def _value(value: object, key: str) -> str:
    """A value as the form shows it; `key` is that of the setting: `appearance.scheme`."""
    text = shown(SETTING_TEXTS[key]) if key in SETTING_TEXTS else None
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if isinstance(value, Enum):
        return text.choices[value.value] if text else value_in_words(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        value = ", ".join(map(str, cast("tuple[object, ...]", value)))
    if key == _LANGUAGE and value:
        return language_name(str(value))
    return shortened(one_line(str(value)), _LONGEST_VALUE) or (text and text.empty) or tr("nothing")


class EditedSettings(QObject):
    """The current settings and the changes that the person can still undo.

    Undoing a change keeps what was changed elsewhere since. `changed` carries every new value;
    `edited` if it is to be stored and applied, `replaced` if it does not come from the settings
    page.
    """

    changed = Signal(object)
    edited = Signal(object)
    replaced = Signal(object)

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.value = settings
        self._history: list[SettingsChange] = []

    @property
    def last_change(self) -> SettingsChange | None:
        """The change that `undo` would undo, if any."""
        return self._history[-1] if self._history else None

    def edit(self, settings: Settings) -> None:
        """Take an edit from the settings page, which can be undone."""
        if settings != self.value:
            self._history.append(SettingsChange(self.value, settings))
            self.value = settings
            self.changed.emit(settings)
            self.edited.emit(settings)

    def undo(self) -> None:
        """Undo the last edit."""
        self.change(self._history.pop().turned().made_in(self.value))

    def forget_changes(self) -> None:
        """Make all edits so far permanent."""
        self._history.clear()

    def change(self, settings: Settings) -> None:
        """Apply settings that the person changed elsewhere."""
        self.show(settings)
        self.edited.emit(settings)

    def use_model(self, base_url: str, model: str) -> None:
        """Use this model of an endpoint for answers; excerpts if both are ""."""
        self.change(self.value.using(base_url, model))

    def use_model_check(self, check: ModelCheck) -> None:
        """Have a model check answers, or not."""
        answers = replace(self.value.answers, model_check=check)
        self.change(replace(self.value, answers=answers))

    def show(self, settings: Settings) -> None:
        """Show settings that are already stored and applied."""
        self.value = settings
        self.replaced.emit(settings)
        self.changed.emit(settings)
