import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.parsed import Anchor


@pytest.mark.parametrize(
    ("anchor", "fields", "label"),
    [
        (Anchor(page=4), {"page": 4}, "page 4"),
        (Anchor(slide=2), {"slide": 2}, "slide 2"),
        (Anchor(sheet="Fees", cells="A5:D9"), {"sheet": "Fees", "cells": "A5:D9"}, "Fees!A5:D9"),
        (Anchor(sheet="Fees"), {"sheet": "Fees"}, "Fees"),
        (Anchor(cells="A5:D9"), {"cells": "A5:D9"}, "cells A5:D9"),
        (Anchor(heading="Fees › Guests", line=7), {"heading": "Fees › Guests", "line": 7},
         "Fees › Guests"),
        (Anchor(line=7), {"line": 7}, "line 7"),
        (Anchor(), {}, ""),
    ],
)  # fmt: skip
def test_anchor_in_json_and_words(anchor: Anchor, fields: dict[str, object], label: str) -> None:
    assert anchor.to_json() == fields
    assert Anchor.from_json(fields) == anchor
    assert anchor.label() == label


def test_files_that_are_gone_do_not_count() -> None:
    counts = DocumentCounts({DocumentState.SEARCHABLE: 3, DocumentState.GONE: 2})
    assert counts.total == 3
    assert counts.of(DocumentState.SEARCHABLE) == 3
    assert counts.of(DocumentState.FAILED) == 0
