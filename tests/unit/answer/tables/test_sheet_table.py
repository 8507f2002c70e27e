"""Tables from the stored text of sheets: rows with their numbers, headers, names, places."""

from collections.abc import Callable, Sequence

import pytest

from desktop_rag.answer.tables.sheet_table import (
    RowBlock,
    SheetTable,
    describe_table,
    result_cells,
    result_text,
    row_blocks,
    table_at,
)
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.places import column_letters, places_to_json
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.office.spreadsheet import RowWriter
from desktop_rag.store.contract.engine import QueryResult

Rows = Sequence[Sequence[str]]
ORDERS = [["Region", "Pounds"], ["North", "1"], ["South", "2"], ["North", "3"]]


def written(*sheets: tuple[str | None, Rows], column: int = 0) -> list[RowBlock]:
    """The sheets as the readers write them, read back from what is stored. [] is an empty row."""
    draft = DocumentDraft(1_000_000)
    for name, rows in sheets:
        if draft.length:
            draft.add("\n\n")
        if name:
            draft.add_heading(1, name)
            draft.mark(Anchor(sheet=name))
            draft.add(name)
        writer = RowWriter(draft, name)
        for number, row in enumerate(rows, 1):
            writer.add(number, column, row)
        writer.close()
    document = draft.finish("csv", "")
    return row_blocks(document.text, places_to_json(document))


def first_table(blocks: list[RowBlock], block: int = 0) -> SheetTable:
    rows = blocks[block].rows
    table = table_at(blocks, rows[0].start, rows[-1].end, "Harbour orders 2026")
    assert table is not None
    return table


def cells(table: SheetTable) -> dict[str, list[str | None]]:
    return {column.name: list(column.values.values) for column in table.columns}


def test_rows_come_with_their_numbers_and_header() -> None:
    [block] = written((None, ORDERS))
    assert (block.header, block.first_column) == (("Region", "Pounds"), 0)
    assert [(row.number, row.cells) for row in block.rows] == [
        (2, ("North", "1")), (3, ("South", "2")), (4, ("North", "3")),
    ]  # fmt: skip
    table = first_table([block])
    assert (table.name, cells(table)) == (
        "harbour_orders_2026", {"Region": ["North", "South", "North"], "Pounds": ["1", "2", "3"]},
    )  # fmt: skip


def test_empty_cells_and_a_table_in_the_middle_of_a_sheet() -> None:
    rows = [[], [], ["Item", "", "Left", "Price"], ["rope", "", "", "2.5"], ["", "", "7", ""],
            ["oil", "", "1", "3"]]  # fmt: skip
    table = first_table(written(("Stock", rows), column=27))
    assert cells(table) == {"Item": ["rope", None, "oil"], "Left": [None, "7", "1"],
                            "Price": ["2.5", None, "3"]}  # fmt: skip
    assert table.places(None, None) == (Anchor(sheet="Stock", cells="AB4:AE6"),)
    assert table.places([1], frozenset({"left"})) == (Anchor(sheet="Stock", cells="AD5"),)
    assert table.places([2, 0], frozenset({"price", "left"}))[0].cells == "AD4:AE6"


def test_a_long_empty_stretch_is_found_again() -> None:
    wide = ["a", *[""] * 20, "9"]
    [block] = written((None, [["Name", *[""] * 20, "Last"], wide, wide, ["b", *[""] * 20, "8"]]))
    assert block.rows[0].cells == tuple(wide)
    assert block.unclear == 0


def test_rows_whose_cells_cannot_be_told_apart_are_counted() -> None:
    many = [["n", "what"], *[[str(n), "rope"] for n in range(100)]]
    blocks = written((None, [*many, ["7", "rope | oil"]]))
    assert blocks[0].unclear == 1
    table = first_table(blocks)
    assert (len(table.rows), table.unclear) == (100, 1)
    few = written((None, [*many[:4], ["7", "rope | oil"]]))
    assert table_at(few, few[0].rows[0].start, few[0].rows[0].end, "Few") is None


