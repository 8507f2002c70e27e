"""The software bill of materials holds every package and model that the app needs."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.unit.test_licences import closure, lock_text

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("sbom") / "sbom.cdx.json"
    command = [sys.executable, str(ROOT / "packaging" / "build_sbom.py"), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads(out.read_text("utf-8"))


def libraries(bill: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in bill["components"] if item["type"] == "library"]


def locked_at_run_time() -> dict[str, set[str]]:
    """Versions by name of every locked package that the app or its extra needs, on any system."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = closure([*project["dependencies"], *project["optional-dependencies"]["ocr"]])
    found: dict[str, set[str]] = {}
    for line in lock_text().splitlines():
        if re.match(r"[a-z0-9]", line):
            item = Requirement(line.rstrip(" \\"))
            if canonicalize_name(item.name) in names:
                version = str(item.specifier).removeprefix("==")
                found.setdefault(canonicalize_name(item.name), set()).add(version)
    return found


def test_it_is_a_cyclonedx_document(bill: dict[str, Any]) -> None:
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
    assert bill["metadata"]["component"]["name"] == "desktop-rag"
    assert all(item["name"] and item["type"] for item in bill["components"])
    references = [item["bom-ref"] for item in bill["components"]]
    assert len(references) == len(set(references))
    depends = {item["ref"]: item.get("dependsOn", []) for item in bill["dependencies"]}
    assert set(depends["desktop-rag"]) == set(references)


def test_every_locked_package_of_the_run_time_is_in_it(bill: dict[str, Any]) -> None:
    listed: dict[str, set[str]] = {}
    for item in libraries(bill):
        listed.setdefault(item["name"], set()).add(item["version"])
    locked = locked_at_run_time()
    assert len(locked) > 60
    assert listed == locked


def test_every_package_has_a_licence_and_the_hashes_of_the_lock(bill: dict[str, Any]) -> None:
    lock = lock_text()
    for item in libraries(bill):
        assert item["licenses"], item["name"]
        assert item["purl"] == f"pkg:pypi/{item['name']}@{item['version']}"
        hashes = [h["content"] for ref in item["externalReferences"] for h in ref["hashes"]]
        assert hashes, item["name"]
        assert [digest for digest in hashes if f"sha256:{digest}" not in lock] == []


def test_the_bundled_models_are_in_it_with_their_files(bill: dict[str, Any]) -> None:
    models = [i for i in bill["components"] if i["type"] == "machine-learning-model"]
    assert [model["name"] for model in models] == ["all-MiniLM-L6-v2", "use-multilingual-3"]
    for model in models:
        folder = ROOT / "resources" / "models" / model["name"]
        assert model["licenses"] == [{"expression": "Apache-2.0"}]
        hashes = {item["name"]: item["hashes"][0]["content"] for item in model["components"]}
        actual = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}
        assert hashes == actual


def test_what_only_work_on_the_app_needs_is_not_in_it(bill: dict[str, Any]) -> None:
    names = {item["name"] for item in libraries(bill)}
    assert names.isdisjoint({"pytest", "ruff", "hypothesis", "cyclonedx-python-lib"})
