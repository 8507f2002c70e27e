"""`desktop-rag token`: what a terminal shows of the tokens of programs."""

from pathlib import Path

import pytest

from tests.command_line import run, run_json, settled


@pytest.mark.usefixtures("home")
def test_tokens_are_listed_with_the_collections_they_are_limited_to(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "lamp.md").write_text("The lamp is lit at dusk.")
    run_json("index", str(settled(papers)), "--collection", "Work")
    run_json("token", "add", "wiki", "--collection", "Work")
    run_json("token", "add", "all")
    rows = {row["name"]: row["collections"] for row in run_json("token", "list")}
    assert rows == {"wiki": ["Work"], "all": []}
    assert "wiki: ask, 120 a minute, only Work" in run("token", "list").stdout
