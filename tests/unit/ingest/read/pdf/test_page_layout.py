"""Columns drawn line by line, spaced letters, and tables that go over pages."""

import pytest

from tests.unit.ingest.read.pdf_samples import make_placed
from tests.unit.ingest.read.samples import parse

LEFT = (
    "The harbour of Orsk was built",
    "in the year of the great fire",
    "by a company from Halden. Its",
    "cranes lift forty tons each. A",
    "second pier is still being exam-",
    "ined by the board.",
)
RIGHT = (
    "Members pay their fees every",
    "spring. Whoever forgets it will",
    "be reminded twice, and after",
    "that the board decides. A sum",
    "of ten euros is added for each",
)
Texts = list[tuple[float, float, str]]


def lines(texts: tuple[str, ...], left: float, top: float = 700) -> Texts:
    return [(left, top - 14 * n, text) for n, text in enumerate(texts)]


def drawn_by_line(*texts: Texts) -> Texts:
    """The same texts in the order of lines, as some programs draw them."""
    return sorted((text for column in texts for text in column), key=lambda t: (-t[1], t[0]))


def text_of(*pages: Texts) -> str:
    return parse("a.pdf", make_placed(*pages)).text


def test_columns_that_are_drawn_line_by_line_are_read_one_after_the_other() -> None:
    columns = drawn_by_line(lines(LEFT, 50), lines(RIGHT, 320))
    head, foot = (50, 760, "A report about harbours, of no great length"), (50, 500, "The end.")
    below = "\n".join(RIGHT)
    assert text_of([head, *columns, foot]) == (
        f"{head[2]}\n"
        + "\n".join(LEFT[:4])
        + f"\nsecond pier is still being examined by the board."
        f"\n{below}\nThe end."
    )


def test_three_columns_are_read_one_after_the_other() -> None:
    narrow = [
        (f"{word} of the little", "boats in the", "harbour of this", "town by the sea")
        for word in ("All", "Most", "Some")
    ]
    columns = [lines(texts, 40 + 180 * n) for n, texts in enumerate(narrow)]
    assert text_of(drawn_by_line(*columns)) == "\n".join("\n".join(texts) for texts in narrow)


def test_rows_of_a_table_stay_rows() -> None:
    names = ("Name of the berth", "Orla of the north", "Vega of the south", "Runa of the east")
    tons = ("Tons", "100", "200", "300")
    rows = "\n".join(f"{name} {number}" for name, number in zip(names, tons, strict=True))
    assert text_of(drawn_by_line(lines(names, 50), lines(tons, 320))) == rows


def test_an_empty_cell_shifts_no_values() -> None:
    rows = [
        ("Plant", "Anton", "Berta"), ("Gorvik", "", "3000"), ("Halden", "4000", "3100"),
        ("", "5000", "3200"), ("Ostby", "6000", ""),
    ]  # fmt: skip
    cells = [cell for cell in table(rows, 700) if cell[2]]
    document = parse("a.pdf", make_placed(cells))
    assert document.text.split("\n") == [
        "Plant Anton Berta", "Gorvik | | 3000", "Halden 4000 3100", "| 5000 | 3200", "Ostby 6000",
    ]  # fmt: skip
    [head] = document.table_headers
    assert head.text == "Plant | Anton | Berta"
    assert document.text[head.start : head.end].startswith("Gorvik | |")


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("A N N U A L   R E P O R T", "ANNUAL REPORT"),
        ("s u m m a r y", "summary"),
        # Neither an index of letters nor numbers nor marks are a word.
        ("A B C D E F", "A B C D E F"),
        ("1 2 3 4 5 6", "1 2 3 4 5 6"),
        ("x x x x x x", "x x x x x x"),
        ("I am a b", "I am a b"),
    ],
)
def test_spaced_letters_are_words(drawn: str, read: str) -> None:
    assert text_of([(50, 700, drawn), (50, 680, "Words below.")]) == f"{read}\nWords below."


def table(rows: list[tuple[str, ...]], top: float) -> Texts:
    return [
        (left, top - 14 * n, text)
        for n, row in enumerate(rows)
        for left, text in zip((50, 250, 400), row, strict=True)
    ]


HEAD = ("Berth", "Tons", "Year")
FIRST = [HEAD, *((f"Orla {n}", str(100 + n), str(1990 + n)) for n in range(5))]
SECOND = [(f"Vega {n}", str(200 + n), str(1980 + n)) for n in range(4)]


def test_a_table_that_goes_on_over_the_page_keeps_its_head() -> None:
    first = [(50, 780, "Berths"), *table(FIRST, 700), (300, 30, "1")]
    second = [*table(SECOND, 780), (50, 400, "Nothing else is known of them."), (300, 30, "2")]
    document = parse("a.pdf", make_placed(first, second))
    heads = [(h.text, document.text[h.start : h.end]) for h in document.table_headers]
    assert [text for text, _ in heads] == ["Berth | Tons | Year"] * 2
    assert heads[0][1].split("\n")[::4] == ["Orla 0 100 1990", "Orla 4 104 1994"]
    assert heads[1][1].split("\n")[::3] == ["Vega 0 200 1980", "Vega 3 203 1983"]


def test_another_table_below_other_text_has_no_head_of_the_page_before() -> None:
    first = [*table(FIRST, 700), (300, 30, "1")]
    above = lines(
        ("Another matter", "altogether is", "told on this", "page before it", "ends."), 50
    )
    document = parse("a.pdf", make_placed(first, [*above, *table(SECOND, 500)]))
    assert len(document.table_headers) == 1
