import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.errors import AppError
from desktop_rag.core.query import Filters, Query, parse_query, strip_invalid_characters

PARTS = [*'ab -:"“”„«»./\\\n5灯', "file:", "type:", " -x", "before:2024", "folder:"]
SYNTAX = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", Query("")),
        ("  When was\nit  lit? ", Query("When was it lit?")),
        ('the "light house" fee', Query("the light house fee", ("light house",))),
        ("“zwei Worte” „drei gute Worte“", Query("zwei Worte drei gute Worte",
                                                 ("zwei Worte", "drei gute Worte"))),
        ("«\xa0deux  mots\xa0»", Query("deux mots", ("deux mots",))),
        ('the "lamp"', Query("the lamp")),
        ('"a b" "a b"', Query("a b a b", ("a b",))),
        ('灯台の"開館時間"', Query("灯台の開館時間", ("開館時間",))),
        ("fees -draft, -well-known", Query("fees", (), ("draft", "well-known"))),
        ('-"old plan" fees', Query("fees", (), ("old plan",))),
        ("-draft", Query("", (), ("draft",))),
    ],
)  # fmt: skip
def test_phrases_and_excluded_words(typed: str, expected: Query) -> None:
    assert parse_query(typed) == expected


@pytest.mark.parametrize(
    ("typed", "filters"),
    [
        ("in file:report.pdf?", Filters(files=("report.pdf",))),
        ('in file:"annual report"', Filters(files=("annual report",))),
        ("in FILE:a file:b file:a", Filters(files=("a", "b"))),
        ("in Type:.PDF type:docx,", Filters(types=("pdf", "docx"))),
        ("in file:*.md", Filters(files=(".md",))),
        ("in file:a,b file:*c*,", Filters(files=("a", "b", "c"))),
        ('in file:"a, b"', Filters(files=("a, b",))),
        ("in type:PDF,.docx", Filters(types=("pdf", "docx"))),
        ("in type:*.pdf", Filters(types=("pdf",))),
        ("in type:Excel,markdown", Filters(types=("spreadsheet", "markdown"))),
        (r"in folder:/srv/x folder:C:\x", Filters(folders=("/srv/x", r"C:\x"))),
        ("in tag:#roof,project/* tag:Oil", Filters(tags=("roof", "project/*", "Oil"))),
        ('in tag:"oil lamp"', Filters(tags=("oil lamp",))),
        ("in collection:“My Work”", Filters(collections=("My Work",))),
        ("in after:2024 before:2024-5", Filters(after=date(2024, 1, 1), before=date(2024, 5, 1))),
        ("in after:2024 after:2024-02-29", Filters(after=date(2024, 2, 29))),
        ("in before:2024 before:2023-12-31", Filters(before=date(2023, 12, 31))),
    ],
)
def test_filters_are_taken_out_of_the_text(typed: str, filters: Filters) -> None:
    assert parse_query(typed) == Query("in", filters=filters)


@pytest.mark.parametrize(
    "typed",
    [
        'an unclosed "quote here',
        "an unclosed “quote here",
        'file:"unclosed report',
        '5" and 6" pipes',
        "well-known -5 a - b --onto",
        "first\n-second",
        "std::vector http://x.y/z file:///x C:\\x",
        "note: this file: that",
        "profile:x re:file:x",
        "-file:x",
        "see file:https://x.y/z and folder:ftp://x",
        "what comes after:all that before:noon",
        "file:* file:, type:*.",
        "folder:.. type:. file::x",
    ],
)
def test_what_only_looks_like_it_stays_text(typed: str) -> None:
    assert parse_query(typed) == Query(" ".join(typed.split()))


@pytest.mark.parametrize("value", ["31.12.2024", "2024-13", "2024-02-30", "0000", "5-soon", "24"])
def test_what_is_no_date_is_said_plainly(value: str) -> None:
    with pytest.raises(AppError) as caught:
        parse_query(f"fees after:{value}")
    assert caught.value.title == f"“{value}” is not a date."
    assert "after:2024-05-31" in caught.value.hint


@pytest.mark.parametrize(
    ("typed", "is_only"),
    [("type:pdf", True), ("-draft ?", True), ("type:pdf fees", False), ("", False), ("?", False)],
)
def test_a_query_may_be_filters_only(typed: str, is_only: bool) -> None:
    assert parse_query(typed).is_only_filters is is_only


@given(SYNTAX | st.text(max_size=60))
def test_nothing_typed_is_a_crash(typed: str) -> None:
    try:
        query = parse_query(typed)
    except AppError:
        assert re.search("(?i)(after|before):", typed)
        return
    assert query.text == " ".join(query.text.split())
    assert all(phrase and phrase in query.text for phrase in query.phrases)


@given(st.text(max_size=60).filter(lambda text: not set(text) & set('"“”„«»:-')))
def test_text_without_syntax_comes_back(typed: str) -> None:
    assert parse_query(typed) == Query(" ".join(strip_invalid_characters(typed).split()))


@pytest.mark.parametrize(
    "typed", ['Why is it called "red tape"?', "为什么叫“红 带”？", "so " * 20 + '"red tape"']
)
def test_quotes_in_a_question_are_a_way_of_speaking(typed: str) -> None:
    assert parse_query(typed).phrases == ()
    assert parse_query('called "red tape"').phrases == ("red tape",)


@pytest.mark.parametrize(
    ("typed", "clean"),
    [
        ("caf\udce9 bill", "caf\ufffd bill"),
        ("\ud83d\ude00 bill", "\U0001f600 bill"),
        ("a\0bill", "a bill"),
        ("file:\udce9 bill", "bill"),
    ],
)
def test_what_models_and_databases_cannot_take_is_replaced(typed: str, clean: str) -> None:
    query = parse_query(typed)
    assert query.text == clean
    assert not re.search("[\0\ud800-\udfff]", "".join(query.filters.files))
    assert strip_invalid_characters(typed).encode()


@pytest.mark.parametrize(
    ("typed", "has_words"),
    [("???", False), ("\0", False), ('""', False), ("灯", True), ("5", True)],
)
def test_signs_alone_are_no_words_to_search_for(typed: str, has_words: bool) -> None:
    assert parse_query(typed).has_words is has_words


def test_of_a_pasted_file_the_beginning_and_the_end_are_searched() -> None:
    text = parse_query(f"Who keeps the keys? {'padding ' * 200_000} As it says in Rosewood.").text
    assert text.startswith("Who keeps the keys? padding")
    assert text.endswith("padding As it says in Rosewood.")
    assert len(text) <= 4_000
