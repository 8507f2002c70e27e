"""What a person is told about the search: the syntax, and what a question was limited to."""

import pytest

from desktop_rag.core.conversation import FileCounts, SearchNotes
from desktop_rag.core.query import parse_query
from desktop_rag.core.search_syntax import SEARCH_SYNTAX, hints_for, limits_in_words, syntax_lines


@pytest.mark.parametrize("written", [example.written for example in SEARCH_SYNTAX])
def test_every_example_is_understood(written: str) -> None:
    query = parse_query(f"lamp {written}")
    assert query.phrases or query.excluded or not query.filters.is_empty


def test_the_lines_stand_in_columns() -> None:
    lines = syntax_lines()
    assert len({line.index("only") for line in lines}) == 1


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("When is the lamp lit?", ""),
        ("lamp type:excel,xhtml", "Only spreadsheet or XHTML files"),
        ("lamp type:pdf", "Only PDF files"),
        ("lamp type:pdf type:docx type:md", "Only PDF, DOCX or MD files"),
        ("file:report folder:taxes", "Only files named like “report” in the folder “taxes”"),
        ("collection:Work after:2024-01-31",
         "Only files of the collection “Work” dated 31 January 2024 or later"),
        ("after:2024 before:2025-02",
         "Only files dated 1 January 2024 or later and before 1 February 2025"),
        ("before:2025 type:pdf", "Only PDF files dated before 1 January 2025"),
        ("lamp tag:roof,oil", "Only files tagged “roof” or “oil”"),
        ('"heat pump" -draft', "Only passages with “heat pump”, without “draft”"),
        ("lamp -draft -old type:pdf", "Only PDF files, passages without “draft” or “old”"),
    ],
)  # fmt: skip
def test_limits_are_said_in_words(typed: str, expected: str) -> None:
    assert limits_in_words(parse_query(typed)) == expected


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        (SearchNotes(searched=5), ""),
        (SearchNotes((("termostat", "thermostat"),)),
         "Searched for “thermostat” instead of “termostat”."),
        (SearchNotes((("a", "b"), ("c", "d")), "Only PDF files", 3),
         "Searched for “b” instead of “a”, “d” instead of “c”. Only PDF files."),
        (SearchNotes(filters="Only PDF files"), "Only PDF files: nothing was found there."),
        (SearchNotes(hints=("One.", "Two.")), "One. Two."),
        (SearchNotes((("a\nb", "c"),)), "Searched for “c” instead of “a b”."),
    ],
)  # fmt: skip
def test_what_the_search_understood_is_said_plainly(notes: SearchNotes, expected: str) -> None:
    assert notes.in_words() == expected
    assert SearchNotes.from_json(notes.to_json()) == notes


def test_only_whole_words_are_repaired_in_a_text() -> None:
    notes = SearchNotes((("amoun", "amount"), ("amount", "sum")))
    assert notes.repair("amoun of amounts") == "amount of amounts"
    assert SearchNotes().repair("as it is") == "as it is"


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (FileCounts(12_000, 4), "Passages of 4 files were read"),
        (FileCounts(1, 1), "Passages of 1 file were read"),
        (FileCounts(0, 20), "Passages of 20 files were read"),
        (FileCounts(0, 0), "No file fits"),
        (FileCounts(50, 53), "53 files were read, 50 with a match"),
        (FileCounts(1, 3), "3 files were read, 1 with a match"),
    ],
)
def test_files_that_matched_and_were_read_are_told(counts: FileCounts, expected: str) -> None:
    assert counts.in_words() == expected


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("tpye:pdf net sales", "“tpye:pdf” was searched as words: the filter is type:."),
        ("lamp Typ:pdf", "“Typ:pdf” was searched as words: the filter is type:."),
        ("foldre:taxes lamp", "“foldre:taxes” was searched as words: the filter is folder:."),
        ("files:report lamp", "“files:report” was searched as words: the filter is file:."),
        ("after:foo duck", "“after:foo” was searched as words: a date is after:2024-01-31."),
    ],
)
def test_what_looks_like_a_mistyped_filter_is_told(typed: str, meant: str) -> None:
    assert hints_for(parse_query(typed)) == (meant,)


@pytest.mark.parametrize(
    "typed",
    ["type:pdf lamp", "note:this", "https://type.example", "std::file", "mile:stone", "tpye: pdf"],
)
def test_what_is_no_filter_is_left_alone(typed: str) -> None:
    assert hints_for(parse_query(typed)) == ()
