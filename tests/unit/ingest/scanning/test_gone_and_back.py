"""A file that is gone for a while keeps how many of its pictures wait."""

import time

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.pictures import waiting_words
from desktop_rag.ingest.scanning.scanner import gone, returned
from tests.unit.ui.rooms import make_document


def test_a_file_that_comes_back_still_waits_for_its_pictures() -> None:
    half = make_document("half.pdf", reason=f"Pages that may be scanned: 2; {waiting_words(1)}")
    away = gone(half, at=time.time(), keep_s=60.0)
    assert away.state is DocumentState.GONE
    assert away.reason.startswith("gone since")
    back = returned(away)
    assert (back.state, back.pictures_waiting) == (DocumentState.SEARCHABLE_BY_WORDS, 1)


def test_a_picture_that_comes_back_is_not_read_before_its_turn() -> None:
    picture = make_document("a.png", DocumentState.WAITING, reason=waiting_words(1), chunk_count=0)
    back = returned(gone(picture, at=time.time(), keep_s=60.0))
    assert back.state is DocumentState.WAITING
    assert not back.is_to_be_read


def test_any_other_file_comes_back_without_a_reason() -> None:
    back = returned(gone(make_document("a.md"), at=time.time(), keep_s=60.0))
    assert back.reason == ""