def test_comments_behind_the_rows_are_no_rows() -> None:
    draft = DocumentDraft(10_000)
    draft.mark(Anchor(sheet="S"))
    draft.add("S")
    writer = RowWriter(draft, "S")
    for number, row in enumerate(ORDERS, 1):
        writer.add(number, 0, row)
    writer.close()
    for cell, text in (("B9", ": dear"), ("A2", ": far")):
        draft.add("\n")
        draft.mark(Anchor(sheet="S", cells=cell))
        draft.add(f"Comment on {cell}{text}")
    document = draft.finish("xlsx", "")
    [block] = row_blocks(document.text, places_to_json(document))
    assert [row.number for row in block.rows] == [2, 3, 4]


def test_a_sheet_for_each_month_is_one_table() -> None:
    months = [(name, [["Day", "Pounds"], [f"2026-0{n}-01", "1"], [f"2026-0{n}-02", "2"]])
              for n, name in enumerate(("Jan", "Feb"), 1)]  # fmt: skip
    other = ("Crew", [["Name", "Age"], ["Ann", "33"], ["Bo", "44"], ["Cy", "21"]])
    blocks = written(*months, other)
    table = first_table(blocks, 1)
    assert cells(table)["sheet"] == ["Jan", "Jan", "Feb", "Feb"]
    assert cells(table)["Pounds"] == ["1", "2", "1", "2"]
    assert [place.label() for place in table.places(None, None)] == ["Jan!A2:B3", "Feb!A2:B3"]
    assert table.places([3], None) == (Anchor(sheet="Feb", cells="A3:B3"),)
    assert first_table(blocks, 2).name == "crew"


def test_the_rows_after_an_empty_one_go_on_with_the_table() -> None:
    table = first_table(written((None, [*ORDERS, [], ["West", "4"], ["West", "5"]])), 1)
    assert cells(table)["Pounds"] == ["1", "2", "3", "4", "5"]
    start, end = table.span([3, 4])
    assert table.span(None)[1] == end > start > table.span([2])[1]


@pytest.mark.parametrize("total", ["Total", "TOTAL:", "Summe", "Итого", "合計"])
def test_rows_of_totals_are_left_out_and_told(total: str) -> None:
    table = first_table(written((None, [*ORDERS, [total, "6"]])))
    assert cells(table)["Pounds"] == ["1", "2", "3"]
    assert table.totals == (5,)
    result = QueryResult(("sum",), ((6,),), False, {table.name: (0, 1, 2)}, frozenset({"pounds"}))
    assert "Left out as totals: row 5." in result_text(result, [table])


def test_a_hidden_row_does_not_end_its_table() -> None:
    draft = DocumentDraft(1_000_000)
    writer = RowWriter(draft)
    for number, row in enumerate([*ORDERS, ["West", "4"]], 1):
        if number == 3:
            writer.skip(number)
        else:
            writer.add(number, 0, row)
    writer.close()
    document = draft.finish("csv", "")
    table = first_table(row_blocks(document.text, places_to_json(document)))
    assert cells(table) == {"Region": ["North", "North", "West"], "Pounds": ["1", "3", "4"]}


def test_a_name_that_begins_like_a_total_is_none() -> None:
    table = first_table(written((None, [*ORDERS, ["Total Quartz", "6"]])))
    assert cells(table)["Pounds"][-1] == "6"


def test_merged_headers_of_two_rows_are_joined() -> None:
    rows = [["Line", "2025", "2025", "2026", "2026"], ["Line", "Q1", "Q2", "Q1", "Q2"],
            ["east", "1", "2", "3", "4"], ["west", "5", "6", "7", "8"]]  # fmt: skip
    table = first_table(written(("Sums", rows)))
    assert [column.name for column in table.columns] == [
        "Line", "2025 Q1", "2025 Q2", "2026 Q1", "2026 Q2",
    ]  # fmt: skip
    assert cells(table)["2026 Q2"] == ["4", "8"]
    titled = first_table(written(("Sums", [["Sums of 2025 and 2026"], *rows])))
    assert [column.name for column in titled.columns] == [column.name for column in table.columns]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (["Name", "name", "NAME"], ["Name", "name (2)", "NAME (3)"]),
        (['He said "x"', "a;DROP b", "rowid"], ["He said 'x'", "a;DROP b", "rowid (2)"]),
        (["", "Größe", "価格"], ["A", "Größe", "価格"]),
        (["x" * 200, "b", "c"], ["x" * 60, "b", "c"]),
    ],
)  # fmt: skip
def test_odd_names_can_be_written_in_a_query(
    header: list[str], names: list[str], make_block: Callable[[list[str]], RowBlock]
) -> None:
    table = first_table([make_block(header)])
    assert [column.name for column in table.columns] == names


