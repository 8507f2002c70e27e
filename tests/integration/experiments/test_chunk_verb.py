"""`eval chunks` over a real library, without a model."""

from functools import partial
from pathlib import Path

import pytest

from desktop_rag.core.paths import Home
from tests.command_line import run as run_verb
from tests.command_line import run_json as run_verb_json
from tests.command_line import settled
from tests.integration.experiments.test_chunk_trials import PLACES, paper

run, run_json = partial(run_verb, "eval"), partial(run_verb_json, "eval")


@pytest.fixture
def ready(home: Home, tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for place in PLACES:
        (folder / f"{place}.md").write_text(paper(place))
    settled(folder)
    assert run_verb("index", str(folder)).returncode == 0
    return tmp_path


@pytest.mark.slow
def test_settings_are_compared_in_plain_words(ready: Path) -> None:
    done = run_json("chunks", "--count", "6")
    assert [row["is_present"] for row in done["settings"]].count(True) == 1
    assert {row["questions"] for row in done["settings"]} == {6}
    assert "headings and sentences" in done["worth"]
    assert done["advice"]
    assert done["is_used"] is False
    told = run("chunks", "--count", "6")
    assert "By structure" in told.stdout
    # Progress is looked at now and then, so that any step may be missed.
    assert "Searching: " in told.stderr


def test_an_unknown_collection_is_said(home: Home) -> None:
    ended = run("chunks", "--collection", "none")
    assert (ended.returncode, "There is no collection" in ended.stderr) == (1, True)
