"""`eval chunks` over a real library, without a model."""

from functools import partial
from pathlib import Path

import pytest

from desktop_rag.core.paths import Home
from tests.command_line import run as run_verb
from tests.command_line import run_json as run_verb_json
from tests.command_line import settled
from tests.integration.experiments.test_chunks_compared import PLACES, paper

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
    assert [row["name"] for row in done["runs"]] == [
        "By structure", "By structure, up to 200 tokens", "By structure, up to 100 tokens",
        "200 tokens each", "By words",
    ]  # fmt: skip
    assert {row["questions"] for row in done["runs"]} == {6}
    assert {row["first"] for row in done["comparisons"]} == {"By structure"}
    assert "headings and sentences" in done["comparisons"][0]["words"]
    assert "The chance allows for 4" in "".join(c["words"] for c in done["comparisons"]) or all(
        c["chance"] == 1 for c in done["comparisons"]
    )
    assert done["is_used"] is False
    told = run("chunks", "--count", "6")
    assert "By structure" in told.stdout
    assert "Making questions" in told.stderr
    kept = run_json("runs")
    assert {(row["kind"], row["set"]) for row in kept} == {("search", "From My documents")}


def test_an_unknown_collection_is_said(home: Home) -> None:
    ended = run("chunks", "--collection", "none")
    assert (ended.returncode, "There is no collection" in ended.stderr) == (1, True)
