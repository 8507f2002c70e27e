"""The pages of the settings, the parts that each consists of, and the search over them. Qt thread.

A part that is built when it is first shown declares what can be set in it, so that the search
needs to build nothing.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.form_fields import SettingsSection

MODELS = tr("Models")
ANSWERS = tr("Answers")
DOCUMENTS = tr("Documents")
APP = tr("App")
PRIVACY = tr("Privacy")
ASSISTANTS = tr("Assistants")
CARE = tr("Data and health")
ADVANCED = tr("Advanced")
# From the top of the list.
PAGES = (MODELS, ANSWERS, DOCUMENTS, APP, PRIVACY, ASSISTANTS, CARE, ADVANCED)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as it is called, what else a person may call it, and the heading above it."""

    name: str
    words: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page: a widget, or what builds it, and what can be set there.

    `words` are what else it may be called. The tab of one that `is_last` stays behind the others.
    """

    page: str
    name: str
    widget: QWidget | Callable[[], QWidget]
    settings: Sequence[Setting] = ()
    words: str = ""
    is_last: bool = False


def settings_in(*widgets: QWidget) -> tuple[Setting, ...]:
    """What can be set in forms that are built."""
    return tuple(
        Setting(row.name, row.words, section.accessibleName())
        for section in _sections(widgets)
        for row in section.rows
        if row.name
    )


def _sections(widgets: Iterable[QWidget]) -> Iterator[SettingsSection]:
    for widget in widgets:
        if isinstance(widget, SettingsSection):
            yield widget
        yield from widget.findChildren(SettingsSection)


def fields_of(setting: Setting, places: Sequence[QWidget]) -> Sequence[QWidget]:
    """The fields of a setting in a part that is built; without them, what bears its name."""
    for section in _sections(places):
        if setting.heading in {"", section.accessibleName()}:
            for row in section.rows:
                if row.name == setting.name:
                    section.wanted.emit(row.fields[0])
                    return row.fields
    every = [part for place in places for part in place.findChildren(QWidget)]
    return [part for part in every if setting.name in {_text(part), part.accessibleName()}]


def _text(widget: QWidget) -> str:
    text = getattr(widget, "text", None)
    return str(text()) if callable(text) else ""


@dataclass(frozen=True)
class Found:
    """A setting that the search found in a part, or the part itself."""

    part: Part
    setting: Setting | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.setting.name if self.setting else self.part.name

    @property
    def place(self) -> str:
        """Where it is: `Advanced › Shared library`."""
        page, part = self.part.page, self.part.name
        inside = self.setting.heading if part == page and self.setting else part
        return f"{page} › {inside}" if inside not in {"", page, self.name} else page

    @cached_property
    def folded_name(self) -> str:
        """The name without case and accents."""
        return folded(self.name)

    @cached_property
    def folded_words(self) -> str:
        """All that it is found by, without case and accents."""
        part, setting = self.part, self.setting
        named = (setting.name, setting.words, setting.heading) if setting else (part.words,)
        return folded(" ".join([*named, part.name, part.page]))


def folded(text: str) -> str:
    """The text without case and accents."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def everything_in(part: Part) -> tuple[Found, ...]:
    """The part and its settings, as they are found."""
    return (Found(part), *(Found(part, setting) for setting in part.settings))


def search(every: Iterable[Found], text: str) -> list[Found]:
    """What has all these words, or parts of words, in any order; else most of them. Best first."""
    words = folded(text).split()
    found = _with_most(list(every), words)
    return sorted(found, key=lambda each: _rank(each, words))


def _with_most(every: Sequence[Found], words: Sequence[str]) -> list[Found]:
    """Those that have the most letters of these words, and at least half of them."""
    letters = [sum(len(word) for word in words if word in each.folded_words) for each in every]
    least = max(*letters, sum(map(len, words)) / 2, 1)
    return [each for each, count in zip(every, letters, strict=True) if count >= least]


def _rank(found: Found, words: Sequence[str]) -> int:
    """0 where all words begin words of the name, 1 where they do so elsewhere, else 2."""
    for rank, text in enumerate((found.folded_name, found.folded_words)):
        if all(re.search(rf"\b{re.escape(word)}", text) for word in words):
            return rank
    return 2
