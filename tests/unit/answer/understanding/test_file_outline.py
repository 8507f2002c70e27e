"""The outline of a text without headings, such as that of most PDF files."""

from desktop_rag.answer.understanding.named_answer import outline_of
from desktop_rag.answer.writing.answer_texts import texts_for
from desktop_rag.core.parsed import Anchor, Mark, ParsedDocument, TableHeader
from desktop_rag.core.places import places_to_json
from tests.stored_rows import document

TITLE_PAGE = "Table of Contents\nUNITED STATES COMMISSION\nFORM 10-K\nANNUAL REPORT OF THE YEAR\n"


def test_title_pages_and_figures_are_passed_over() -> None:
    text = (
        f"{TITLE_PAGE}\nTable of Contents\nOur stores need much investment.\n"
        "Revenues 39,117 36,397\nCost of sales 21,643 20,441\n\nTable of Contents\n"
        "Inventories are finished goods."
    )
    found = outline_of(document("report.pdf"), text, "", texts_for(""))
    assert "UNITED STATES" not in found.text
    assert "39,117" not in found.text
    assert "Our stores need much investment." in found.text
    assert "Inventories are finished goods." in found.text


def test_fields_to_fill_in_are_no_beginning() -> None:
    text = (
        "(Exact name of the society as in its rules) One Tower Road, North Landing, Marram Head "
        "(Address of the office) (Telephone, with area code)\n\n"
        "Yes ☒ No ☐ if the society has to report.\n\n"
        "to everybody who has to climb the tower at night.\n\n"
        "The society keeps the light at the head of the bay.\n"
    )
    found = outline_of(document("report.pdf"), text, "", texts_for(""))
    assert found.text.startswith("The society keeps the light at the head of the bay.")


def test_a_sheet_without_names_of_columns_is_listed_too() -> None:
    text = "Prices\nLamp | 3\nOil | 2\nVisitors\nYear | Count\n2025 | 120\n"
    rows = [(0, "Prices", None), (7, "Prices", "A1:B1"), (16, "Prices", "A2:B2")]
    rows += [(24, "Visitors", None), (33, "Visitors", "A1:B1"), (46, "Visitors", "A2:B2")]
    marks = tuple(Mark(at, Anchor(sheet=sheet, cells=cells)) for at, sheet, cells in rows)
    tables = (TableHeader(46, 57, "Year | Count"),)
    places = places_to_json(ParsedDocument("excel", "", text, marks=marks, table_headers=tables))
    found = outline_of(document("book.xlsx"), text, places, texts_for(""))
    assert found.text.splitlines() == [
        "- **Prices**: 2 rows [1]",
        "- **Visitors**: 1 row with the columns Year, Count [2]",
    ]
