"""Readers and sources of installed packages, found by entry points: the example in the tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from desktop_rag.core.paths import Home
from tests.command_line import run, run_json

pytestmark = pytest.mark.slow
_PACKAGE = Path(__file__).parents[2] / "example_package"


def test_files_of_an_installed_reader_have_its_places(home: Home, tmp_path: Path) -> None:
    """In a process of its own: formats are found when the app starts."""
    (tmp_path / "soup.recipe").write_text("Barley soup\nSoak the barley.\nBoil the marrow.")
    (tmp_path / "fake.pdf").write_text("No recipe\nat all.")
    paths = [str(_PACKAGE), os.environ.get("PYTHONPATH", "")]
    given = {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    ran = subprocess.run(
        [sys.executable, "-m", "desktop_rag", "passages", "soup.recipe", "fake.pdf"],
        env=os.environ | given | {"DESKTOP_RAG_HOME": str(home.root)}, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    passages = [json.loads(line) for line in ran.stdout.splitlines()]
    steps = {Path(each["file"]).name for each in passages if "Step 1" in each["text"]}
    assert steps == {"soup.recipe"}, "the app keeps its own suffixes"
    passage = next(each for each in passages if "marrow" in each["text"])
    assert "Step 2: Boil the marrow." in passage["text"]
    assert passage["anchor"]["line"]


def test_an_installed_source_is_kept_in_step(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(_PACKAGE)
    place = tmp_path / "shelf.txt"
    named = ("index", f"shelf:{place}")
    place.write_text("otter The otter dives.\nheron The heron stands.")
    assert run_json(*named, "--collection", "Animals")["files"] == 2
    place.write_text("heron The heron flies.")
    assert run_json(*named, "--collection", "Animals")["files"] == 1
    [found] = run_json("search", "otter dives, heron flies")
    assert (found["title"], found["text"]) == ("Heron", "The heron flies.")
    place.unlink()
    assert "The source “shelf” failed." in run(*named, "--collection", "Animals").stderr
    assert run_json("search", "heron"), "what was there stays"
    assert home.root.exists()
