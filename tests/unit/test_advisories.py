"""No locked version, and no lower bound, has a hole that the list of advisories knows."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.unit.test_licences import lock_text

ROOT = Path(__file__).parents[2]
ADVISORIES: list[dict[str, Any]] = tomllib.loads(
    (ROOT / "packaging" / "supply_chain" / "advisories.toml").read_text("utf-8")
)["advisory"]
_ID = re.compile(r"(CVE-\d{4}-\d{4,}|PYSEC-\d{4}-\d+|GHSA(-[0-9a-z]{4}){3})")


def fixed_versions() -> dict[str, Version]:
    """The lowest version of each package without a known hole."""
    floors: dict[str, Version] = {}
    for advisory in ADVISORIES:
        version = Version(advisory["fixed"])
        name = canonicalize_name(advisory["package"])
        floors[name] = max(version, floors.get(name, version))
    return floors


def vulnerable(lines: Iterable[str]) -> list[str]:
    """The pinned lines below the version in which their last hole was closed."""
    floors = fixed_versions()
    found: list[str] = []
    for line in lines:
        item = Requirement(line)
        floor = floors.get(canonicalize_name(item.name))
        if floor and any(Version(spec.version) < floor for spec in item.specifier):
            found.append(str(item))
    return found


def locked_lines() -> list[str]:
    lines = lock_text().splitlines()
    return [line.rstrip(" \\") for line in lines if re.match(r"[a-z0-9]", line)]


def test_no_locked_version_has_a_known_hole() -> None:
    assert vulnerable(locked_lines()) == []


def test_no_lower_bound_of_the_project_lets_a_known_hole_in() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    floors = fixed_versions()
    open_to: list[str] = []
    for line in project["dependencies"]:
        item = Requirement(line)
        floor = floors.get(canonicalize_name(item.name))
        bounds = [Version(s.version) for s in item.specifier if s.operator in {">=", "==", "~="}]
        if floor and (not bounds or max(bounds) < floor):
            open_to.append(line)
    assert open_to == []


@pytest.mark.parametrize("line", ["pypdf==7.0.9", "Pillow==12.3.0", "cryptography==49.0.1"])
def test_an_older_version_is_noticed(line: str) -> None:
    assert vulnerable([line]) == [str(Requirement(line))]


def test_every_advisory_says_what_it_is_and_where_it_is_from() -> None:
    for advisory in ADVISORIES:
        assert SpecifierSet(f">={advisory['fixed']}")
        assert advisory["ids"]
        assert [text for text in advisory["ids"] if not _ID.fullmatch(text)] == []
        assert advisory["about"]
        assert advisory["source"].startswith("https://")
