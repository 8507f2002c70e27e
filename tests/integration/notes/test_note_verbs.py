"""Notes on the command line, without a model: they are made of excerpts."""

import json
from pathlib import Path

import pytest

from desktop_rag.cli.main import main
from desktop_rag.core.paths import Home

pytestmark = [pytest.mark.slow, pytest.mark.needs_wings("schedules")]


def test_a_note_is_written_listed_and_refreshed(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    papers, folder = tmp_path / "papers", tmp_path / "Notes"
    papers.mkdir()
    (papers / "lamp.md").write_text("The lamp of the lighthouse is lit at dusk by the keeper.")
    assert main(["index", str(papers)]) == 0
    assert main(["note", "write", "lighthouse", "--folder", str(folder)]) == 0
    note = folder / "lighthouse.md"
    assert "lit at dusk" in note.read_text()
    capsys.readouterr()
    assert main(["note", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"topic": "lighthouse", "file": str(note)}]
    (papers / "lamp.md").write_text("The lamp of the lighthouse is lit at noon by the keeper.")
    assert main(["index", str(papers)]) == 0
    before = note.read_text()
    capsys.readouterr()
    assert main(["note", "refresh", str(note)]) == 0
    shown = capsys.readouterr().out
    assert "## Excerpts (changed)" in shown
    assert "Nothing was written." in shown
    assert note.read_text() == before
    assert main(["note", "refresh", str(note), "--yes"]) == 0
    assert "lit at noon" in note.read_text()
