"""Records as JSON: frozen dataclasses, encoded and decoded by the types of their fields. Pure.

A codec of our own and neither pydantic nor msgspec: the window starts with it, so it must cost
nothing to import, and a wrong value is told by its place, as foreign backups need.
"""

import json
import math
import re
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path, PurePath
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NoReturn,
    Self,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")

LONGEST_PATH = 4_096
LONGEST_LABEL = 1_000
MOST_WHOLE = 2**31 - 1
MOST_NUMBER = 2**53
_MOST_ITEMS = 10_000
_SHOWN_CHARS = 60
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_LATEST_S = 1e11  # in the year 5138: a clock may have been wrong


class WrongValueError(ValueError):
    """A value that a record can't hold; its text is the place of the value."""


def strict_json(content: str | bytes, *, takes_nan: bool = False) -> Any:  # noqa: ANN401
    """The JSON value; ValueError for anything else, for NaN, and for what is nested too deeply."""
    try:
        return json.loads(content, parse_constant=None if takes_nan else _refuse)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


@dataclass(frozen=True, slots=True)
class Within:
    """Bounds of a number, or of the length of a text or list. For what others may have written."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Matching:
    """The whole of a text matches this expression. For what others may have written."""

    expression: str


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a field in JSON where that is another one."""

    name: str


FILLED = Matching(r"(?s).*\S.*")
"""For a text with more than blanks."""


class AsObject:
    """Pairs are an object in JSON."""


Id = Annotated[str, Matching(r"[A-Za-z0-9_-]{1,100}")]
"""An id as the app makes them; it becomes a part of file names."""
IdOrNone = Annotated[str, Matching(r"[A-Za-z0-9_-]{0,100}")]
Count = Annotated[int, Within(0, MOST_WHOLE)]
Offset = Annotated[int, Within(-MOST_WHOLE, MOST_WHOLE)]
Moment = Annotated[float, Within(0, _LATEST_S)]
"""Seconds since the epoch."""
Share = Annotated[float, Within(0, 1)]
Address = Annotated[
    str, Within(1, LONGEST_PATH), Matching(r"(?i:(?:http|imap)s?://[^\s/@\\]{1,300}(?:/\S*)?)")
]


@dataclass(frozen=True, slots=True)
class _Care:
    """The care with which a value is read.

    It `is_bounded` where others may have written it: numbers and lengths keep their bounds. It
    `is_closed` where nothing but the known fields may be there, `is_clean` where the texts go into
    the store. One that `mends` takes the default for a field that is wrong.
    """

    is_bounded: bool = True
    is_clean: bool = False
    is_closed: bool = False
    mends: bool = False


_OWN = _Care(is_bounded=False)


class Record:
    """A frozen dataclass that is stored or sent as JSON.

    Fields without a default have to be there, and those that are `needed` although they have one.
    Where it `is_brief`, the others are not written while they have their default.
    """

    __slots__ = ()
    needed: ClassVar[frozenset[str]] = frozenset()
    is_brief: ClassVar[bool] = False

    def to_json(self) -> dict[str, Any]:
        """The fields by name, as values of JSON."""
        return cast("dict[str, Any]", encoded(self))

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The inverse of `to_json`; fields added since get their defaults, others are left out.

        WrongValueError for anything else.
        """
        return decoded(cls, value)


def encoded(value: object) -> Any:  # noqa: ANN401  a value of JSON
    """A record, or what holds records, as a value of JSON."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, tuple | list):
        return [encoded(each) for each in cast("list[object]", value)]
    if not isinstance(value, Record) and hasattr(value, "to_json"):
        return cast("Any", value).to_json()
    if is_dataclass(value) and not isinstance(value, type):
        return _encoded_fields(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(name): encoded(each) for name, each in items}
    if isinstance(value, frozenset):
        return sorted(encoded(each) for each in cast("frozenset[object]", value))
    return str(value) if isinstance(value, StrEnum | PurePath) else value


def decoded(kind: type[T], value: object) -> T:
    """What the app itself wrote; WrongValueError for anything else. Null counts as left out."""
    return cast("T", _decoder(kind, _OWN)(value))


def checked(kind: type[T], value: object, place: str, *, is_open: bool = False) -> T:
    """What anybody may have written; WrongValueError with the place of the first wrong value.

    Unknown fields are wrong unless it `is_open`.
    """
    try:
        return cast("T", _decoder(kind, _Care(is_clean=True, is_closed=not is_open))(value))
    except WrongValueError as exc:
        raise WrongValueError(f"{place}{exc}") from None


