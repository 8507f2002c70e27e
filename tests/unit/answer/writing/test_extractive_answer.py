from dataclasses import replace

from desktop_rag.answer.writing.extractive_answer import excerpts
from desktop_rag.answer.writing.source_tables import Surroundings
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.conversation import SourceRef


def source(n: int, text: str) -> SourceRef:
    return SourceRef(n, "d", "/d.md", "D", Anchor(), text, 1.0)


def test_the_sentence_that_answers_is_quoted_with_its_number() -> None:
    sources = [
        source(1, "The gate is shut at night. The lamp is lit at dusk by the keeper."),
        source(2, "The ferry leaves at noon every day."),
    ]
    assert excerpts("When is the lamp lit?", sources, None) == (
        "The lamp is lit at dusk by the keeper. [1]"
    )


def test_sentences_as_good_are_quoted_too_but_not_twice() -> None:
    sources = [
        source(1, "The lamp is lit at dusk."),
        source(2, "The lamp is lit at dusk!"),
        source(3, "And each lamp is lit again when the tower bell rings for the night."),
    ]
    answer = excerpts("When is the lamp lit?", sources, None)
    assert answer.split("\n\n") == [
        "The lamp is lit at dusk. [1]",
        "And each lamp is lit again when the tower bell rings for the night. [3]",
    ]


def test_markup_of_the_document_is_neither_rendered_nor_shown_twice() -> None:
    text = "- **Note:** the lamp [old](http://x.example) is lit with `oil` and <b>care</b>."
    assert excerpts("lamp lit", [source(1, text)], None) == (
        r"Note: the lamp old is lit with oil and \<b\>care\</b\>. [1]"
    )


def test_the_strongest_passages_are_quoted_whatever_their_numbers() -> None:
    weak = [source(n, f"The lamp {n} is lit at dusk.") for n in range(1, 6)]
    best = replace(source(6, "The lamp is lit at dusk and at dawn."), score=2.0)
    assert "[6]" in excerpts("When is the lamp lit at dawn?", [*weak, best], None)


def test_nothing_to_quote_is_said() -> None:
    assert excerpts("lamp", [], None) == ""
    assert excerpts("lamp", [source(1, "…")], None) == ""


def test_a_very_long_sentence_ends_after_a_word() -> None:
    text = f"The lamp is lit {'and burns oil at night ' * 40}until dawn."
    answer = excerpts("When is the lamp lit?", [source(1, text)], None)
    quoted = answer.removesuffix(" … [1]")
    assert 500 < len(quoted) < len(text)
    assert text.startswith(f"{quoted} ")


def test_rows_become_a_table_below_its_columns() -> None:
    text = "Insurance premiums | 5700 | 6450\nShop stock | 3000 | 3300"
    said = excerpts("How much are insurance premiums?", [source(1, text)], None,
                    surroundings={1: Surroundings("Line | 2025 | 2026")})  # fmt: skip
    assert said == (
        "| Line | 2025 | 2026 |\n| --- | --- | --- |\n| Insurance premiums | 5700 | 6450 [1] |"
    )


def test_figures_without_columns_stand_behind_their_label() -> None:
    text = "Total revenues $ 37,218 $ 34,485 8 %\nCost of sales 21,643 20,441 6 %"
    said = excerpts("What were the total revenues?", [source(1, text)], None)
    assert said == "- Total revenues: $ 37,218 · $ 34,485 · 8 % [1]"


def test_formulas_of_the_document_stay_formulas() -> None:
    text = r"The light of the lamp reaches $d_1 = \sqrt{2 r h}$ miles and costs $5_000 or more."
    assert excerpts("How far does the light of the lamp reach?", [source(1, text)], None) == (
        r"The light of the lamp reaches $d_1 = \sqrt{2 r h}$ miles and costs $5\_000 or more. [1]"
    )


def test_figures_without_columns_say_what_they_are_in() -> None:
    text = "(in millions)\nTotal inventories $ 6,854 $ 7,367\nReceivables 4,463 2,749\n"
    assert excerpts("total inventories", [source(1, text)], None) == (
        "- Total inventories: $ 6,854 · $ 7,367 (in millions) [1]"
    )