@pytest.fixture
def make_block() -> Callable[[list[str]], RowBlock]:
    """A block of two rows under a header that the readers would not be sure of."""

    def make(header: list[str]) -> RowBlock:
        [block] = written((None, [["1", "2", "3"], ["4", "5", "6"]]))
        return RowBlock(None, 0, tuple(header), block.rows)

    return make


def test_without_a_header_columns_are_called_by_their_letters() -> None:
    table = first_table(written((None, [["1", "x y"], ["2", "z"], ["3", "w"]]), column=1))
    assert [column.name for column in table.columns] == ["B", "C"]


@pytest.mark.parametrize(("column", "letters"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ")])
def test_columns_have_letters(column: int, letters: str) -> None:
    assert column_letters(column) == letters


def test_what_is_no_table_is_none() -> None:
    blocks = written((None, [["Only", "one row"], ["1", "2"]]))
    assert table_at(blocks, 0, 1, "None") is None, "the header alone is no row"
    assert table_at(blocks, blocks[0].rows[0].start, 99, "One") is None
    assert row_blocks("Plain text.", "") == []


def test_the_model_is_told_what_the_columns_hold() -> None:
    rows = [["Region", "Pounds", "Day", "Note"],
            *[[["North", "South"][n % 2], f"{n},50 €", f"{n + 1}.1.2026", f"note {n}"]
              for n in range(30)]]  # fmt: skip
    told = describe_table(first_table(written(("Takings", rows))), "Harbour").splitlines()
    assert told == [
        'Table "takings": Harbour, sheet Takings, 30 rows',
        "- \"Region\" VARCHAR, one of 'North', 'South'",
        '- "Pounds" DOUBLE, in €, from 0.50 to 29.50',
        '- "Day" DATE, from 2026-01-01 to 2026-01-30',
        "- \"Note\" VARCHAR, such as 'note 0', 'note 1', 'note 2'",
    ]


def test_a_long_result_says_that_it_is_cut() -> None:
    table = first_table(written((None, ORDERS)))
    rows = tuple((f"{n}", "x" * 290) for n in range(100))
    result = QueryResult(("n", "x"), rows, True, {table.name: None}, None)
    lines = result_text(result, [table]).splitlines()
    assert lines[0] == "Result of a query over 3 rows, cells A2:B4:"
    assert lines[-1] == f"Only the first {len(lines) - 3} rows of the result are shown."
    empty = QueryResult(("n",), (), False, {table.name: None}, None)
    assert result_text(empty, [table]).endswith("n\nNo rows match.")


def test_sums_of_amounts_have_no_digits_of_the_machine() -> None:
    table = first_table(written((None, ORDERS)))
    result = QueryResult(
        ("sum",), ((0.1 + 0.2,), (None,), (True,)), False, {table.name: None}, None
    )
    assert result_text(result, [table]).splitlines()[2:] == ["0.3", "", "TRUE"]


def test_numbers_come_with_the_unit_of_their_column() -> None:
    rows = [
        ["Thing", "Weight", "Price", "Share", "Count"],
        ["oven", "12 kg", "€250.00", "12.5%", "3"],
        ["pot", "5 kg", "-€19.90", "8%", "4"],
    ]
    table = first_table(written((None, rows)))
    names = ("Weight", "Price", "Share", "Count", "sum of Weight", "avg of Price", "Kilos")
    row = (12.0, -19.9, 12.5, 3, 17.0, 115.05, 17.0)
    result = QueryResult(names, (row,), False, {table.name: (0, 1)}, None)
    shown = ["12 kg", "-€19.90", "12.5%", "3", "17 kg", "€115.05", "17"]
    assert result_cells(result, [table]) == [shown]
    assert result_text(result, [table]).splitlines()[2] == " | ".join(shown)
