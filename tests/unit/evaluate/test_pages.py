from typing import Any

import pytest

from desktop_rag.features.evaluation.measures.search import page_figures, page_row

EVIDENCE = frozenset({("a.pdf", 4), ("b.pdf", 9)})


def found(file: str, first: int | None, last: int | None) -> dict[str, Any]:
    return {"file": file, "page": first, "last_page": last, "score": 1.0}


@pytest.mark.parametrize(
    ("passage", "is_there"),
    [
        (found("a.pdf", 4, 4), True),
        (found("a.pdf", 3, 5), True),
        (found("b.pdf", 9, 9), True),
        (found("a.pdf", 9, 9), False),
        (found("a.pdf", 5, 6), False),
        (found("a.pdf", None, None), False),
    ],
)
def test_a_passage_is_found_by_file_and_page(passage: dict[str, Any], is_there: bool) -> None:
    assert (page_row([passage], EVIDENCE)["first_relevant"] == 1) is is_there


def test_shares_are_by_depth() -> None:
    wrong, right = found("a.pdf", 1, 1), found("a.pdf", 4, 4)
    rows = [page_row(each, EVIDENCE) for each in ([right], [wrong, right], [wrong])]
    assert page_figures(rows, 10) == pytest.approx(
        {"page@1": 1 / 3, "page@5": 2 / 3, "page@10": 2 / 3}
    )


def test_depths_that_were_not_asked_for_are_left_out() -> None:
    assert "page@10" not in page_figures([page_row([], EVIDENCE)], 5)


def test_a_row_names_evidence_and_pages() -> None:
    row = page_row([found("a.pdf", 3, 4)], EVIDENCE)
    assert row["evidence"] == [{"file": "a.pdf", "page": 4}, {"file": "b.pdf", "page": 9}]
    assert row["found"] == [found("a.pdf", 3, 4)]
    assert row["first_relevant"] == 1
