"""N-15: the lock file: no version with a known hole, no licence that binds the whole app."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
REASONS = ROOT / "docs" / "decisions" / "012-dependencies.md"

# Below these, published security holes are open. A library need not be locked to have a floor.
FLOORS = {"pypdf": "7.1", "starlette": "1.3", "mammoth": "1.11"}

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CNRI-Python",
    "ISC",
    "LGPL-3.0-only",  # Qt, linked dynamically
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-1.1",  # binds its own files only, as MPL-2.0 does
    "MPL-2.0",
    "PSF-2.0",
    "Zlib",
}

# Older metadata says it in its own words.
SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD-3-Clause",
    "BSD-3-Clause, Apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
    "MIT License": "MIT",
    "The BSD 2-Clause License": "BSD-2-Clause",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def locked() -> list[Requirement]:
    """Every line of the lock file that names a version."""
    lines = LOCK.read_text("utf-8").splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"[a-z0-9]", line)]


def locked_here() -> list[str]:
    """Names of what the lock file installs on this machine."""
    return [item.name for item in locked() if item.marker is None or item.marker.evaluate()]


def licence(name: str) -> str:
    """The licence expression in a distribution's metadata; empty where it gives none."""
    fields = metadata.metadata(name)
    classifiers = fields.get_all("Classifier") or []
    stated = [*(fields.get_all("License-Expression") or []), *(fields.get_all("License") or [])]
    stated += [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    short = [text for text in stated if text and "\n" not in text]
    return SPELLINGS.get(short[0], short[0] or "") if short else ""


def is_allowed(expression: str) -> bool:
    """Whether one of the alternatives is allowed in all its parts."""
    alternatives = [choice.split(" AND ") for choice in expression.split(" OR ")]
    return any(ALLOWED.issuperset(parts) for parts in alternatives)


@pytest.mark.parametrize(("name", "floor"), FLOORS.items())
def test_no_version_with_a_known_hole_is_locked(name: str, floor: str) -> None:
    versions = [item.specifier for item in locked() if item.name == name]
    pinned = [Version(str(specifier).removeprefix("==")) for specifier in versions]
    assert [str(version) for version in pinned if version < Version(floor)] == []


def test_the_lock_pins_and_hashes_everything() -> None:
    assert len(locked()) > 50
    assert [str(item) for item in locked() if not str(item.specifier).startswith("==")] == []
    blocks = re.split(r"\n(?=[a-z0-9])", LOCK.read_text("utf-8"))
    assert [block.partition(" ")[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_every_installed_licence_is_on_the_list() -> None:
    licences = {name: licence(name) for name in locked_here()}
    assert {name: text for name, text in licences.items() if not is_allowed(text)} == {}


def test_every_dependency_has_a_reason_and_a_notice() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    runtime = {Requirement(line).name for line in project["dependencies"]}
    tools = {Requirement(line).name for line in project["optional-dependencies"]["dev"]}
    reasons = set(re.findall(r"[\w-]+", REASONS.read_text("utf-8")))
    notices = set(re.findall(r"[\w-]+", (ROOT / "NOTICES.md").read_text("utf-8")))
    assert sorted((runtime | tools) - reasons) == []
    assert sorted(runtime - notices) == []


@pytest.mark.parametrize("expression", ["AGPL-3.0-only", "MIT AND GPL-3.0-only", "", "UNKNOWN"])
def test_other_licences_are_refused(expression: str) -> None:
    assert not is_allowed(expression)