def readable(kind: type[T], value: object, *, mends: bool = False) -> T | None:
    """What somebody may have edited; None where a field is wrong, or a needed one missing.

    One that `mends` takes the default for a wrong field.
    """
    try:
        return cast("T", _decoder(kind, _Care(mends=mends))(value))
    except WrongValueError:
        return None


def readable_rows(kind: type[T], rows: object, *, mends: bool = False) -> list[T]:
    """The rows of a list that can be read; none unless it is a list."""
    listed = cast("list[object]", rows) if isinstance(rows, list) else []
    return [found for row in listed if (found := readable(kind, row, mends=mends)) is not None]


# --- fields ----------------------------------------------------------------------------------

# Takes a value of JSON. The text of its WrongValueError is the place within, to which each that
# holds it adds its own: `, name`, ` 2, name`.
_Decoder = Callable[[object], object]
_PLAIN = frozenset((str, int, float, bool))


@dataclass(frozen=True, slots=True)
class _Field:
    """A field: its attribute, its name in JSON, its type, and its default or MISSING."""

    attribute: str
    name: str
    kind: Any
    default: Any
    is_object: bool


@cache
def _fields(kind: type[Any]) -> tuple[_Field, ...]:
    """The fields of a dataclass that have a form in JSON; functions have none."""
    hints = get_type_hints(kind, include_extras=True)
    found: list[_Field] = []
    for field in fields(kind):
        hint = hints[field.name]
        marks = hint.__metadata__ if get_origin(hint) is Annotated else ()
        name = next((mark.name for mark in marks if isinstance(mark, Named)), field.name)
        has_factory = field.default_factory is not MISSING
        default = field.default_factory() if has_factory else field.default  # type: ignore[misc]
        if get_origin(hint) is not Callable:
            found.append(_Field(field.name, name, hint, default, AsObject in marks))
    return tuple(found)


def _encoded_fields(value: Any) -> dict[str, Any]:  # noqa: ANN401  any dataclass
    is_brief: bool = getattr(value, "is_brief", False)
    found: dict[str, Any] = {}
    for field in _fields(type(value)):
        each = getattr(value, field.attribute)
        if not is_brief or field.attribute in value.needed or each != field.default:
            found[field.name] = encoded(dict(each) if field.is_object else each)
    return found


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise WrongValueError
    return cast("dict[str, Any]", value)


def _list(value: object) -> list[object]:
    if not isinstance(value, list | tuple):
        raise WrongValueError
    return list(cast("list[object]", value))


@cache
def _decoder(kind: Any, care: _Care) -> _Decoder:  # noqa: ANN401  any type of a field
    if (find := _GENERIC.get(get_origin(kind))) is not None:
        return find(kind, care)
    if kind in (Any, object):
        return _any if care.is_clean else lambda value: value
    if not issubclass(kind, Record) and hasattr(kind, "from_json"):
        return _by_itself(kind, care)
    if is_dataclass(kind):
        return _record(cast("type[Any]", kind), care)
    if issubclass(kind, StrEnum):
        return _word(kind, care)
    if issubclass(kind, PurePath):
        text = _decoder(str, care)
        return lambda value: Path(str(text(value)))
    return _plain(kind, care)


def _record(kind: type[Any], care: _Care) -> _Decoder:
    parts = [(field, _decoder(field.kind, care)) for field in _fields(kind)]
    known = {field.name for field, _ in parts}
    needed: frozenset[str] = getattr(kind, "needed", frozenset())

    def decode(value: object) -> object:
        given = _object(value)
        if care.is_closed and (unknown := given.keys() - known):
            raise WrongValueError(f", {min(unknown)[:_SHOWN_CHARS]}")
        found: dict[str, object] = {}
        for field, part in parts:
            each = given.get(field.name, MISSING)
            is_left_out = each is MISSING or (each is None and not care.is_bounded)
            if is_left_out and field.default is not MISSING and field.attribute not in needed:
                continue
            try:
                found[field.attribute] = part(each)
            except WrongValueError as exc:
                if not care.mends or field.default is MISSING:
                    raise WrongValueError(f", {field.name}{exc}") from None
        return kind(**found)

    return decode


def _by_itself(kind: Any, care: _Care) -> _Decoder:  # noqa: ANN401  a class with its own form
    def decode(value: object) -> object:
        try:
            return kind.from_json(_any(value) if care.is_clean else value)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise WrongValueError from None

    return decode


