from pathlib import Path

import pytest

from desktop_rag.core.query import parse_query
from desktop_rag.core.summary_request import asks_for_summary, summary_of_file, summary_of_folder


@pytest.mark.parametrize(
    "question",
    [
        "Summarise",
        "summarize this.",
        "SUMMARY:",
        "Zusammenfassung file:bericht",
        "type:pdf after:2024 Résumé",
        "总结 folder:合同",
        "",
    ],
)
def test_one_word_with_filters_asks_for_a_summary(question: str) -> None:
    assert asks_for_summary(parse_query(question)) == bool(question)


@pytest.mark.parametrize(
    "question", ["Summarise the second chapter", "What is in the summary?", "file:summary", "Sum"]
)
def test_more_than_that_is_a_question(question: str) -> None:
    assert not asks_for_summary(parse_query(question))


def test_a_file_is_told_by_its_name_and_folder() -> None:
    request = summary_of_file(Path("/papers/old tax/a “final” report.pdf"))
    assert asks_for_summary(parse_query(request))
    filters = parse_query(request).filters
    assert filters.files == ("a *final* report.pdf",)
    assert filters.folders == ("/papers/old tax/",)


def test_a_page_is_told_by_its_address() -> None:
    request = summary_of_file(Path("/pages/1.html"), "https://example.org/a")
    assert asks_for_summary(parse_query(request))
    assert parse_query(request).filters.files == ("example.org/a",)


def test_a_folder_is_told_by_its_path() -> None:
    assert parse_query(summary_of_folder(Path("/papers"))).filters.folders == ("/papers/",)
