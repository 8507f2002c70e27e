"""What kind of values a column holds: numbers, amounts, dates in the ways people write them."""

import pytest

from desktop_rag.answer.tables.cell_values import Notation, column_values, notation_of


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2", "", "−3"], "BIGINT", ["1", "-2", None, "-3"]),
        (["1.5", "2", "-.5"], "DOUBLE", ["1.5", "2", "-0.5"]),
        (["1.234,50", "2,5", "12"], "DOUBLE", ["1234.50", "2.5", "12.0"]),
        (["1,234.50", "7"], "DOUBLE", ["1234.50", "7"]),
        (["1'234.50", "1 234 567.8"], "DOUBLE", ["1234.50", "1234567.8"]),
        (["1\u202f234,5"], "DOUBLE", ["1234.5"]),
        (["1,5", "2,25"], "DOUBLE", ["1.5", "2.25"]),
        (["1.234", "5.678"], "DOUBLE", ["1.234", "5.678"]),
        (["1e5", "2.5E-3"], "DOUBLE", ["1e5", "2.5E-3"]),
        (["12345678901234567890", "1"], "DOUBLE", ["12345678901234567890", "1"]),
        (["\uff11\uff12.\uff15", "\u0663", "4.5"], "DOUBLE", ["12.5", "3", "4.5"]),
        (["(3.00)", "4.50"], "DOUBLE", ["-3.00", "4.50"]),
        (["2026-01-31", "2026-2-1"], "DATE", ["2026-01-31", "2026-02-01"]),
        (["31.12.2025", "1.2.2026"], "DATE", ["2025-12-31", "2026-02-01"]),
        (["31/12/2025", "01/02/2026"], "DATE", ["2025-12-31", "2026-02-01"]),
        (["12/31/2025", "01/02/2026"], "DATE", ["2025-12-31", "2026-01-02"]),
        (["2026-01-31", "2026-02-01 12:30"], "TIMESTAMP",
         ["2026-01-31 00:00:00", "2026-02-01 12:30:00"]),
        (["2026-01-31", "2026-02-01 (1. Feb)"], "DATE", ["2026-01-31", "2026-02-01"]),
        (["2026-01-31 12:30:00 (31.1. 12:30)"], "TIMESTAMP", ["2026-01-31 12:30:00"]),
        (["12% (12.345%)", "-3% (-2.5%)", "4%"], "DOUBLE", ["12.345", "-2.5", "4.0"]),
        (["12.3% (12.34%)", "4%"], "DOUBLE", ["12.34", "4.0"]),
        (["10 € (10.4)", "-1,234 € (-1234.5)", "20 €"], "DOUBLE", ["10.4", "-1234.5", "20.0"]),
        (["1.2M (1234567)", "2M (2000000)"], "BIGINT", ["1234567", "2000000"]),
        (["2026-01-31T10:00:05.25Z"], "TIMESTAMP", ["2026-01-31 10:00:05.250000"]),
        (["9:05", "23:59:01"], "TIME", ["09:05:00", "23:59:01"]),
        (["TRUE", "false", "Yes", ""], "BOOLEAN", ["true", "false", "true", None]),
        (["n/a", "3", "-", "#DIV/0!"], "BIGINT", [None, "3", None, None]),
    ],
)  # fmt: skip
def test_cells_become_values(cells: list[str], kind: str, values: list[str | None]) -> None:
    made = column_values(cells, notation_of([cells]))
    assert (made.kind, list(made.values), made.odd_count) == (kind, values, 0)


@pytest.mark.parametrize(
    "cells",
    [
        ["00123", "12"],  # a code
        ["+49 30 1234", "+49 40 99"],  # telephone numbers
        ["$3", "€4"],  # two currencies can't be added up
        ["12%", "13"],
        ["5 kg", "6"],
        ["12a", "14b"],
        ["12 kg (34)", "5 kg (7)"],
        [f"0.{'1' * 400} kg (3)", "1 kg (1.2.3)"],
        ["1.2.3", "1.3"],
        ["1,234", "5,678"],  # more than a thousand, or a little more than one?
        ["01/02/2025", "03/04/2025"],  # in which month?
        ["31/12/2025", "12/31/2025"],
        ["2026-02-30"],
        ["25:00", "26:00"],
        ["\u0663:30", "4:30"],  # a clock of two scripts
        ["ERR0001", "ERR0002"],
        ["1-2", "2-3"],
        ["abc", "1"],
        ["", ""],
    ],
)
def test_what_is_not_certain_stays_text(cells: list[str]) -> None:
    made = column_values(cells, notation_of([cells]))
    assert (made.kind, list(made.values)) == ("VARCHAR", [cell or None for cell in cells])


@pytest.mark.parametrize(
    ("cells", "unit", "values"),
    [
        (["$1,234.50", "-$4", "($3.00)"], "$", ["1234.50", "-4.0", "-3.00"]),
        (["3,50 €", "€ 4", "1.000,00 €"], "€", ["3.50", "4.0", "1000.00"]),
        (["CHF 5.20", "6"], "CHF", ["5.20", "6"]),
        (["US$ 7.10"], "US$", ["7.10"]),
        (["12%", "15.5 %"], "%", ["12.0", "15.5"]),
        (["5 kg", "6.5 kg"], "kg", ["5.0", "6.5"]),
    ],
)
def test_units_are_kept_beside_the_numbers(cells: list[str], unit: str, values: list[str]) -> None:
    made = column_values(cells, notation_of([cells]))
    assert (made.kind, made.unit, list(made.values)) == ("DOUBLE", unit, values)


def test_other_columns_tell_how_a_table_is_written() -> None:
    ambiguous = ["1,234", "5,678"]
    english = notation_of([ambiguous, ["0.5", "2.25"], ["12/31/2025"]])
    german = notation_of([ambiguous, ["0,5", "2,25"], ["31/12/2025"]])
    assert (english, german) == (Notation(".", False), Notation(",", True))
    assert column_values(ambiguous, english).values == ("1234.0", "5678.0")
    assert column_values(ambiguous, german).values == ("1.234", "5.678")
    assert column_values(["01/02/2026"], english).values == ("2026-01-02",)
    assert column_values(["01/02/2026"], german).values == ("2026-02-01",)
    assert notation_of([["0.5"], ["0,5"]]) == Notation(), "a table of both tells nothing"


def test_a_few_odd_cells_are_empty_and_spoken_of() -> None:
    cells = [str(n) for n in range(39)] + ["see below"]
    made = column_values(cells, Notation())
    assert (made.kind, made.odd, made.odd_count) == ("BIGINT", ("see below",), 1)
    assert made.values[-1] is None
    assert column_values([*cells, "a", "b"], Notation()).kind == "VARCHAR", "more than a few"


def test_the_kind_that_fits_all_is_better_than_one_that_fits_most() -> None:
    cells = [str(n) for n in range(39)] + ["1.5"]
    assert column_values(cells, Notation()).kind == "DOUBLE"
