"""The outline of a text without headings, such as that of most PDF files."""

from desktop_rag.answer.understanding.file_outline import outline_of
from desktop_rag.answer.writing.answer_texts import texts_for
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
