"""`eval run`, `eval compare` and `eval report` over a real library and endpoint."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import load_settings, save_settings
from desktop_rag.core.markup.own_words import is_exported
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from tests.command_line import run as run_verb
from tests.command_line import run_json as run_verb_json
from tests.command_line import settled
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.needs_wings("evaluation")

run, run_json = partial(run_verb, "eval"), partial(run_verb_json, "eval")
QUESTIONS = [
    {"question": f"When is the lamp of pier {n} lit?", "expected": f"At {n} o'clock", "tags": "sea"}
    for n in range(8)
]
SET_UPS = """
[[setup]]
name = "wrong"
[[setup]]
name = "right"
instructions = "Be right."
room = "fast"
"""


def answer_to(prompt: str) -> str:
    """Right with the right instructions; grades nothing."""
    [*_, pier] = re.findall(r"pier (\d)", prompt) or ["9"]
    return f"At {pier if 'Be right.' in prompt else 99} o'clock [1]."


@pytest.fixture
def ready(home: Home, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "docs"
    folder.mkdir()
    text = "\n\n".join(f"The lamp of pier {n} is lit at {n} o'clock." for n in range(8))
    (folder / "lamps.md").write_text(text)
    (tmp_path / "lamps.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    (tmp_path / "ups.toml").write_text(SET_UPS)
    settled(folder)
    with ChatServer() as server:
        server.answer_to = answer_to
        home.create()
        save_settings(home.settings, Settings(endpoint=server.endpoint()))
        assert run_verb("index", str(folder)).returncode == 0
        yield tmp_path


@pytest.mark.slow
def test_runs_are_compared_in_plain_words_and_reported(ready: Path) -> None:
    lamps, ups = str(ready / "lamps.jsonl"), str(ready / "ups.toml")
    estimated = run_json("run", lamps, "--setups", ups, "--estimate")
    assert estimated["estimate"].startswith("16 answers, about ")
    done = run_json("run", lamps, "--setups", ups)
    assert [row["state"] for row in done["runs"]] == ["done", "done"]
    words = "right is better: 8 to 0, 0 equal. This is likely not chance."
    assert done["comparisons"][0]["words"].startswith(words)
    assert run("compare", "wrong", "right").stdout.startswith(words)
    turned = run_json("compare", "right", "wrong")
    assert (turned["outcome"], turned["worse"]) == ("worse", 8)
    stored = run_json("runs")
    assert {(kept["kind"], kept["set"]) for kept in stored} == {("questions", "lamps")}
    assert {kept["name"] for kept in stored} == {"wrong", "right"}
    assert "lamps: wrong: done, 8 of 8 answered, score 0" in run("runs").stdout
    page = ready / "report.html"
    for file in (page, ready / "raw.csv", ready / "raw.jsonl"):
        assert run("report", "lamps", str(file)).returncode == 0
        assert is_exported(file.read_text())
    shown = page.read_text()
    assert "At 3 o&#x27;clock" in shown
    assert words in shown
    assert not re.search(r"(href|src|url\(|https?:)", shown)
    rows = list(csv.DictReader((ready / "raw.csv").read_text().splitlines()))
    assert len(rows) == 16
    assert {row["basis"] for row in rows} == {"expected"}
    kinds = [json.loads(line)["type"] for line in (ready / "raw.jsonl").read_text().splitlines()]
    assert (kinds.count("run"), kinds.count("answer")) == (2, 16)


@pytest.mark.slow
def test_a_run_above_the_sum_of_the_person_begins_with_their_consent(
    ready: Path, home: Home
) -> None:
    lamps, (usual, _) = str(ready / "lamps.jsonl"), load_settings(home.settings)
    priced = replace(usual.endpoint, price_in=5.0, price_out=5.0, ask_above=0.01)
    save_settings(home.settings, replace(usual, endpoint=priced))
    refused = run("run", lamps)
    assert refused.returncode == 1
    assert "more than the 0.01 that you set" in refused.stderr
    assert "--yes" in refused.stderr
    assert run_json("run", lamps, "--estimate")["runs"] == []
    assert [row["state"] for row in run_json("run", lamps, "--yes")["runs"]] == ["done"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "nothing"], "There is no set of questions “nothing”."),
        (["compare", "a", "b"], "There is no run “a”."),
        (["report", "lamps", "x.doc"], "There is no set of questions “lamps”."),
    ],
)
def test_what_is_not_there_is_said(home: Home, arguments: list[str], told: str) -> None:
    ended = run(*arguments)
    assert (ended.returncode, told in ended.stderr) == (1, True)
