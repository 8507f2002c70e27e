"""`eval grounding --model`: a model judges a sample, and both are compared."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.measures.grounding import sample_of
from desktop_rag.features.evaluation.measures.query_sets import LabelledClaim
from tests.command_line import run as run_verb
from tests.command_line import run_json as run_verb_json
from tests.servers.chat_server import ChatServer

run = partial(run_verb, "eval", "grounding")
run_json = partial(run_verb_json, "eval", "grounding")
SOURCE = "The ferry leaves at noon. The lamp is lit at dusk by the keeper of the harbour."
CLAIMS = {
    "The ferry leaves at noon.": "supported",
    "The lamp is lit at dusk by the keeper.": "supported",
    "The ferry leaves at seven in the morning.": "unsupported",
    "Fish is sold in Vienna.": "unsupported",
}
VERDICTS = ["supported", "missing", "contradicted", "missing"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "claims.jsonl"
    rows = [{"source": SOURCE, "claim": claim, "label": label} for claim, label in CLAIMS.items()]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def judged(prompt: str) -> str:
    """Judges the one claim of a request as the table says."""
    said = re.search(r"^101: (.*)$", prompt, re.M)
    assert said
    verdict = VERDICTS[list(CLAIMS).index(said[1])]
    words = " ".join(SOURCE.split()[:4])
    row = {"id": 101, "verdict": verdict, "words": words, "why": "Passage 1 <says> so."}
    return f"```json\n{json.dumps([row])}\n```"


def test_both_are_compared_on_every_claim(home: Home, file: Path, tmp_path: Path) -> None:
    rows_file = tmp_path / "rows.jsonl"
    with ChatServer() as server:
        server.answer_to = judged
        model = ("--endpoint", server.base_url, "--model", "judge", "--yes")
        told = run_json(str(file), *model, "--per-query", str(rows_file))
        assert {chat["model"] for chat in server.chats} == {"judge"}
        assert len(server.chats) == len(CLAIMS)
    assert (told["model"], told["claims"], told["judged"]) == ("judge", 4, 4)
    assert (told["agreement"], told["kappa"]) == (0.75, 0.5)
    assert told["local_balanced_accuracy"] == 1.0
    assert told["model_balanced_accuracy"] == 0.75
    assert told["differ"]["supported / not in the sources"] == 1
    rows = [json.loads(line) for line in rows_file.read_text("utf-8").splitlines()]
    assert [row["model"] for row in rows] == [
        "supported", "not in the sources", "contradicted", "not in the sources",
    ]  # fmt: skip
    assert rows[0]["reason"] == "Passage 1 <says> so."
    [kept] = run_verb_json("eval", "runs")
    assert (kept["kind"], kept["figures"]) == ("agreement", told)


@pytest.mark.slow
def test_a_model_that_gives_no_verdict_is_counted(home: Home, file: Path) -> None:
    with ChatServer("I would rather not say.") as server:
        told = run_json(str(file), "--endpoint", server.base_url, "--model", "judge", "--yes")
    assert (told["claims"], told["judged"], told["kappa"]) == (4, 0, None)


def test_nothing_is_sent_before_the_person_agrees(home: Home, file: Path) -> None:
    with ChatServer() as server:
        home.create()
        save_settings(home.settings, Settings(endpoint=server.endpoint()))
        done = run(str(file), "--model", "--sample", "2")
        assert server.chats == []
    assert done.returncode == 1
    assert "2 claims with their sources go to test-model at" in done.stderr
    assert "no prices were entered" in done.stderr
    assert "Add --yes" in done.stderr


def test_without_an_endpoint_the_way_out_is_said(home: Home, file: Path) -> None:
    done = run(str(file), "--model", "--yes")
    assert done.returncode == 1
    assert "--endpoint URL --model NAME" in done.stderr


@pytest.mark.parametrize(
    ("right", "wrong", "count", "expected"),
    [(10, 10, 4, (2, 2)), (10, 1, 4, (3, 1)), (1, 10, 4, (1, 3)), (2, 2, 9, (2, 2))],
)
def test_a_sample_has_as_many_of_both_labels_as_it_can(
    right: int, wrong: int, count: int, expected: tuple[int, int]
) -> None:
    labels = [True] * right + [False] * wrong
    claims = [LabelledClaim(str(n), "", "", kind) for n, kind in enumerate(labels)]
    chosen = sample_of(claims, count)
    kinds = [claim.is_supported for claim in chosen]
    assert (kinds.count(True), kinds.count(False)) == expected
    assert chosen == sample_of(claims, count), "the same each time"
