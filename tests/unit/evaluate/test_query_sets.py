import json
import re
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.measures.query_sets import GoldSpan, has_spans, load_set


def write(path: Path, *rows: dict[str, Any]) -> None:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "queries.jsonl", *({"_id": i, "text": f"question {i}"} for i in "321"))
    return tmp_path


def test_only_judged_queries_are_asked_in_their_order(folder: Path) -> None:
    write(folder / "corpus.jsonl", {"_id": "a", "text": "A text."})
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t2\n3\ta\t1\n")
    loaded = load_set(folder)
    assert loaded.queries == (("3", "question 3"), ("1", "question 1"))
    assert loaded.known == {"1": {"a": 2}, "3": {"a": 1}}
    assert load_set(folder, limit=1).queries == (("3", "question 3"),)


def test_gold_spans_are_kept_by_query(folder: Path) -> None:
    assert not has_spans(folder)
    (folder / "documents").mkdir()
    row = {"query": "2", "document": "a.md", "start": 3, "end": 7, "text": "lamp"}
    write(folder / "spans.jsonl", row, {**row, "start": 9, "end": 13})
    loaded = load_set(folder, kind="spans")
    spans = [GoldSpan("a.md", 3, 7, "lamp"), GoldSpan("a.md", 9, 13, "lamp")]
    assert loaded.known == {"2": spans}
    assert loaded.queries == (("2", "question 2"),)
    assert has_spans(folder)


def test_evidence_pages_count_from_one(folder: Path) -> None:
    (folder / "files").mkdir()
    write(folder / "evidence.jsonl", *({"query": "1", "file": "a.pdf", "page0": n} for n in (0, 7)))
    assert load_set(folder, kind="pages").known == {"1": {("a.pdf", 1), ("a.pdf", 8)}}


@pytest.mark.parametrize("written", ["Ulan Bator", ["Ulan Bator"], [["Ulan Bator"]]])
def test_a_string_alone_is_evidence_as_a_whole(folder: Path, written: object) -> None:
    (folder / "files").mkdir()
    write(folder / "questions.jsonl", {"id": 1, "question": "Where?", "evidence": written})
    loaded = load_set(folder, kind="evidence")
    assert loaded.queries == (("1", "Where?"),)
    assert loaded.known["1"].groups == (("Ulan Bator",),)


@pytest.mark.parametrize("kind", ["retrieval", "spans", "pages", "evidence"])
def test_a_folder_that_is_no_set_is_told(tmp_path: Path, kind: str) -> None:
    with pytest.raises(AppError, match="is no"):
        load_set(tmp_path, kind=kind)


def test_rows_of_another_shape_are_told(folder: Path) -> None:
    (folder / "documents").mkdir()
    write(folder / "spans.jsonl", {"query": "2", "start": 3})
    with pytest.raises(AppError) as told:
        load_set(folder, kind="spans")
    assert "spans.jsonl" in told.value.hint


def test_the_line_that_is_no_row_is_told(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text('{"_id": "1", "text": "x"}\n{"_id": "2"\n')
    with pytest.raises(AppError) as told:
        load_set(folder)
    assert re.search("Line 2 of .*corpus.jsonl", told.value.hint)
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(AppError) as told:
        load_set(folder)
    assert told.value.hint.endswith("corpus.jsonl can't be read. No such file or directory.")


def test_the_field_that_a_row_lacks_is_told(folder: Path) -> None:
    write(folder / "corpus.jsonl", {"_id": "a", "text": "A text."})
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n2\ta\t2\n")
    write(folder / "queries.jsonl", {"_id": "2"})
    with pytest.raises(AppError) as told:
        load_set(folder)
    assert told.value.hint.endswith("A row has no text.")
