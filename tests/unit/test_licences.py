"""N-15: the lock files: pinned, hashed, and no licence that binds the whole app."""

import contextlib
import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
# What the app needs, and what work on it needs besides.
LOCKS = (ROOT / "requirements.lock", ROOT / "requirements-dev.lock")
REASONS = ROOT / "docs" / "decisions" / "012-dependencies.md"

RULES = tomllib.loads((ROOT / "packaging/supply_chain/licences.toml").read_text("utf-8"))
ALLOWED = frozenset(RULES["allowed"])
# Installed by nobody but for work on the bundled model, the demo documents and benchmarks.
EXTRAS_OUTSIDE = ("model", "demo", "bench")


def lock_text() -> str:
    return "".join(path.read_text("utf-8") for path in LOCKS)


def locked() -> list[Requirement]:
    """Every line of the lock files that names a version."""
    lines = lock_text().splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"[a-z0-9]", line)]


def locked_here() -> list[str]:
    """Names of what the lock files install on this machine."""
    return [item.name for item in locked() if item.marker is None or item.marker.evaluate()]


def licence(name: str) -> str:
    """The licence expression of a distribution, or as the rules state it; "" for none."""
    try:
        fields = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return RULES["stated"].get(name, "")
    classifiers = fields.get_all("Classifier") or []
    stated = [*(fields.get_all("License-Expression") or []), *(fields.get_all("License") or [])]
    stated += [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    short = [text for text in stated if text and "\n" not in text]
    if not short:
        return RULES["stated"].get(name, "")
    return RULES["spellings"].get(short[0], short[0])


def is_allowed(expression: str) -> bool:
    """Whether one of the alternatives is allowed in all its parts."""
    alternatives = [choice.split(" AND ") for choice in expression.split(" OR ")]
    return any(ALLOWED.issuperset(parts) for parts in alternatives)


def test_the_lock_pins_and_hashes_everything() -> None:
    assert len(locked()) > 50
    assert [str(item) for item in locked() if not str(item.specifier).startswith("==")] == []
    blocks = re.split(r"\n(?=[a-z0-9])", lock_text())
    assert [block.partition(" ")[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_what_runs_the_app_is_locked_without_the_tools() -> None:
    texts = (path.read_text("utf-8") for path in LOCKS)
    app, tools = (set(re.findall(r"(?m)^([a-z0-9.-]+)==", text)) for text in texts)
    assert app & tools == set()
    assert {canonicalize_name(Requirement(line).name) for line in project()["dependencies"]} <= app
    assert {"pytest", "ruff", "hypothesis"} <= tools


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def closure(lines: Iterable[str]) -> set[str]:
    """These packages and all that they need, on any system; of what is missing only the names."""
    found: set[str] = set()
    wanted = [Requirement(line) for line in lines]
    while wanted:
        name = canonicalize_name(wanted.pop().name)
        if name in found:
            continue
        found.add(name)
        with contextlib.suppress(metadata.PackageNotFoundError):
            needs = [Requirement(line) for line in metadata.requires(name) or []]
            wanted += [need for need in needs if "extra" not in str(need.marker)]
    return found


def refused(names: Iterable[str]) -> dict[str, str]:
    licences = {name: licence(name) for name in names}
    return {name: text for name, text in licences.items() if not is_allowed(text)}


@pytest.mark.slow
def test_every_locked_licence_is_on_the_list() -> None:
    assert refused(locked_here()) == {}


@pytest.mark.slow
def test_everything_needed_at_run_time_has_a_licence_on_the_list() -> None:
    """On any system, with the extras that people install."""
    extras = project()["optional-dependencies"]
    names = closure([*project()["dependencies"], *extras["ocr"], *extras["matrix"]])
    known = {canonicalize_name(item.name) for item in locked()}
    assert len(names & known) > 60
    assert refused(names & known) == {}


@pytest.mark.parametrize("extra", EXTRAS_OUTSIDE)
def test_every_package_that_an_extra_names_has_a_licence_on_the_list(extra: str) -> None:
    lines = project()["optional-dependencies"][extra]
    assert refused(canonicalize_name(Requirement(line).name) for line in lines) == {}


def test_odd_licences_are_those_of_the_packages_they_were_accepted_for() -> None:
    by_licence = {name: licence(name) for name in locked_here()}
    for odd, packages in RULES["only"].items():
        users = {canonicalize_name(n) for n, text in by_licence.items() if odd in text.split()}
        assert users == set(packages)


def test_every_allowed_licence_has_a_reason_and_a_user() -> None:
    used = {part for name in locked_here() for part in re.split(r" AND | OR ", licence(name))}
    assert [text for text in RULES["allowed"] if not RULES["allowed"][text]] == []
    assert sorted(ALLOWED - used - {"0BSD", "CC0-1.0", "Zlib", "PSF-2.0", "ISC"}) == []


def test_every_dependency_has_a_reason_and_a_notice() -> None:
    runtime = {Requirement(line).name for line in project()["dependencies"]}
    extras = project()["optional-dependencies"]
    tools = {Requirement(line).name for line in [*extras["dev"], *extras["build"]]}
    reasons = set(re.findall(r"[\w-]+", REASONS.read_text("utf-8")))
    notices = set(re.findall(r"[\w-]+", (ROOT / "NOTICES.md").read_text("utf-8")))
    assert sorted((runtime | tools) - reasons) == []
    assert sorted(runtime - notices) == []


@pytest.mark.parametrize("expression", ["AGPL-3.0-only", "MIT AND GPL-3.0-only", "", "UNKNOWN"])
def test_other_licences_are_refused(expression: str) -> None:
    assert not is_allowed(expression)
