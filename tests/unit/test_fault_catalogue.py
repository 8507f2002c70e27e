"""Every number of the catalogue of faults has a test, or a reason in `docs/faults.md`."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "faults.md"
# The letter of each part, and its last number.
LAST = {"R": 32, "W": 15, "P": 17, "S": 16, "N": 15}
NUMBERS = [f"{part}-{n:02d}" for part, last in LAST.items() for n in range(1, last + 1)]

_ROW = re.compile(r"^- ([RWPSN]-\d\d): (.+)$", re.MULTILINE)
_NAMED = re.compile(r"\b([RWPSN])-(\d\d)(?: to [RWPSN]-(\d\d))?\b")
_IN_NAME = re.compile(r"_([rwpsn])(\d\d)(?=_)")
_REASON = "Not here: "
_SHORTEST_REASON = 25


def rows() -> list[tuple[str, str]]:
    """Number and fault, which ends in the reason where there is no test."""
    return _ROW.findall(PAGE.read_text("utf-8"))


def reasons() -> dict[str, str]:
    """Why a number has no test."""
    return {n: fault.partition(_REASON)[2] for n, fault in rows() if _REASON in fault}


def texts_that_name(tree: ast.Module) -> Iterator[str]:
    """The docstrings of a module, its classes and functions, and the names of its tests."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


def numbers_in(text: str) -> set[str]:
    found = {f"{part.upper()}-{n}" for part, n in _IN_NAME.findall(text)}
    for part, first, last in _NAMED.findall(text):
        found |= {f"{part}-{n:02d}" for n in range(int(first), int(last or first) + 1)}
    return found


@cache
def named() -> frozenset[str]:
    """The numbers that tests are about."""
    modules = (ast.parse(p.read_text("utf-8")) for p in (ROOT / "tests").rglob("test_*.py"))
    texts = (text for module in modules for text in texts_that_name(module))
    return frozenset(number for text in texts for number in numbers_in(text))


def test_the_page_has_each_number_once() -> None:
    assert [number for number, _ in rows()] == NUMBERS


@pytest.mark.slow
def test_each_number_has_a_test_that_names_it_or_a_reason() -> None:
    assert [n for n in NUMBERS if n not in named() and n not in reasons()] == []
    assert [n for n, reason in reasons().items() if len(reason) < _SHORTEST_REASON] == []


@pytest.mark.slow
def test_a_number_that_is_tested_has_no_reason_why_not() -> None:
    assert named() <= set(NUMBERS)
    assert named() & set(reasons()) == set()


def test_numbers_are_found_in_names_and_docstrings() -> None:
    assert numbers_in("R-05 to R-08, N-01") == {"R-05", "R-06", "R-07", "R-08", "N-01"}
    assert numbers_in("test_r07_r08_a_log") == {"R-07", "R-08"}
    assert numbers_in("test_ab12_PR-05x") == set()
