import pytest

from desktop_rag.core.query import asks_for_summary, parse_query


@pytest.mark.parametrize(
    "question",
    [
        "Summarise",
        # What the button asks in a German window.
        "Zusammenfassen",
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
