from desktop_rag.ingest.read.foundation.ocr import Line, in_reading_order


def lines(left: float, top: float, *texts: str, width: float = 0) -> list[Line]:
    """Lines under each other, 10 high and 12 apart."""
    return [
        Line(left, top + 12 * n, left + (width or 5 * len(text)), top + 12 * n + 10, text)
        for n, text in enumerate(texts)
    ]


def test_nothing_is_nothing() -> None:
    assert in_reading_order([]) == ""


def test_lines_come_from_top_to_bottom_whatever_their_order() -> None:
    page = lines(0, 0, "one", "two", "three")
    assert in_reading_order(page[::-1]) == "one\ntwo\nthree"


def test_a_row_of_a_table_is_one_line() -> None:
    page = lines(0, 0, "Rent", "Heating") + lines(200, 1, "900", "120")
    assert in_reading_order(page) == "Rent  900\nHeating  120"


def test_a_wide_gap_begins_a_paragraph() -> None:
    page = lines(0, 0, "one", "two") + lines(0, 60, "three")
    assert in_reading_order(page) == "one\ntwo\n\nthree"


def test_columns_of_prose_are_read_one_after_the_other() -> None:
    left = [f"left column, line number {n}" for n in range(5)]
    right = [f"right column, line number {n}" for n in range(5)]
    head = [Line(0, 0, 400, 20, "A headline across both of the columns")]
    foot = [Line(0, 200, 400, 210, "A footer across both of the columns too")]
    page = lines(0, 40, *left, width=180) + lines(210, 40, *right, width=180)
    text = in_reading_order(foot + page + head)
    assert text.split() == " ".join([head[0].text, *left, *right, foot[0].text]).split()


def test_many_lines_take_no_long_time() -> None:
    page = [line for n in range(5) for line in lines(90 * n, 0, *["x" * 25] * 200, width=99)]
    assert in_reading_order(page).count("x" * 25) == 1000
