"""One codec for everything that is stored or sent as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pytest

from desktop_rag.core.records import (
    AsObject,
    Id,
    Named,
    Record,
    Share,
    Within,
    WrongValueError,
    checked,
    decoded,
    encoded,
    readable,
    readable_rows,
)


class Colour(StrEnum):
    """What a field can say."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Point:
    """A record within another."""

    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Drawing(Record):
    """A field of each kind."""

    key: Id
    file: Path
    colour: Colour = Colour.RED
    points: tuple[Point, ...] = ()
    pair: tuple[int, str] = (0, "")
    tags: frozenset[Colour] = frozenset()
    opacity: Share = 1.0
    shade: Literal["light", "dark"] = "light"
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    owner: Annotated[str, Named("by")] = ""
    counts: Annotated[tuple[tuple[str, int], ...], AsObject] = ()
    corner: Point | None = None
    note: str | int = ""


@dataclass(frozen=True, slots=True)
class Brief(Record):
    """A record that leaves out what has its default."""

    is_brief: ClassVar = True
    needed: ClassVar = frozenset({"a"})
    a: int = 0
    b: Annotated[tuple[str, ...], Within(0, 2)] = ()


FULL = Drawing(
    "d1", Path("/a/b"), Colour.BLUE, (Point(1, 2), Point(3)), (7, "x"), frozenset(Colour), 0.5,
    "dark", {"s": 1}, "me", (("n", 3),), Point(9), 5,
)  # fmt: skip
JSON: dict[str, Any] = {
    "key": "d1",
    "file": "/a/b",
    "colour": "blue",
    "points": [{"x": 1, "y": 2}, {"x": 3, "y": 0}],
    "pair": [7, "x"],
    "tags": ["blue", "red"],
    "opacity": 0.5,
    "shade": "dark",
    "sizes": {"s": 1},
    "by": "me",
    "counts": {"n": 3},
    "corner": {"x": 9, "y": 0},
    "note": 5,
}


def test_each_kind_of_field_has_its_form_and_comes_back() -> None:
    assert FULL.to_json() == JSON
    assert Drawing.from_json(json.loads(json.dumps(JSON))) == FULL
    assert checked(Drawing, JSON, "it") == FULL


def test_what_was_added_since_has_its_default_and_what_is_unknown_is_left_out() -> None:
    assert Drawing.from_json({"key": "d", "file": "x", "later": 1, "colour": None}) == Drawing(
        "d", Path("x")
    )


def test_a_brief_record_has_what_is_needed_and_what_is_set() -> None:
    assert Brief().to_json() == {"a": 0}
    assert Brief(1, ("x",)).to_json() == {"a": 1, "b": ["x"]}
    with pytest.raises(WrongValueError):
        Brief.from_json({"b": []})


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"key": "../d"}, "it, key"),
        ({"key": 5}, "it, key"),
        ({"colour": "green"}, "it, colour"),
        ({"points": [{"x": 1}, {"x": "1"}]}, "it, points 2, x"),
        ({"points": {}}, "it, points"),
        ({"pair": [1]}, "it, pair"),
        ({"opacity": 2}, "it, opacity"),
        ({"opacity": float("nan")}, "it, opacity"),
        ({"opacity": True}, "it, opacity"),
        ({"sizes": {"s": 2**70}}, "it, sizes, s"),
        ({"by": "a\0"}, "it, by"),
        ({"by": "\ud800"}, "it, by"),
        ({"corner": []}, "it, corner"),
        ({"owner": "me"}, "it, owner"),
    ],
)
def test_a_wrong_value_of_anybody_is_told_by_its_place(changes: dict[str, Any], place: str) -> None:
    with pytest.raises(WrongValueError) as told:
        checked(Drawing, JSON | changes, "it")
    assert str(told.value) == place


def test_an_open_record_may_have_fields_of_another_version() -> None:
    assert checked(Drawing, JSON | {"later": 1}, "it", is_open=True) == FULL


def test_what_the_app_itself_wrote_has_no_bounds() -> None:
    """A file name that is no UTF-8 has halves of characters, and older rows may be odd."""
    found = Drawing.from_json(JSON | {"by": "\ud800", "opacity": 7.0, "key": "é"})
    assert (found.owner, found.opacity, found.key) == ("\ud800", 7.0, "é")


def test_of_an_edited_file_the_right_fields_are_taken() -> None:
    odd = JSON | {"opacity": 2, "colour": "green", "corner": {"y": 1}, "by": 5}
    assert readable(Drawing, odd) is None
    assert readable(Drawing, odd, mends=True) == Drawing.from_json(
        {name: value for name, value in JSON.items() if name not in ("opacity", "colour", "by")}
        | {"corner": None}
    )
    assert readable(Drawing, {"key": "d"}, mends=True) is None
    assert readable(Drawing, [], mends=True) is None


def test_of_a_list_the_right_rows_are_taken() -> None:
    rows = [{"a": 1}, {"a": "x"}, None, {"a": 2, "b": ["1", "2", "3"]}, {"a": 3}]
    assert readable_rows(Brief, rows) == [Brief(1), Brief(3)]
    assert readable_rows(Brief, {"a": 1}) == []


def test_values_that_hold_records_have_a_form_too() -> None:
    told = encoded({"all": [Brief(1)]})
    assert told == {"all": [{"a": 1}]}
    assert decoded(dict[str, tuple[Brief, ...]], told) == {"all": (Brief(1),)}