def test_a_sentence_with_a_colon_brings_what_it_announces() -> None:
    text = (
        "Here is what a keeper of the lamp should eat:\n\n- leaves\n- berries\n\nGood night to all."
    )
    assert excerpts("What should a keeper eat?", [source(1, text)], None) == (
        "Here is what a keeper of the lamp should eat: [1]\n\n- leaves [1]\n- berries [1]"
    )


def test_a_sentence_with_a_colon_is_not_quoted_without_what_it_announces() -> None:
    sources = [
        source(1, "Here is what a keeper of the lamp should eat:"),
        source(2, "The keeper of the lamp eats bread and herring."),
    ]
    assert excerpts("What should a keeper of the lamp eat?", sources, None) == (
        "The keeper of the lamp eats bread and herring. [2]"
    )


def test_a_sentence_that_goes_on_in_another_passage_has_a_sign() -> None:
    text = "The ferry is red. The lamp of the tower is lit by the keeper and his"
    assert excerpts("Who lights the lamp?", [source(1, text)], None) == (
        "The lamp of the tower is lit by the keeper and his … [1]"
    )
    whole = "The lamp of the tower is lit by the keeper.[25]"
    assert "…" not in excerpts("Who lights the lamp?", [source(1, whole)], None)


def report(text: str, n: int = 1, path: str = "/reports/LANTERNCO_2025.pdf") -> SourceRef:
    return SourceRef(n, "d", path, "Annual report", Anchor(), text, 1.0)


def test_figures_have_the_columns_and_the_title_from_the_text_above_the_passage() -> None:
    above = "CARE OF THE TOWER\n(in thousands) 2025 2024\nOil 700 650\n"
    text = "Panes of glass 1,200 900\nPaint and brushes 80 75\n"
    said = excerpts(
        "What did the panes of glass cost?", [report(text)], None,
        surroundings={1: Surroundings(above=above)},
    )  # fmt: skip
    assert said == (
        "CARE OF THE TOWER: [1]\n\n| in thousands | 2025 | 2024 |\n| --- | --- | --- |\n"
        "| Panes of glass | 1,200 | 900 [1] |"
    )


def test_a_row_is_not_quoted_for_the_name_of_its_report() -> None:
    text = (
        "Lantern Co total return 100.00 84.25\nGlass 1,200 900\n\n"
        "The inventories of glass were worth two million."
    )
    said = excerpts("What were Lantern Co's inventories?", [report(text)], None)
    assert said == "The inventories of glass were worth two million. [1]"


def test_the_row_with_the_label_that_was_asked_for_leads() -> None:
    text = "2025 2024\nOther (income) expense, net 78 66\nNet income 4,029 1,933\n"
    said = excerpts("What was the net income?", [report(text)], None)
    assert "Net income | 4,029 | 1,933 [1]" in said
    assert "Other" not in said


def test_a_sentence_that_began_in_another_passage_has_a_sign() -> None:
    text = "the lamp to everybody who climbs the tower. It is cold there."
    said = excerpts(
        "lamp tower", [source(1, text)], None,
        surroundings={1: Surroundings(above="The keeper shows\n")},
    )  # fmt: skip
    assert said.startswith("… the lamp to everybody who climbs the tower. [1]")


def test_words_in_capitals_are_no_sentence() -> None:
    text = "LANTERN KEEPERS OF THE NORTH, INC. The lantern is kept by three people."
    assert excerpts("Who are the lantern keepers?", [source(1, text)], None) == (
        "The lantern is kept by three people. [1]"
    )


def test_the_report_that_is_named_leads() -> None:
    text = "The adjusted revenue was {} million in the year under review."
    named = replace(report(text.format("four"), 2), score=0.9)
    other = report(text.format("nine"), 1, "/reports/FERRYLINE_2025.pdf")
    said = excerpts("What was the adjusted revenue of Lanternco?", [other, named], None)
    assert said.startswith("The adjusted revenue was four million")


def test_a_passage_below_a_heading_begins_with_a_sentence() -> None:
    text = "Soak the beans for a night. Boil them for an hour."
    said = excerpts(
        "soak beans night", [source(1, text)], None,
        surroundings={1: Surroundings(above="Bean stew\n")},
    )  # fmt: skip
    assert said.startswith("Soak the beans")
