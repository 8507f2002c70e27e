"""Checks of single values from a file that may come from anybody. Pure.

A check takes a value and the place it is at, and raises WrongValueError unless the app could have
written the value there.
"""

import base64
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, cast

from desktop_rag.core.records import (
    FILLED,
    MOST_NUMBER,
    MOST_WHOLE,
    Id,
    IdOrNone,
    Moment,
    Within,
    WrongValueError,
    checked,
)
from desktop_rag.store.contract.precious import Check

LONGEST_TEXT = 32 * 1024 * 1024
LONGEST_NAME = 1_000
LONGEST_TITLE = 10_000


def text(most: int = LONGEST_TEXT, *, is_needed: bool = False) -> Check:
    """Text of up to so many characters, with nothing that the store refuses."""
    within = Within(0, most)
    return record(Annotated[str, within, FILLED] if is_needed else Annotated[str, within])


def whole(least: int = 0, most: int = MOST_WHOLE) -> Check:
    """An integer between two others."""
    return record(Annotated[int, Within(least, most)])


def number() -> Check:
    """A finite number."""
    return record(Annotated[float, Within(-MOST_NUMBER, MOST_NUMBER)])


def fields(known: Mapping[str, Check], needed: Collection[str] | None = None) -> Check:
    """An object with these fields only; all of them are `needed` unless named."""
    must = frozenset(known if needed is None else needed)

    def check(value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise WrongValueError(place)
        found = cast("dict[str, object]", value)
        if not must <= found.keys() or not found.keys() <= known.keys():
            raise WrongValueError(place)
        for name, each in found.items():
            known[name](each, f"{place}, {name}")

    return check


def record(kind: Any, *, is_open: bool = False) -> Check:  # noqa: ANN401  any type of a field
    """A record of this kind; one that `is_open` may have fields of another version."""

    def check(value: object, place: str) -> None:
        checked(kind, value, place, is_open=is_open)

    return check


any_json = record(Any)
flag = record(bool)
identifier, identifier_or_none, moment = record(Id), record(IdOrNone), record(Moment)


def json_of(inner: Check, *, may_be_empty: bool = False, takes_nan: bool = False) -> Check:
    """Text that holds such a JSON value; or nothing."""

    def check(value: object, place: str) -> None:
        if may_be_empty and value == "":
            return
        text()(value, place)
        try:
            decoded = strict_json(cast("str", value), takes_nan=takes_nan)
        except ValueError:
            raise WrongValueError(place) from None
        inner(decoded, place)

    return check


@dataclass(frozen=True, slots=True)
class Base64:
    """Bytes, in JSON as an object with one field."""

    content: bytes

    def __len__(self) -> int:
        return len(self.content)

    def to_json(self) -> dict[str, str]:
        """The bytes in base64."""
        return {"base64": base64.b64encode(self.content).decode()}

    @classmethod
    def from_json(cls, value: dict[str, str]) -> "Base64":
        """The inverse of `to_json`; ValueError or TypeError for anything else."""
        if value.keys() != {"base64"}:
            raise ValueError("no bytes")
        return cls(base64.b64decode(value["base64"], validate=True))


def strict_json(content: str | bytes, *, takes_nan: bool = False) -> Any:  # noqa: ANN401
    """The JSON value; ValueError for anything else, for NaN, and for what is nested too deeply."""
    try:
        return json.loads(content, parse_constant=None if takes_nan else _refuse)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
