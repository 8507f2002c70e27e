"""The evaluation commands: as a process over small sets, and the stored results of a run."""

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.app import Services
from desktop_rag.core.paths import HOME_VARIABLE, Home, resources_dir
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.cli.eval_verbs import in_scratch_home
from desktop_rag.features.evaluation.cli.run_verbs import listed_runs
from desktop_rag.features.evaluation.measures import query_sets, search
from desktop_rag.features.evaluation.services import EvaluationServices
from tests.command_line import answering
from tests.command_line import run as run_verb
from tests.command_line import run_json as run_verb_json

KEYS = {"mode", "queries", "ndcg@10", "recall@5", "mrr", "p50_ms", "p95_ms"}
INDEX_KEYS = {"index_seconds", "words_seconds", "passages", "index_bytes"}
LAMP = "The lamp is lit at dusk."
FERRY = "The ferry leaves at noon."


run, run_json = partial(run_verb, "eval"), partial(run_verb_json, "eval")


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of two passages and two questions, with gold spans in a separate document."""
    made = tmp_path / "harbour"
    (made / "documents").mkdir(parents=True)
    passages = [("a", "Lamp", LAMP), ("b", "Ferry", FERRY)]
    write(made / "corpus.jsonl", ({"_id": i, "title": t, "text": x} for i, t, x in passages))
    questions = [("1", "lamp lit"), ("2", "when does the ferry go")]
    write(made / "queries.jsonl", ({"_id": i, "text": text} for i, text in questions))
    (made / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t1\n")
    text = f"# Lamp\r\n\r\n{LAMP}\r\n\r\n# Ferry\r\n\r\n{FERRY}\r\n"
    (made / "documents" / "day.md").write_bytes(text.encode())
    gold = [("1", LAMP), ("2", FERRY), ("2", "Nobody wrote this down anywhere.")]
    places = ((query, max(0, text.find(part)), part) for query, part in gold)
    rows = (
        {"query": q, "document": "day.md", "start": at, "end": at + len(part), "text": part}
        for q, at, part in places
    )
    write(made / "spans.jsonl", rows)
    return made


@pytest.mark.slow
def test_a_set_is_measured_in_every_mode_and_the_run_is_kept(
    home: Home, folder: Path, tmp_path: Path
) -> None:
    results = run_json("retrieval", str(folder))
    assert [row["mode"] for row in results] == ["hybrid", "lexical", "dense"]
    for row in results:
        assert set(row) == KEYS | INDEX_KEYS
        assert (row["queries"], row["ndcg@10"], row["passages"]) == (2, 1.0, 2)
        assert row["index_bytes"] > 0
    kept = run_json("runs")
    assert {(each["kind"], each["set"]) for each in kept} == {("retrieval", "retrieval harbour")}
    assert [each["figures"] for each in kept] == results
    assert "answers" not in kept[0]
    [whole] = run_json("runs", kept[0]["run_id"][:8])
    rows = whole["answers"]
    assert [(row["mode"], row["query"]) for row in rows] == [("hybrid", "1"), ("hybrid", "2")]
    assert rows[0]["found"][0]["id"] == "a"
    raw = tmp_path / "raw.jsonl"
    assert run("report", "retrieval harbour", str(raw)).returncode == 0
    lines = [json.loads(line) for line in raw.read_text("utf-8").splitlines()]
    told = [row for line in lines if line["type"] == "answer" for row in line["full"]["rows"]]
    assert [(row["mode"], row["query"]) for row in told] == [
        (mode, query) for mode in ("hybrid", "lexical", "dense") for query in ("1", "2")
    ]
    assert told[:2] == rows
    assert whole["settings"]["folder"] == str(folder)
    compared = run_json("compare", "hybrid", "dense", "--set", "retrieval harbour")
    assert (compared["questions"], compared["same"]) == (2, 2)
    report = tmp_path / "report.html"
    assert run("report", "retrieval harbour", str(report)).returncode == 0
    assert "when does the ferry go" in report.read_text("utf-8")


@pytest.mark.slow
def test_one_mode_and_the_first_queries_only(home: Home, folder: Path) -> None:
    [row] = run_json("retrieval", str(folder), "--mode", "lexical", "--limit", "1", "-k", "1")
    assert (row["mode"], row["queries"], row["ndcg@10"]) == ("lexical", 1, 1.0)
    shown = run("runs").stdout
    assert "retrieval harbour: lexical" in shown
    assert "queries 1, ndcg@10 1.0" in shown


@pytest.mark.slow
def test_gold_spans_are_found_in_the_extracted_text(folder: Path) -> None:
    span_set = query_sets.load_set(folder, kind="spans")
    said: list[str] = []

    def measure(services: Services) -> Any:
        return search.search(span_set, services, said.append, modes=["hybrid"])

    measured, size_bytes = in_scratch_home(Settings(), measure)
    assert size_bytes > 0
    [row] = measured.results
    gold_chars = len(FERRY) + len("Nobody wrote this down anywhere.")
    assert row["span_recall@5"] == round((1 + len(FERRY) / gold_chars) / 2, 4)
    assert row["unplaced"] == 1
    assert 0.2 < row["span_precision@5"] < 1
    assert "1 gold spans were not found in the extracted text and count as missed" in said


@pytest.mark.slow
def test_evidence_is_found_by_its_page(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    [handbook] = (resources_dir() / "demo" / "documents").rglob("*handbook*.pdf")
    shutil.copyfile(handbook, tmp_path / "files" / "handbook.pdf")
    write(tmp_path / "queries.jsonl", [{"_id": "1", "text": "What is done with a burning glass?"}])
    evidence = {"query": "1", "file": "handbook.pdf", "page0": 2, "text": ""}
    write(tmp_path / "evidence.jsonl", [evidence])
    page_set = query_sets.load_set(tmp_path, kind="pages")

    def measure(services: Services) -> Any:
        return search.search(page_set, services, print, modes=["lexical"])

    measured, _ = in_scratch_home(Settings(), measure)
    [row] = measured.queries
    assert row["found"][0] | {"score": 0} == {
        "file": "handbook.pdf", "page": 3, "last_page": 3, "score": 0,
    }  # fmt: skip
    assert measured.results[0]["page@1"] == 1.0


@pytest.mark.everyday
def test_spans_are_asked_for_by_a_flag(home: Home, folder: Path) -> None:
    [row] = run_json("retrieval", str(folder), "--spans", "--mode", "lexical", "-k", "2")
    assert {"span_recall@2", "span_precision@2", "pooled_recall@2", "unplaced"} < set(row)
    assert [kept["kind"] for kept in run_json("runs")] == ["spans"]
    assert run("retrieval", str(folder), "--spans", "--pages").returncode == 2


@pytest.mark.slow
def test_a_run_is_kept_through_the_window_that_holds_the_library(
    services: Services, home: Home, folder: Path
) -> None:
    with answering(services):
        results = run_json("retrieval", str(folder), "--mode", "lexical")
        listed = run_json("runs")
    assert [kept["figures"] for kept in listed] == results
    assert listed_runs(services.wing(EvaluationServices).experiments) == listed


@pytest.mark.slow
def test_a_run_that_cannot_be_kept_is_shown_all_the_same(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "file"))
    done = run("retrieval", str(folder), "--mode", "lexical", "--json")
    assert (done.returncode, len(json.loads(done.stdout))) == (0, 1)
    assert "This run was not stored." in done.stderr


@pytest.mark.slow
def test_claims_are_checked_and_the_run_is_kept(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    said = {"source": f"{LAMP} {FERRY}", "claim": FERRY, "label": "supported"}
    write(file, [said, said | {"claim": "Fish is sold in Vienna.", "label": "unsupported"}])
    told = run_json("grounding", str(file))
    assert list(told) == ["claims", "balanced_accuracy", "auc", "threshold", "ms_per_claim"]
    assert (told["claims"], told["balanced_accuracy"]) == (2, 1.0)
    [kept] = run_json("runs")
    name = f"{tmp_path.name}/claims.jsonl"
    assert (kept["set"], kept["figures"]) == (f"grounding {name}", told)
    [whole] = run_json("runs", kept["run_id"][:8])
    assert [row["verdict"] for row in whole["answers"]] == ["supported", "not in the sources"]
    assert "claims 2, balanced_accuracy 1.0" in run("runs").stdout
    assert "balanced_accuracy  1.0" in run("grounding", str(file)).stdout


@pytest.mark.slow
def test_a_bad_claim_is_told_by_its_line(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    write(file, [{"source": LAMP, "claim": LAMP, "label": "supported"}, {"source": LAMP}])
    done = run("grounding", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert "Line 2 of" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["--spans", "--pages"])
def test_the_worlds_faults_are_told_before_the_work(home: Home, folder: Path, kind: str) -> None:
    (folder / "spans.jsonl").unlink()
    done = run("retrieval", str(folder), kind)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.strip().splitlines()) >= 2
    assert "passages" not in done.stderr


@pytest.mark.slow
def test_what_is_measured_is_what_the_person_has_set() -> None:
    index = replace(Settings().index, max_file_mb=7, pauses_on_battery=True)
    settings = replace(Settings(), index=index)
    measured, size_bytes = in_scratch_home(settings, lambda services: services.settings)
    assert measured == replace(settings, index=replace(index, pauses_on_battery=False))
    assert size_bytes > 0


@pytest.mark.slow
def test_the_evidence_that_a_model_would_be_sent(home: Home, tmp_path: Path) -> None:
    made = tmp_path / "firm"
    (made / "files").mkdir(parents=True)
    (made / "files" / "day.md").write_text(f"# Lamp\n\n{LAMP}\n\n# Ferry\n\n{FERRY}\n")
    (made / "files" / "duty.csv").write_text("Keeper,Paid\nAnn,yes\nBob,no\n")
    rows: list[dict[str, Any]] = [
        {"id": "1", "question": "When is the lamp lit?", "evidence": [["lit at dusk"]]},
        {"id": "2", "question": "Was keeper Bob paid?", "evidence": [["Bob && no && Paid"]]},
        {"id": "3", "question": "When is the bell rung?", "evidence": [["at nine", "at ten"]]},
        {"id": "4", "question": "What is missing?"},
    ]
    write(made / "questions.jsonl", rows)
    found = run_json("evidence", str(made))
    assert (found["questions"], found["all_evidence"], found["context_tokens"]) == (3, 2, 32_768)
    [kept] = run_json("runs")
    [whole] = run_json("runs", kept["run_id"])
    assert [row["missing"] for row in whole["answers"]] == [[], [], ["at nine"]]
    assert (kept["kind"], kept["set"]) == ("evidence", "evidence firm")
