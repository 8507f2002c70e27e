"""Every number of the catalogue of faults has a test, or a reason in `docs/faults.md`."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "faults.md"
# The letter of each part, and its last number.
LAST = {"R": 28, "W": 15, "P": 17, "S": 16, "N": 15}
NUMBERS = [f"{part}-{n:02d}" for part, last in LAST.items() for n in range(1, last + 1)]

_ROW = re.compile(r"^\| ([RWPSN]-\d\d) \| (.+?) \| (.+?) \|$", re.MULTILINE)
_PATH = re.compile(r"`((?:tests|benchmarks)/[\w/]+\.py)`")
_NAMED = re.compile(r"\b([RWPSN])-(\d\d)(?: to [RWPSN]-(\d\d))?\b")
_IN_NAME = re.compile(r"_([rwpsn])(\d\d)(?=_)")
_REASON = "Not here: "
_SHORTEST_REASON = 25


@cache
def rows() -> dict[str, tuple[str, str]]:
    """Number → (fault, where it is tested or why not)."""
    return {number: (fault, where) for number, fault, where in _ROW.findall(page())}


def page() -> str:
    return PAGE.read_text("utf-8")


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
def named_in(path: Path) -> frozenset[str]:
    """The numbers that a module of tests is about."""
    texts = texts_that_name(ast.parse(path.read_text("utf-8")))
    return frozenset(number for text in texts for number in numbers_in(text))


def test_the_page_has_each_number_once() -> None:
    assert [number for number, _, _ in _ROW.findall(page())] == NUMBERS


def test_each_number_has_a_test_that_names_it_or_a_reason() -> None:
    wrong: list[str] = []
    for number, (_, where) in rows().items():
        tests = [ROOT / path for path in _PATH.findall(where) if path.startswith("tests/")]
        if where.startswith(_REASON):
            wrong += [number] if len(where) < _SHORTEST_REASON else []
        elif not tests or not all(p.exists() and number in named_in(p) for p in tests):
            wrong.append(f"{number}: {where}")
    assert wrong == []


def test_a_number_that_is_tested_has_no_reason_why_not() -> None:
    named = Counter(n for path in (ROOT / "tests").rglob("test_*.py") for n in named_in(path))
    known = set(NUMBERS)
    assert set(named) <= known
    assert [n for n, (_, where) in rows().items() if where.startswith(_REASON) and n in named] == []


def test_numbers_are_found_in_names_and_docstrings() -> None:
    assert numbers_in("R-05 to R-08, N-01") == {"R-05", "R-06", "R-07", "R-08", "N-01"}
    assert numbers_in("test_r07_r08_a_log") == {"R-07", "R-08"}
    assert numbers_in("test_ab12_PR-05x") == set()
