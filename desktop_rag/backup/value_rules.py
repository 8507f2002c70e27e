"""Checks of single values from a file that may come from anybody. Pure.

A check takes a value and the place it is at, and raises WrongValueError unless the app could have
written the value there.
"""

import base64
import json
import math
import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, NoReturn, cast

from desktop_rag.core.question_scope import ScopeKind
from desktop_rag.store.contract.precious import Check

LONGEST_TEXT = 32 * 1024 * 1024
MOST_WHOLE = 2**31 - 1
MOST_NUMBER = 2**53
_LATEST_S = 1e11  # in the year 5138: a clock may have been wrong
_MOST_ITEMS = 10_000
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class WrongValueError(ValueError):
    """A value that the app does not write, with its place."""


def text(most: int = LONGEST_TEXT, *, is_needed: bool = False) -> Check:
    """Text of up to so many characters, with nothing that the store refuses."""

    def check(value: object, place: str) -> None:
        if not isinstance(value, str) or len(value) > most or (is_needed and not value.strip()):
            raise WrongValueError(place)
        if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
            raise WrongValueError(place)

    return check


def identifier(*, may_be_empty: bool = False) -> Check:
    """An id as the app makes them; it becomes a part of file names."""

    def check(value: object, place: str) -> None:
        is_right = isinstance(value, str) and (_ID.fullmatch(value) or (may_be_empty and not value))
        if not is_right:
            raise WrongValueError(place)

    return check


def whole(least: int = 0, most: int = MOST_WHOLE) -> Check:
    """An integer between two others."""

    def check(value: object, place: str) -> None:
        if type(value) is not int or not least <= value <= most:
            raise WrongValueError(place)

    return check


def number(least: float = -float(MOST_NUMBER), most: float = float(MOST_NUMBER)) -> Check:
    """A finite number between two others."""

    def check(value: object, place: str) -> None:
        if type(value) not in (int, float):
            raise WrongValueError(place)
        # An integer may be too large for a float.
        if not least <= cast("float", value) <= most or not math.isfinite(cast("float", value)):
            raise WrongValueError(place)

    return check


def moment() -> Check:
    """A time in seconds since the epoch."""
    return number(0.0, _LATEST_S)


def flag(value: object, place: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise WrongValueError(place)


def one_of(kind: type[StrEnum]) -> Check:
    """One of the values of an enumeration."""
    known = frozenset(member.value for member in kind)

    def check(value: object, place: str) -> None:
        if not isinstance(value, str) or value not in known:
            raise WrongValueError(place)

    return check


def either(*checks: Check) -> Check:
    """What at least one of the checks accepts."""

    def check(value: object, place: str) -> None:
        for each in checks:
            try:
                each(value, place)
            except WrongValueError:
                continue
            return
        raise WrongValueError(place)

    return check


def exactly(*values: object) -> Check:
    """One of these values, of the same type."""

    def check(value: object, place: str) -> None:
        if not any(type(value) is type(each) and value == each for each in values):
            raise WrongValueError(place)

    return check


def list_of(item: Check, most: int = _MOST_ITEMS, length: int | None = None) -> Check:
    """A list of so many such items."""

    def check(value: object, place: str) -> None:
        if not isinstance(value, list):
            raise WrongValueError(place)
        items = cast("list[object]", value)
        if len(items) > most or (length is not None and len(items) != length):
            raise WrongValueError(place)
        for position, each in enumerate(items, start=1):
            item(each, f"{place} {position}")

    return check


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


def any_json(value: object, place: str) -> None:
    """Any JSON value with text that the store takes."""
    match value:
        case str():
            text()(value, place)
        case dict():
            for name, each in cast("dict[str, object]", value).items():
                text()(name, place)
                any_json(each, place)
        case list():
            for each in cast("list[object]", value):
                any_json(each, place)
        case _:
            pass


def data(most_bytes: int) -> Check:
    """Bytes in base64, as an object with this one field."""

    def check(value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise WrongValueError(place)
        found = cast("dict[str, object]", value)
        encoded = found.get("base64")
        if len(found) != 1 or not isinstance(encoded, str) or len(encoded) > most_bytes * 3 // 2:
            raise WrongValueError(place)
        try:
            base64.b64decode(encoded, validate=True)
        except ValueError:
            raise WrongValueError(place) from None

    return check


def strict_json(content: str | bytes, *, takes_nan: bool = False) -> Any:  # noqa: ANN401
    """The JSON value; ValueError for anything else, for NaN, and for what is nested too deeply."""
    try:
        return json.loads(content, parse_constant=None if takes_nan else _refuse)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


# Scopes of questions, and places in documents.

LONGEST_PATH = 4_096
LONGEST_NAME = 1_000
LONGEST_TITLE = 10_000

_SCOPE_ITEM = fields(
    {
        "kind": one_of(ScopeKind),
        "key": text(LONGEST_PATH),
        "name": text(LONGEST_PATH),
        "path": text(LONGEST_PATH),
    }
)
SCOPE = fields({"items": list_of(_SCOPE_ITEM), "is_without_documents": flag}, ())
ANCHOR = fields(
    {
        "page": whole(),
        "page_label": text(LONGEST_NAME),
        "slide": whole(),
        "sheet": text(LONGEST_TITLE),
        "cells": text(LONGEST_NAME),
        "heading": text(),
        "line": whole(),
    },
    (),
)
