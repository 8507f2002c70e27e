import pytest

from desktop_rag.features.evaluation.measures.pages import FoundPages, PageResult, QueryPages

EVIDENCE = frozenset({("a.pdf", 4), ("b.pdf", 9)})


def query(*found: FoundPages) -> QueryPages:
    return QueryPages("1", "lamp", EVIDENCE, found, 1.0)


@pytest.mark.parametrize(
    ("found", "is_there"),
    [
        (FoundPages("a.pdf", 4, 4, 1.0), True),
        (FoundPages("a.pdf", 3, 5, 1.0), True),
        (FoundPages("b.pdf", 9, 9, 1.0), True),
        (FoundPages("a.pdf", 9, 9, 1.0), False),
        (FoundPages("a.pdf", 5, 6, 1.0), False),
        (FoundPages("a.pdf", None, None, 1.0), False),
    ],
)
def test_a_passage_is_found_by_file_and_page(found: FoundPages, is_there: bool) -> None:
    assert (query(found).first_relevant == 1) is is_there


def test_shares_are_by_depth() -> None:
    wrong, right = FoundPages("a.pdf", 1, 1, 2.0), FoundPages("a.pdf", 4, 4, 1.0)
    result = PageResult("hybrid", 10, (query(right), query(wrong, right), query(wrong)))
    assert [result.share(depth) for depth in (1, 5)] == pytest.approx([1 / 3, 2 / 3])
    assert {"page@1", "page@5", "page@10"} < set(result.to_json())


def test_depths_that_were_not_asked_for_are_left_out() -> None:
    assert "page@10" not in PageResult("hybrid", 5, (query(),)).to_json()


def test_a_row_names_evidence_and_pages() -> None:
    [row] = PageResult("dense", 5, (query(FoundPages("a.pdf", 3, 4, 0.5)),)).query_rows()
    assert row["evidence"] == [{"file": "a.pdf", "page": 4}, {"file": "b.pdf", "page": 9}]
    assert row["found"] == [{"file": "a.pdf", "page": 3, "last_page": 4, "score": 0.5}]
    assert (row["mode"], row["first_relevant"]) == ("dense", 1)
