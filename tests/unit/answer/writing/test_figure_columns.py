"""The names of columns of figures, read from the lines above them."""

import pytest

from desktop_rag.answer.writing.excerpt_units import columns_of, head_of, scale_of


def names(line: str) -> list[str]:
    return [column.name for column in columns_of(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(in millions) 2025 2024", ["2025", "2024"]),
        ("Year ended 31 May, 2025 2024 2023", ["2025", "2024", "2023"]),
        (
            "(Dollars in millions) FISCAL 2025 FISCAL 2024 (1) % CHANGE FISCAL 2023 % CHANGE",
            ["FISCAL 2025", "FISCAL 2024 (1)", "% CHANGE", "FISCAL 2023", "% CHANGE"],
        ),
        ("2025 2024 $ Change % Change", ["2025", "2024", "$ Change", "% Change"]),
        ("Three months ended June 30, 2025 June 30, 2024", ["June 30, 2025", "June 30, 2024"]),
        ("June 30, 2025 December 31, 2024", ["June 30, 2025", "December 31, 2024"]),
        ("2025 $ million 2024 $ million Change", ["2025", "2024", "Change"]),
        ("Q1 2025 Q1 2024", ["Q1 2025", "Q1 2024"]),
        (
            "Geschäftsjahr 2025 Geschäftsjahr 2024 Veränderung in %",
            ["Geschäftsjahr 2025", "Geschäftsjahr 2024", "Veränderung in %"],
        ),
        ("2026 2027 2028 Thereafter", ["2026", "2027", "2028", "Thereafter"]),
    ],
)
def test_columns_are_named_by_their_periods_and_what_is_between(
    line: str, expected: list[str]
) -> None:
    assert names(line) == expected


def test_bars_between_cells_are_no_part_of_a_name() -> None:
    dates = ["January 28, 2023", "January 29, 2022"]
    assert names("| January 28, 2023 | January 29, 2022") == dates


@pytest.mark.parametrize(
    "line",
    [
        "Inventories 4,435 4,269",
        "From 2024 to 2025 the lamp was dark.",
        "2025 FORM 7-B 25",
        "% Change 2025-2024",
        "Repairs 2025 1,200 2024 900",
    ],
)
def test_other_lines_name_no_columns(line: str) -> None:
    assert names(line) == []


def test_what_figures_are_in_is_read_beside_the_periods() -> None:
    assert scale_of("(Dollars in millions, except per share data) FISCAL 2025 FISCAL 2024") == (
        "Dollars in millions, except per share data"
    )
    assert scale_of("Costs were as follows ($ in millions):") == "$ in millions"
    assert scale_of("Millions of people saw the lamp in 2025 and 2024") == ""


def test_a_line_below_adds_a_column_that_compares() -> None:
    head = head_of("Costs\n(in thousands) 2025 2024\n% Change\n2025-2024\n").at_row()
    assert head.names_of(["1,200", "900", "33 %"]) == (
        ("2025", "2024", "% Change"), ("1,200", "900", "33 %"),
    )  # fmt: skip


def test_a_row_may_leave_comparisons_out_but_nothing_else() -> None:
    head = head_of("2025 % Change 2024 % Change").at_row()
    assert head.names_of(["44 %", "43 %"])[1] == ("44 %", "", "43 %", "")
    assert head.names_of(["44 %", "43 %", "2 %"]) == ((), ())


def test_a_table_has_the_title_above_it() -> None:
    text = "The lamp was lit in 2019.\nCARE OF THE TOWER\nYEAR ENDED MAY 31,\n2025 2024\n"
    assert head_of(text).at_row().caption == "CARE OF THE TOWER, YEAR ENDED MAY 31"
    text = (
        "17\nNorth Landing\nVisitors at the north landing in the last two\nyears were:\n2025 2024"
    )
    assert head_of(text).at_row().caption == (
        "Visitors at the north landing in the last two years were"
    )
    text = "Total costs $ 1,200 $ 900\nTable of Contents\nCare of the Tower\n2025 2024"
    assert head_of(text).at_row().caption == "Care of the Tower"


def test_periods_that_repeat_have_the_line_above_in_their_title() -> None:
    text = "Visitors and nights were as follows:\nVisitors Nights\n2025 2024 2025 2024\n"
    assert head_of(text).at_row().caption == (
        "Visitors and nights were as follows: Visitors Nights"
    )


def test_a_sentence_ends_the_table_above_it() -> None:
    text = "Visitors\n2025 2024\nMost of the visitors came by the morning ferry in both years.\n"
    assert head_of(text).at_row().names_of(["1", "2"]) == ((), ())
