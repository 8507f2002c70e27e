"""The words of a source that support the sentences that cite it."""

import pytest

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.quotes import CitedQuotes, quoting

PASSAGE = (
    "The costs were as follows:\nOil for the lamp 700 650\nWicks for the lamp 120 90\n"
    "The keeper sleeps by day. The lamp burns all night."
)
SOURCE = SourceRef(3, "d", "a.pdf", "A", Anchor(), PASSAGE, 0.5, start=40, end=40 + len(PASSAGE))


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("By day the keeper is asleep.", "The keeper sleeps by day."),
        ("The lamp needed 700 of oil.", "Oil for the lamp 700 650"),
        ("The costs followed.", "The costs were as follows:"),
        ("Ships pass far out at sea.", ""),
    ],
)
def test_a_sentence_rests_on_a_sentence_or_a_row(sentence: str, words: str) -> None:
    place = CitedQuotes([SOURCE]).place(3, [sentence])
    assert (PASSAGE[slice(*place)] if place else "") == words
    quoted = quoting(SOURCE, sentence)
    assert quoted.quote == words
    assert PASSAGE[quoted.start - 40 : quoted.end - 40] == (words or PASSAGE)


def test_places_are_in_order_and_once() -> None:
    sentences = ["The lamp burns all night.", "The keeper sleeps.", "All night the lamp burns."]
    places = CitedQuotes([SOURCE]).places(3, sentences)
    assert [PASSAGE[slice(*place)] for place in places] == [
        "The keeper sleeps by day.",
        "The lamp burns all night.",
    ]


def test_an_unknown_source_has_no_places() -> None:
    assert CitedQuotes([SOURCE]).places(4, ["The lamp burns."]) == []
