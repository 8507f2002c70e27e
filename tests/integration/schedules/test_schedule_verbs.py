"""Scheduled questions on the command line, without a model: the answers are excerpts."""

import json
from pathlib import Path

import pytest

from desktop_rag.cli.main import main
from desktop_rag.core.paths import Home

pytestmark = pytest.mark.needs_wings("schedules")


@pytest.fixture
def papers(home: Home, tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text("The lamp of the lighthouse is lit at dusk by the keeper.")
    assert main(["index", str(folder)]) == 0
    return folder


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["schedule", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_a_question_is_added_asked_listed_and_removed(
    papers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    when = ("--weekly", "thu", "--at", "8:30", "--about", str(papers), "--name", "Lamps")
    assert "Lamps (weekly" in printed(capsys, "add", "When is the lamp lit?", *when)
    assert "lit at dusk" in printed(capsys, "run", "lamps")
    text = (papers / "lamp.md").read_text()
    (papers / "lamp.md").write_text(text.replace("dusk", "noon"))
    assert main(["index", str(papers)]) == 0
    changed = printed(capsys, "run", "lamps")
    assert changed.startswith("The answer changed:\n~ ")
    assert "lamp.md" in changed
    [row] = json.loads(printed(capsys, "list", "--json"))
    assert (row["name"], row["rhythm"], row["next"][-5:]) == ("Lamps", "weekly", "08:30")
    assert row["about"] == "About: papers"
    runs = json.loads(printed(capsys, "history", "Lamps", "--json"))
    assert [run["is_changed"] for run in runs] == [True, False]
    printed(capsys, "remove", "Lamps")
    assert "No scheduled questions" in printed(capsys, "list")


@pytest.mark.parametrize(
    "wrong", [["--weekly", "t"], ["--at", "25:00"], ["--daily", "--on-change"]]
)
def test_a_wrong_time_is_wrong_usage(home: Home, wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["schedule", "add", "When?", *wrong])
    assert refused.value.code == 2


@pytest.mark.slow
def test_what_is_not_in_the_library_is_refused(
    papers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schedule", "add", "When?", "--about", str(tmp_path / "nothing.md")]) == 1
    assert "nothing.md" in capsys.readouterr().err
    assert main(["schedule", "run", "tides"]) == 1
    assert "no scheduled question “tides”" in capsys.readouterr().err
