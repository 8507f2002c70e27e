"""Passages cut into sentences, list items and rows of tables."""

from desktop_rag.answer.writing.excerpt_units import Unit, plain, units_of


def texts(text: str) -> list[str]:
    return [unit.text for unit in units_of(text)]


def test_rows_have_the_header_above_them() -> None:
    text = "Place | Kind | Tested\nThird landing | Water mist | 2026\nLantern | Gas | 2025"
    first, second = units_of(text)
    assert first.header == ("Place", "Kind", "Tested")
    assert first.cells == ("Third landing", "Water mist", "2026")
    assert second.cells == ("Lantern", "Gas", "2025")
    known = next(units_of("Third landing | Water mist | 2026", "Place | Kind | Tested"))
    assert known.header == ("Place", "Kind", "Tested")


def test_lines_of_figures_are_rows_below_their_years() -> None:
    text = (
        "Consolidated Balance Sheets\n(Amounts in millions) 2020 2019\n"
        "Cash and cash equivalents $ 9,465 $ 7,722\nInventories 44,435 44,269\n"
    )
    cash, inventories = units_of(text)
    assert cash.cells == ("Cash and cash equivalents", "$ 9,465", "$ 7,722")
    assert inventories.header == ("Amounts in millions", "2020", "2019")
    assert inventories.text == "Inventories: 2020 44,435, 2019 44,269"


def test_rows_without_years_say_what_their_figures_are_in() -> None:
    text = "(in thousands)\nNorth Coast $ 1,777 $ 1,020\nConverted land 225 149\n"
    assert [unit.scale for unit in units_of(text)] == ["in thousands", "in thousands"]
    german = "Angaben in Mio. €\nErlöse 1.777 1.020\nKosten 225 149\n"
    assert [unit.scale for unit in units_of(german)] == ["Angaben in Mio. €"] * 2
    plain = "Millions of people saw the lamp in 2020.\nNorth Coast 1,777 1,020\nHarbour 2 1\n"
    assert {unit.scale for unit in units_of(plain)} == {""}


def test_rows_with_words_stand_alone_and_the_sentence_behind_them_too() -> None:
    text = (
        "Phase When Work Cost in\n1 2026 Eight panes out 17,250\n2 2027 Rail in lead 22,600\n"
        "Prices include the scaffolding.\n"
    )
    found = list(units_of(text))
    assert [unit.is_item for unit in found] == [True, True, False]
    assert found[1].text == "2 2027 Rail in lead 22,600"
    assert found[2].text == "Prices include the scaffolding."


def test_a_row_of_one_figure_is_no_part_of_the_sentence_below_it() -> None:
    below = (
        "We believe that investments in the lamp are critical to remain bright\nin every market."
    )
    said = "We believe that investments in the lamp are critical to remain bright in every market."
    assert texts(f"Total change 18 %\n{below}") == ["Total change 18 %", said]
    rows = "Components of\n% Change\nSalaries and oil 7 %\nRoyalty costs 2\nTotal change 18 %"
    assert texts(f"{rows}\n{below}") == [
        "Salaries and oil 7 %", "Royalty costs 2", "Total change 18 %", said
    ]  # fmt: skip
    wrapped = (
        "The lamp was lit by the keeper in 2022\nand in 2023\nand again in the year 2024\nby us."
    )
    assert texts(wrapped) == [" ".join(wrapped.split())]


def test_a_heading_above_a_paragraph_is_no_part_of_its_sentence() -> None:
    text = "Risks Related to Our Business\nWe depend on airlines\nfor most of our sales."
    assert texts(text) == ["We depend on airlines for most of our sales."]
    assert texts("The tower is white.\nIt is high.") == ["The tower is white.", "It is high."]


def test_names_of_columns_in_capitals_are_left_out() -> None:
    text = "The tables present revenues by segment:\nNORTH AMERICA EUROPE\nTOTAL BRAND"
    assert texts(text) == ["The tables present revenues by segment:"]


def test_items_of_lists_are_told() -> None:
    assert list(units_of("- Rung without stopping: leave all buildings.")) == [
        Unit("Rung without stopping: leave all buildings.", 0, is_item=True)
    ]


def test_the_labels_of_a_drawing_are_left_out() -> None:
    drawing = "RMSNorm\nAttention\nBlock × L\nInput Hidden\nShared Expert\nRouted Expert"
    assert texts(drawing) == []
    verse = "The lamp\nis lit\nat eight\nand put\nout again\nat five."
    assert texts(verse) == ["The lamp is lit at eight and put out again at five."]


def test_styles_of_latex_are_left_out() -> None:
    text = r"\begin{quote} \textbf{Inputs of the \texttt{Linear} operator} are kept. \end{quote}"
    assert texts(text) == ["Inputs of the Linear operator are kept."]


def test_what_fills_a_line_is_shortened() -> None:
    assert plain("Item 1. Business ............ 4") == "Item 1. Business … 4"
    assert plain("Name: _____________ Date: ____ . . . . 7") == "Name: … Date: … 7"
    assert plain("1.2.3.4 -- and so on ...") == "1.2.3.4 -- and so on ..."


def test_a_minus_sign_is_no_mark_of_a_list() -> None:
    [row] = units_of("Johannesburg | -26.2 | +28", "City | Latitude | Longitude")
    assert row.cells == ("Johannesburg", "-26.2", "+28")
    assert plain("- two panes") == "two panes"


def test_a_row_for_each_year_has_the_names_above_the_rows() -> None:
    text = "Sheet1\nPage 1\nLamps lit in each year\nYear Oil Lamps\n2021 150\n2022 170\n2023 160"
    _, row, _ = units_of(text)
    assert row.cells == ("2022", "170")
    assert row.header == ("Year", "Oil Lamps")
    assert row.caption == "Lamps lit in each year"


def test_a_table_of_markdown_has_neither_bars_nor_rules_in_its_cells() -> None:
    text = "| Plant | Sown |\n|---|---|\n| Radish | 12 March |\n| Kohlrabi | 20 March |"
    radish, kohlrabi = units_of(text)
    assert radish.header == ("Plant", "Sown")
    assert kohlrabi.cells == ("Kohlrabi", "20 March")


def test_a_title_above_the_names_of_columns_is_none_of_them() -> None:
    text = (
        "Far places |  |  | \nCity | Latitude | Longitude | Population\n"
        "Johannesburg | -26.2 | 28 | 957000\nHull | 53.7 | -0.3 | 267000"
    )
    first, _ = units_of(text)
    assert first.header == ("City", "Latitude", "Longitude", "Population")
