import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.parsed import Anchor, Heading, Mark, ParsedDocument, TableHeader
from desktop_rag.core.places import Places, join_cells, places_from_json, places_to_json

NUMBERS = st.integers(1, 10**6)
NAMES = st.text(min_size=1, max_size=8)
ANCHORS = st.one_of(
    st.builds(Anchor, page=NUMBERS, page_label=st.none() | NAMES),
    st.builds(Anchor, slide=NUMBERS),
    st.builds(Anchor, sheet=st.none() | NAMES, cells=st.sampled_from(["A1:D1", "A2:D2", "B7"])),
    st.builds(Anchor, sheet=NAMES),
    st.builds(Anchor, heading=NAMES),
    st.builds(Anchor, line=NUMBERS),
    st.just(Anchor()),
)


def rising(values: st.SearchStrategy[tuple]) -> st.SearchStrategy[list[tuple]]:
    return st.lists(values, max_size=30).map(lambda rows: sorted(rows, key=lambda row: row[0]))


@pytest.mark.slow
@given(
    rising(st.tuples(NUMBERS, ANCHORS)),
    rising(st.tuples(NUMBERS, st.integers(1, 9), NAMES)),
    rising(st.tuples(NUMBERS, NUMBERS, NAMES)),
)
def test_places_come_back_from_the_store(marks: list, headings: list, tables: list) -> None:
    document = ParsedDocument(
        "any", "", "",
        marks=tuple(Mark(*row) for row in marks),
        headings=tuple(Heading(*row) for row in headings),
        table_headers=tuple(TableHeader(start, start + size, text) for start, size, text in tables),
    )  # fmt: skip
    stored = places_from_json(places_to_json(document))
    assert stored == (document.marks, document.headings, document.table_headers)


def test_a_text_without_places_takes_no_room() -> None:
    assert places_to_json(ParsedDocument("text", "", "Some text")) == ""
    assert places_from_json("") == ((), (), ())


def test_the_rows_of_a_long_sheet_take_little_room() -> None:
    marks = tuple(
        Mark(60 * n, Anchor(sheet="Budget of the year", cells=f"A{n}:D{n}")) for n in range(1000)
    )
    assert len(places_to_json(ParsedDocument("spreadsheet", "", "", marks))) < 20 * len(marks)


@given(st.lists(ANCHORS, min_size=1, max_size=20), st.data())
def test_each_stretch_of_text_has_the_place_of_its_mark(
    anchors: list[Anchor], data: st.DataObject
) -> None:
    marks = [Mark(10 * n, anchor) for n, anchor in enumerate(anchors)]
    places = Places(marks, [])
    index = data.draw(st.integers(0, len(anchors) - 1))
    assert places.anchor(10 * index, 10 * index + 10) == anchors[index]
    assert places.anchor(10 * index + 9, 10 * index + 10) == anchors[index]


def test_before_the_first_mark_there_is_no_place() -> None:
    assert Places([Mark(5, Anchor(page=1))], []).anchor(0, 9) == Anchor()
    assert Places([], []).anchor(0, 9) == Anchor()


def test_rows_join_to_one_range_of_cells_on_one_sheet() -> None:
    cells = ["A1:B1", "A2:F2", "A3:C3"]
    marks = [Mark(10 * n, Anchor(sheet="Fees", cells=cell)) for n, cell in enumerate(cells)]
    places = Places([*marks, Mark(30, Anchor(sheet="Rooms", cells="A1:Z1"))], [])
    assert places.anchor(0, 30) == Anchor(sheet="Fees", cells="A1:F3")
    assert places.anchor(12, 25) == Anchor(sheet="Fees", cells="A2:F3")
    assert places.anchor(20, 35) == Anchor(sheet="Fees", cells="A3:C3")
    assert places.anchor(30, 31) == Anchor(sheet="Rooms", cells="A1:Z1")


@pytest.mark.parametrize(
    ("ranges", "joined"),
    [
        (["A5:D5", "A9:E9"], "A5:E9"),
        (["B2", "B2"], "B2:B2"),
        (["B2"], "B2"),
        (["Z1:AA1", "A3:C3"], "A1:AA3"),
        (["odd", "A1"], "odd"),
    ],
)
def test_join_cells(ranges: list[str], joined: str) -> None:
    assert join_cells(ranges) == joined


def test_a_place_knows_the_headings_it_stands_under_and_its_line() -> None:
    headings = [Heading(0, 1, "Guide"), Heading(20, 3, "Fees"), Heading(40, 2, "Hours")]
    places = Places([Mark(0, Anchor(line=1)), Mark(25, Anchor(line=3))], headings)
    assert places.anchor(5, 9) == Anchor(heading="Guide", line=1)
    assert places.anchor(26, 45) == Anchor(heading="Guide › Fees", line=3)
    assert places.anchor(41, 45) == Anchor(heading="Guide › Hours", line=3)
    assert Places([], headings[1:]).anchor(0, 5) == Anchor()


def test_headings_nested_without_end_have_a_bounded_path() -> None:
    headings = [Heading(n, n, f"level {n}") for n in range(50_000)]
    path = Places([], headings).path(49_999)
    assert path[-1] == "level 49999"
    assert len(path) < 20


def test_borders_are_where_a_page_slide_or_sheet_begins() -> None:
    marks = [
        Mark(0, Anchor(page=1)),
        Mark(10, Anchor(page=2)),
        Mark(20, Anchor(page=2)),
        Mark(30, Anchor(sheet="Fees", cells="A1")),
        Mark(40, Anchor(sheet="Fees", cells="A2")),
    ]
    assert list(Places(marks, []).boundaries()) == [10, 30]
