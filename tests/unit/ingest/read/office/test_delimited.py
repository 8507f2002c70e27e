import pytest

from desktop_rag.core.parsed import Anchor
from tests.unit.ingest.read.samples import parse, text_at


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "Name,City\nAnn,Rome\n"),
        ("a.csv", "Name;City\nAnn;Rome\n"),
        ("a.csv", "Name|City\nAnn|Rome\n"),
        ("a.tsv", "Name\tCity\nAnn\tRome\n"),
        ("a.csv", "sep=;\nName;City\nAnn;Rome\n"),
        ("a.csv", '"Name","City"\r\n"Ann","Rome"\r\n'),
    ],
)
def test_the_delimiter_is_found(name: str, content: str) -> None:
    document = parse(name, content.encode())
    assert document.text == "Name | City\nAnn | Rome"
    assert document.format == "CSV"


def test_a_delimiter_inside_quotes_or_text_does_not_mislead() -> None:
    content = b'id;remark;price\n1;"one, two; three";1,50\n2;no, never;2,75\n'
    lines = parse("a.csv", content).text.split("\n")
    assert lines == ["id | remark | price", "1 | one, two; three | 1,50", "2 | no, never | 2,75"]


def test_each_row_is_anchored_at_its_cells() -> None:
    document = parse("a.csv", b"a,b,c\n\n,x,\n1,2,3\n")
    assert [mark.anchor for mark in document.marks] == [
        Anchor(cells="A1:C1"),
        Anchor(cells="B3"),
        Anchor(cells="A4:C4"),
    ]
    assert [text_at(document, n).strip() for n in range(3)] == ["a | b | c", "| x", "1 | 2 | 3"]


def test_a_cell_of_several_lines_stays_one_line() -> None:
    assert parse("a.csv", b'a,b\n"one\ntwo",3\n').text == "a | b\none two | 3"


@pytest.mark.slow
def test_a_quote_that_is_never_closed_swallows_nothing() -> None:
    document = parse("a.csv", b'a,b\n"unclosed, quote\n' + b"x,y\n" * 10_000)
    assert document.text.count("x | y") == 10_000


@pytest.mark.slow
def test_a_hundred_thousand_rows_have_bounded_marks() -> None:
    content = "".join(f"{n},name {n},Rome\n" for n in range(100_000))
    document = parse("a.csv", content.encode(), max_chars=10_000_000)
    assert document.text.count("\n") == 99_999
    assert 50_000 < len(document.marks) < 60_000
    last = document.marks[-1].anchor.cells or ""
    assert last.endswith("C100000")
    assert last.startswith("A99")


def test_the_header_row_is_known_where_it_is_sure() -> None:
    document = parse("a.csv", b"Name,Fee\nAnn,10\nBob,20\n")
    (header,) = document.table_headers
    assert header.text == "Name | Fee"
    assert document.text[header.start : header.end].strip() == "Ann | 10\nBob | 20"
    assert parse("a.csv", b"Ann,Rome\nBob,Oslo\n").table_headers == ()