def _marked(kind: Any, care: _Care) -> _Decoder:  # noqa: ANN401
    inner, *marks = get_args(kind)
    part = _decoder(inner, care)
    if AsObject in marks:
        pairs = part
        part = lambda value: pairs([*map(list, _object(value).items())])  # noqa: E731
    bounds = next((mark for mark in marks if isinstance(mark, Within)), None)
    matching = next((mark for mark in marks if isinstance(mark, Matching)), None)
    if not care.is_bounded or not (bounds or matching):
        return part
    pattern = re.compile(matching.expression) if matching else None

    def decode(value: object) -> object:
        found: Any = part(value)
        if bounds and found is not None:
            size = found if isinstance(found, int | float) else len(found)
            if not bounds.least <= size <= bounds.most:
                raise WrongValueError
        if pattern and not pattern.fullmatch(str(found)):
            raise WrongValueError
        return found

    return decode


def _either(kind: Any, care: _Care) -> _Decoder:  # noqa: ANN401
    parts = [_decoder(part, care) for part in get_args(kind) if part is not types.NoneType]
    takes_none = types.NoneType in get_args(kind)

    def decode(value: object) -> object:
        if value is None and takes_none:
            return None
        for part in parts[:-1]:
            with suppress(WrongValueError):
                return part(value)
        return parts[-1](value)

    return decode


def _several(kind: Any, care: _Care) -> _Decoder:  # noqa: ANN401
    make, args = get_origin(kind), get_args(kind)
    if make is tuple and args[-1] is not Ellipsis:
        return _row([_decoder(arg, care) for arg in args])
    part = _decoder(args[0], care)

    def decode(value: object) -> object:
        items = _list(value)
        if care.is_bounded and len(items) > _MOST_ITEMS:
            raise WrongValueError
        found: list[object] = []
        try:
            for item in items:
                found.append(part(item))  # noqa: PERF401  its length is the place of a wrong one
        except WrongValueError as exc:
            raise WrongValueError(f" {len(found) + 1}{exc}") from None
        return make(found)

    return decode


def _row(parts: list[_Decoder]) -> _Decoder:
    def decode(value: object) -> object:
        items = _list(value)
        if len(items) != len(parts):
            raise WrongValueError
        return tuple(part(item) for part, item in zip(parts, items, strict=True))

    return decode


def _mapping(kind: Any, care: _Care) -> _Decoder:  # noqa: ANN401
    names, parts = (_decoder(each, care) for each in get_args(kind))

    def decode(value: object) -> object:
        found: dict[object, object] = {}
        for name, each in _object(value).items():
            try:
                found[names(name)] = parts(each)
            except WrongValueError as exc:
                raise WrongValueError(f", {name[:_SHOWN_CHARS]}{exc}") from None
        return found

    return decode


def _word(kind: Any, _care: _Care) -> _Decoder:  # noqa: ANN401  words or an enumeration of them
    known = {str(word): word for word in get_args(kind) or kind}

    def decode(value: object) -> object:
        if not isinstance(value, str) or value not in known:
            raise WrongValueError
        return known[value]

    return decode


def _plain(kind: type[Any], care: _Care) -> _Decoder:
    """A text, a number or a truth; where others may have written it, one that the store takes."""
    is_checked = care.is_clean if kind is str else care.is_bounded

    def decode(value: object) -> object:
        if kind is float and type(value) is int and abs(value) <= MOST_NUMBER:
            return float(value)
        is_kind = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not is_kind or (is_checked and not _is_storable(value)):
            raise WrongValueError
        return value

    return decode


def _is_storable(value: object) -> bool:
    if isinstance(value, str):
        return not _UNSTORABLE.search(value)
    if isinstance(value, float):
        return math.isfinite(value) and abs(value) <= MOST_NUMBER
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _any(value: object) -> object:
    """Any value of JSON whose texts the store takes."""
    if isinstance(value, dict):
        for name, each in cast("dict[str, object]", value).items():
            _any([name, each])
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            _any(each)
    elif isinstance(value, str) and not _is_storable(value):
        raise WrongValueError
    return value


_GENERIC: dict[Any, Callable[[Any, _Care], _Decoder]] = {
    Annotated: _marked,
    Union: _either,
    types.UnionType: _either,
    tuple: _several,
    frozenset: _several,
    Mapping: _mapping,
    dict: _mapping,
    Literal: _word,
}
