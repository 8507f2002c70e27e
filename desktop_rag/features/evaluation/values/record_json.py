"""Frozen values from JSON, with every type checked: a backup may come from anybody. Pure."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def decoded(kind: type[T], value: object) -> T:
    """The value as this dataclass, with defaults. ValueError for another field or type."""
    return cast("T", _decoded(kind, value))


def _decoded(kind: Any, value: object) -> object:  # noqa: ANN401  any type that a field can have
    origin = get_origin(kind)
    if origin in {Union, types.UnionType}:
        [inner] = [part for part in get_args(kind) if part is not type(None)]
        return None if value is None else _decoded(inner, value)
    if origin is tuple:
        return _tuple(get_args(kind), value)
    if origin is Mapping:
        return _mapping(value)
    if origin is Literal:
        if value not in get_args(kind):
            raise ValueError("another word")
        return value
    if is_dataclass(kind):
        return _dataclass(cast("type[Any]", kind), value)
    if issubclass(kind, StrEnum):
        return kind(cast("str", value))
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"no {kind}")
    return value


def _tuple(parts: tuple[Any, ...], value: object) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise ValueError("no list")
    items = cast("list[object]", value)
    if parts[-1] is Ellipsis:
        return tuple(_decoded(parts[0], item) for item in items)
    return tuple(_decoded(part, item) for part, item in zip(parts, items, strict=True))


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("no object")
    return cast("dict[str, Any]", value)


def _dataclass(kind: type[Any], value: object) -> object:
    given = _mapping(value)
    hints = _hints(kind)
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    if not needed <= given.keys() or not given.keys() <= hints.keys():
        raise ValueError(f"no {kind.__name__}")
    return kind(**{name: _decoded(hints[name], each) for name, each in given.items()})


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)
