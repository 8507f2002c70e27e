"""Numbers, times and states in words."""

import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.language.translation import count_of
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.foundation.wording import counts_in_words, one_line, size_in_words


def test_counts_leave_out_zeros() -> None:
    counts = DocumentCounts(
        {
            DocumentState.SEARCHABLE: 1990,
            DocumentState.SEARCHABLE_BY_WORDS: 5,
            DocumentState.FAILED: 3,
            DocumentState.GONE: 7,
        }
    )
    expected = "1,998 files: 1,990 searchable, 5 by words only so far, 3 not read, 7 missing"
    assert counts_in_words(counts) == expected


def test_counts_of_one_and_of_no_file() -> None:
    assert counts_in_words(DocumentCounts({DocumentState.WAITING: 1})) == "1 file: 1 waiting"
    assert counts_in_words(DocumentCounts()) == "No files yet"
    assert count_of(1000, "passage", "passages") == "1,000 passages"


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (1024, "1.0 KB"), (3_500_000, "3.3 MB"), (1 << 41, "2.0 TB")],
)
def test_size(size_bytes: int, words: str) -> None:
    assert size_in_words(size_bytes) == words


@pytest.mark.parametrize(
    "odd", ["\n", "\t", "\x00", "\u202e", "\u2066", "\u2028", "\x9b", "\udcff", "\u200f"]
)
def test_one_line_makes_unsafe_characters_visible(odd: str) -> None:
    assert one_line(f"bill{odd}fdp.exe") == "bill□fdp.exe"


def test_one_line_keeps_all_scripts() -> None:
    assert one_line("Überblick – 日本語 עברית 👩‍🔬.pdf") == "Überblick – 日本語 עברית 👩‍🔬.pdf"
