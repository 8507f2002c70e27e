"""Places in documents as the window names them."""

import pytest

from desktop_rag.core.language.translation import use_language
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.foundation.wording import place_in_words

PLACES = [
    (Anchor(page=11), "Seite 11"),
    (Anchor(page=4, page_label="iv"), "Seite iv (4)"),
    (Anchor(slide=3), "Folie 3"),
    (Anchor(cells="A2:B2"), "Zellen A2:B2"),
    (Anchor(sheet="Budget", cells="A5:D9"), "Budget!A5:D9"),
    (Anchor(heading="Fees › Members", line=3), "Fees › Members"),
    (Anchor(line=12), "Zeile 12"),
    (Anchor(second=754), "12:34"),
    (Anchor(), ""),
]
GERMAN = {
    "page {page}": "Seite {page}",
    "page {label} ({page})": "Seite {label} ({page})",
    "slide {number}": "Folie {number}",
    "cells {cells}": "Zellen {cells}",
    "line {line}": "Zeile {line}",
}


@pytest.mark.parametrize(("anchor", "said"), PLACES)
def test_a_place_is_named_in_the_language(
    anchor: Anchor, said: str, request: pytest.FixtureRequest
) -> None:
    assert place_in_words(anchor) == anchor.label()
    request.addfinalizer(lambda: use_language(None))
    use_language(lambda text: GERMAN.get(text, ""))
    assert place_in_words(anchor) == said
