"""What people read of a setting, kept with its field: for forms, terminal, server and search."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

_Value = TypeVar("_Value")
# The text of a field is in its metadata by this name.
TEXT = "text"


@dataclass(frozen=True, slots=True)
class SettingText:
    """What people read of a setting, in English: `event_wording` translates it.

    `label` stands before its field where the name would be too long, `about` below it. `words` are
    what else people call it, `choices` the names of its values, `empty` stands for "" or 0. A
    number lies between `least` and `most`. One that `waits` is used from the next start on.
    """

    name: str
    label: str = ""
    words: str = ""
    about: str = ""
    choices: Mapping[str, str] = field(default_factory=dict[str, str])
    empty: str = ""
    unit: str = ""
    least: int = 0
    most: int = 0
    step: int = 1
    waits: bool = False


def marked(text: str) -> str:
    """The text itself, collected for translation: to be `translated` where it is shown."""
    return text


def setting(default: _Value, name: str, **texts: Any) -> _Value:  # noqa: ANN401  those of the class
    """A field of settings with what people read of it, see `SettingText`."""
    return field(default=default, metadata={TEXT: SettingText(name, **texts)})  # pyright: ignore[reportReturnType]
