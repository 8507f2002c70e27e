"""What a claim takes from a table: the cell in the row and the column that it names."""

import pytest

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.answer.checking.claims.source_tables import tables_of
from desktop_rag.core.claims import Verdict

PIPES = """
Regional results, in thousands of euros

| Region | Revenue 2023 | Revenue 2024 | Employees |
|---|---|---|---|
| North | 1,240 | 1,365 | 18 |
| South | 980 | 910 | 14 |
| East | 455 | 620 | 7 |
"""
SPACES = """
Condensed statement (in millions)

                         Q1 2025    Q1 2024
Revenue                  812        765
Cost of sales            497        481
Net income               104        91
"""
DATES = """
| Invoice | Customer | Date | Net EUR |
|---|---|---|---|
| R-17 | Halden AG | 2025-04-10 | 62000 |
| R-18 | Tern Ltd | 2025-05-01 | 11527.97 |
| R-19 | Tern Ltd | 2025-07-19 | 17559.67 |
"""
# As the text of a page has a table, without borders.
PAGE = """LANTERN CO
CONSOLIDATED STATEMENTS OF INCOME
Year ended 31 December (in millions, except per share data) 2025 2024
Revenues $ 9,840 $ 9,105
Cost of sales 6,360 5,985
Gross profit 3,480 3,120
Earnings per share $ 2.41 $ 2.02
"""
# A part of the whole, and rows of one name in two groups.
SEGMENT = """Harbour Segment
Selected financial data for the Harbour segment was as follows (in millions):
2025 2024
Revenue $ 3,504 $ 3,931
Gross profit 806 938
"""
GROUPS = """STATEMENTS OF OPERATIONS
(In thousands) 2025 2024
Revenues
Boats $ 2,871 $ 6,517
Rooms 830 2,322
Expenses
Boats 1,701 3,623
Rooms 419 829
Old Town Hotels
Dinners 217 285
"""
RIGHT = [
    (SEGMENT, "Revenue of the Harbour segment was $3,504 million in 2025."),
    (SEGMENT, "In the Harbour segment revenue fell by 10.9% in 2025."),
    (GROUPS, "Revenues from boats were $2,871 thousand in 2025."),
    (GROUPS, "Boats' expenses fell from $3,623 thousand in 2024 to $1,701 thousand in 2025."),
    (PAGE, "Lantern Co's revenues were $9,840 million in fiscal 2025."),
    (PAGE, "In 2024, the cost of sales amounted to about $6.0 billion."),
    (PAGE, "Gross profit rose from $3,120 million in 2024 to $3,480 million in 2025."),
    (PAGE, "Earnings per share were $2.41 in 2025."),
    (PAGE, "The cost of sales reached $6.4 billion in 2025, compared with $6.0 billion in 2024."),
    (DATES, "R-17 is dated 10 April 2025."),
    (DATES, "R-17 over EUR 62,000 is dated 10 April 2025."),
    (DATES, "R-19 is dated 19 July 2025 and amounts to EUR 17,559.67."),
    (DATES, "The net amount of R-18 is EUR 11,527.97."),
    (PIPES, "The revenue of the South in 2024 was 910 thousand euros."),
    (PIPES, "The North region's revenue rose from 1,240 in 2023 to 1,365 in 2024."),
    (PIPES, "South: revenue fell to 910 thousand in 2024, from 980 thousand in 2023."),
    (SPACES, "Net income amounted to 104 million in Q1 2025."),
    (SPACES, "In Q1 2024 the cost of sales was $481 million."),
]
# Of one row below its head.
SMALL = [
    ("Place\tOpens\tCloses\nLibrary\t09:00\t18:00\n", "The library closes at 18:00."),
    (
        "| Tool | Owner |\n|---|---|\n| Lathe | Mara Lind |\n",
        "The owner of the lathe is Mara Lind.",
    ),
]
WRONG = [
    (GROUPS, "Revenues from boats were $1,701 thousand in 2025.", "$ 2,871"),
    (DATES, "R-17 is dated 11 April 2025.", "2025-04-10"),
    (PIPES, "The revenue of the South in 2024 was 620 thousand euros.", "910"),
    (PIPES, "The number of employees in the East is 18.", "7"),
    (SPACES, "Net income amounted to 91 million in Q1 2025.", "104"),
    (
        PIPES,
        "The revenue of the South rose to 910 thousand in 2024, from 980 thousand in 2023.",
        "980 thousand → 910 thousand",
    ),
    (PAGE, "Gross profit was $3,120 million in fiscal 2025.", "3,480"),
    (PAGE, "Lantern Co's revenues were $9,105 million in 2025.", "$ 9,840"),
    (PAGE, "Lantern Co's revenues were $9,840 billion in 2025.", "$ 9,840"),
    (PAGE, "Gross profit fell from $3,120 in 2024 to $3,480 in 2025.", "$3,120 → $3,480"),
]
UNSURE = [
    (SEGMENT, "Lantern's revenue was $3,504 million in 2025."),
    (SEGMENT, "Revenue fell by 10.9% in 2025."),
    (GROUPS, "Boats brought $2,871 thousand in 2025."),
    (GROUPS, "Dinners were $217 thousand in 2025."),
    (PAGE, "Beacon's gross profit was $3,480 million in 2025."),
    (PAGE, "Gross profit in the last quarter of 2025 was $3,480 million."),
    (PIPES, "With 910 thousand euros the South had the highest revenue in 2024."),
    (PIPES, "The revenue of the South in 2024 was not 620 thousand euros."),
    (SPACES, "Revenue was 812 million in Q1 2025, up from 765 million a year earlier."),
    ("| Lathe | Mara Lind | 450 |\n", "The lathe costs 450."),
]


@pytest.fixture(scope="module")
def checker() -> ClaimChecker:
    return ClaimChecker()


def test_tables_are_found_in_their_forms() -> None:
    [pipes], [spaces] = tables_of(PIPES), tables_of(SPACES)
    assert [row.cells[0] for row in pipes.rows] == ["North", "South", "East"]
    assert spaces.head.cells == ("", "Q1 2025", "Q1 2024")
    assert spaces.rows[2].cells == ("Net income", "104", "91")
    assert SPACES[spaces.rows[2].start : spaces.rows[2].end].startswith("Net income")
    assert tables_of("Two words  here.\nAnd  there.\n\nNo | table") == []


@pytest.mark.parametrize(("source", "claim"), RIGHT + SMALL)
def test_what_the_cell_has_is_supported(checker: ClaimChecker, source: str, claim: str) -> None:
    assert checker.check(claim, [source]).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(("source", "claim", "written"), WRONG)
def test_another_figure_than_that_of_the_cell_contradicts(
    checker: ClaimChecker, source: str, claim: str, written: str
) -> None:
    checked = checker.check(claim, [source])
    assert checked.verdict is Verdict.CONTRADICTED
    assert f"The table has {written} there" in checked.explanation


@pytest.mark.parametrize(("source", "claim"), UNSURE)
def test_what_a_cell_does_not_say_alone_is_left_open(
    checker: ClaimChecker, source: str, claim: str
) -> None:
    assert "table" not in checker.check(claim, [source]).explanation
