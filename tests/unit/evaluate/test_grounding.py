import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.app import make_claim_checker
from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.measures.grounding import check_figures, checked_claims
from desktop_rag.features.evaluation.measures.metrics import area_under_curve, balanced_accuracy
from desktop_rag.features.evaluation.measures.query_sets import load_claims

SOURCE = "The ferry leaves at noon. The lamp is lit at dusk by the keeper of the harbour."
ROWS = [
    {"id": "a", "source": SOURCE, "claim": "The ferry leaves at noon.", "label": "supported"},
    {"source": SOURCE, "claim": "Fish is sold in Vienna.", "label": "unsupported", "votes": 3},
    {"source": SOURCE, "claim": "The lamp is lit at dusk.\u2028", "label": "supported"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "claims.jsonl"
    write(path, ROWS)
    return path


def write(path: Path, rows: Sequence[Any]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")


def test_claims_are_read_with_or_without_an_id(file: Path) -> None:
    claims = load_claims(file)
    assert [(c.claim_id, c.is_supported) for c in claims] == [
        ("a", True),
        ("3", False),
        ("5", True),
    ]


def test_a_set_is_judged_by_the_one_threshold(file: Path) -> None:
    checker = make_claim_checker()
    figures = check_figures(checked_claims(load_claims(file), checker, print), checker.threshold)
    [told] = figures.results
    assert list(told) == ["claims", "balanced_accuracy", "auc", "threshold", "ms_per_claim"]
    assert (told["claims"], told["balanced_accuracy"], told["auc"]) == (3, 1.0, 1.0)
    assert told["threshold"] == checker.threshold
    assert told["ms_per_claim"] > 0
    [first, second, _] = figures.queries
    assert (first["id"], first["label"], first["verdict"]) == ("a", "supported", "supported")
    assert second["support"] < checker.threshold


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "no JSON"),
        ("[1]", "no object"),
        ('{"source": "a", "claim": "b"}', "label"),
        ('{"source": 3, "claim": "b", "label": "supported"}', "source"),
        ('{"source": "a", "claim": "b", "label": "maybe"}', '"supported" or "unsupported"'),
    ],
)
def test_a_bad_row_is_told_by_its_line(file: Path, line: str, why: str) -> None:
    with file.open("a", encoding="utf-8") as opened:
        opened.write(line + "\n")
    with pytest.raises(AppError, match=r"Line 6 of .* can't be read") as told:
        load_claims(file)
    assert why in told.value.hint


@pytest.mark.parametrize("rows", [[], ROWS[:1], ROWS[1:2]])
def test_one_kind_of_claim_tells_nothing(file: Path, rows: list[Any]) -> None:
    write(file, rows)
    with pytest.raises(AppError, match="is no set of claims"):
        load_claims(file)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "picture.jsonl").write_bytes(b"\xff\xfe\xff")
    for name in ("missing.jsonl", "picture.jsonl"):
        with pytest.raises(AppError, match="can't be read") as told:
            load_claims(tmp_path / name)
        assert told.value.hint


def test_balanced_accuracy_is_blind_to_how_many_of_each_there_are() -> None:
    labels = [True] * 8 + [False] * 2
    assert balanced_accuracy([True] * 10, labels) == 0.5
    assert balanced_accuracy([True] * 4 + [False] * 6, labels) == 0.75


def test_area_under_curve_counts_pairs() -> None:
    labels = [True, True, False, False]
    assert area_under_curve([0.9, 0.4, 0.6, 0.1], labels) == 0.75
    assert area_under_curve([0.5] * 4, labels) == 0.5
    assert area_under_curve([0.1, 0.2, 0.8, 0.9], labels) == 0.0
