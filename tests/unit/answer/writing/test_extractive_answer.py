from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.answer.search.meaning import KnownVectors, Meaning, SimilarityCalibration
from desktop_rag.answer.writing import extractive_answer
from desktop_rag.answer.writing.excerpt_candidates import (
    Surroundings,
    Version,
    has_figure,
    has_time,
    named_in,
    versions_of,
)
from desktop_rag.answer.writing.relevance import Doubt
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.languages import question_language
from desktop_rag.core.parsed import Anchor
from desktop_rag.models.embedding.joined_embedding import BUNDLED, OnnxEmbedder, bundled_folders
from desktop_rag.models.ports import Vectors
from tests.conftest import bundled_embedder
from tests.stored_rows import document


def excerpts(*asked: Any, **more: Any) -> str:
    return extractive_answer.excerpts(*asked, **more).text


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
        r"- Note: the lamp old is lit with oil and \<b\>care\</b\>. [1]"
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


def test_an_item_is_quoted_below_what_it_stands_under() -> None:
    text = "Not insured are:\n- the fence and the gate of the garden\n- the chairs"
    assert excerpts("Who pays for the gate of the garden?", [source(1, text)], None) == (
        "Not insured are: [1]\n\n- the fence and the gate of the garden [1]"
    )


def test_a_further_sentence_is_quoted_with_the_label_of_its_line() -> None:
    text = "• Outlook for 2027: Sales of lamps rise slowly. Costs of oil fall by half."
    assert excerpts("How do costs of oil change?", [source(1, text)], None) == (
        "**Outlook for 2027:** Costs of oil fall by half. [1]"
    )


def test_a_line_with_a_label_and_a_short_sentence_may_be_the_answer() -> None:
    text = (
        "The boats are on loan from the harbour of the town.\n\nLab: Greenlab.\n\nCats are allowed."
    )
    assert excerpts("Are cats allowed?", [source(1, text)], None) == "Cats are allowed. [1]"
    assert excerpts("What is Greenlab?", [source(1, text)], None) == "Lab: Greenlab. [1]"


def test_the_heading_above_a_sentence_has_words_of_the_question_for_it() -> None:
    text = "The tenant is Jonas Keller, the owner Hanna Brandt. The lamp costs 40 euros a month."
    below = replace(source(1, text), anchor=Anchor(heading="Lease › Parties"))
    said = "The tenant is Jonas Keller, the owner Hanna Brandt. [1]"
    assert excerpts("Who are the parties?", [source(2, "The lamp is red today."), below], None) == (
        f"{said}\n\nThe lamp costs 40 euros a month. [1]"
    )
    pets = "Lamps must be put out by ten at night.\n\nPets\nCats may sleep in all of the rooms."
    assert excerpts("What about pets?", [source(1, pets)], None) == (
        "Cats may sleep in all of the rooms. [1]"
    )


def test_a_short_form_is_whole_where_its_heading_alone_is_asked_for() -> None:
    meeting = source(
        1,
        "Board meeting\nDate: 3 May 2026, 18:00\nPlace: Salt house\nPeople: Bo Lind\n\n"
        "Oar race\nDate: 9 May 2026\nPlace: East pier",
    )
    whole = ["Board meeting: [1]", "- Date: 3 May 2026, 18:00 [1]", "- Place: Salt house [1]",
             "- People: Bo Lind [1]"]  # fmt: skip
    for question in ("When does the board meet?", "Where does the board meet?"):
        assert excerpts(question, [meeting], None).split("\n")[-5:] == [whole[0], "", *whole[1:]]
    assert "East pier [1]" in excerpts("Where is the oar race?", [meeting], None)


def test_a_date_is_more_than_its_numbers() -> None:
    text = "Lamp | 2026-01-02 | 10\nLamp | 2026-01-10 | 7\nLamp | 2026-10-01 | 2"
    said = excerpts("How many lamps on 2026-01-10?", [source(1, text)], None,
                    surroundings={1: Surroundings("Item | Date | Count")})  # fmt: skip
    assert said.splitlines()[2:] == ["| Lamp | 2026-01-10 | 7 [1] |"]


def test_a_question_of_the_document_answers_none() -> None:
    text = "How much does the lamp of the tower cost? The lamp of the tower costs 40 euros."
    assert excerpts("How much does the lamp of the tower cost?", [source(1, text)], None) == (
        "The lamp of the tower costs 40 euros. [1]"
    )


def test_how_many_is_answered_by_a_piece_with_a_number() -> None:
    sources = [
        source(1, "The employees of the tower may choose their own lamp."),
        source(2, "As of May, the tower had some 120 employees in all."),
    ]
    answer = excerpts("How many employees does the tower have?", sources, None, wanted=has_figure)
    assert answer.startswith("As of May, the tower had some 120 employees in all. [2]")


def test_the_line_with_the_label_that_is_asked_for_comes_first() -> None:
    said = "Address: Hafenweg 3, Kiel. Phone: 0431 77 20 11. Post: Hafenweg 4. Contact: Ute Lorenz."
    named = replace(source(1, said), title="Contacts", path="/contacts.md")
    around = {1: Surroundings(heading="Brant")}
    answer = excerpts("Who is the contact at Brant?", [named], None, "", around)
    assert "Contact: Ute Lorenz." in answer, answer


def test_when_is_answered_by_a_piece_with_a_time() -> None:
    sources = [source(1, "The oil of the tower comes by ship. The oil of the tower comes in May.")]
    answer = excerpts("When does the oil come?", sources, None, wanted=has_time)
    assert answer.startswith("The oil of the tower comes in May. [1]")


def test_a_passage_far_behind_the_best_one_is_not_quoted() -> None:
    best = replace(source(1, "Cats are allowed."), score=8.0)
    far = replace(source(2, "Cats of the tower sleep by the lamp all day long."), score=2.0)
    assert excerpts("Are cats allowed?", [best, far], None) == "Cats are allowed. [1]"


def test_who_a_mail_is_from_does_not_answer_what_it_says() -> None:
    text = "From: Jo Winter <jo@x.example>\nTo: Tom Beck\n\nThe boats of the harbour must be red."
    assert excerpts("What does Jo Winter want?", [source(1, text)], None) == (
        "The boats of the harbour must be red. [1]"
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


def meaning(question: str) -> Meaning:
    language = question_language(question)
    return Meaning(
        question, language, [(bundled_embedder(), None)], SimilarityCalibration(), KnownVectors()
    )


def test_what_is_about_something_else_is_not_quoted() -> None:
    text = "Construction of a new building at our headquarters is nearly complete."
    asked = "How tall is the Eiffel Tower?"
    assert excerpts(asked, [source(1, text)], meaning(asked), doubt=Doubt()) == ""
    assert excerpts(asked, [source(1, text)], meaning(asked)) == f"{text} [1]"
    said = "The tower in Paris measures 330 metres up to its tip."
    assert excerpts(asked, [source(1, said)], meaning(asked), doubt=Doubt()) == f"{said} [1]"


def test_the_word_that_is_asked_for_is_never_nothing() -> None:
    for asked, text in (
        ("policy", "Insurance is with Nordlys, policy NL-77-21."),
        ("Who fixed the roof?", "The roof was mended by Halden Roofing after the storm."),
        ("How much barley?", "The warehouse stores 40 tons of barley."),
    ):
        said = excerpts(asked, [source(1, text)], meaning(asked), doubt=Doubt())
        assert said == f"{text} [1]"


def test_no_answer_is_made_of_what_is_apart() -> None:
    asked, text = (
        "Who fixed the roof of the Salford depot?",
        "The roof was fixed by Halden Roofing.",
    )
    found = partial(excerpts, asked, [source(1, text)], meaning(asked))
    assert found(doubt=Doubt()) == f"{text} [1]"
    assert found(doubt=Doubt(frozenset({1}))) == ""


def test_what_is_apart_is_not_quoted_because_another_language_comes_near() -> None:
    sources = [
        source(1, "The rent of the depot is 900 euro a month."),
        source(2, "The rent of the barn is 700 euro a month."),
    ]
    around = {1: Surroundings(language="en"), 2: Surroundings(language="de")}
    asked = "How much is the rent in Salford?"
    found = partial(excerpts, asked, sources, meaning(asked), "", around)
    assert "[1]" in found(doubt=Doubt())
    assert "[1]" not in found(doubt=Doubt(frozenset({1})))


def test_in_another_language_the_document_that_is_named_leads() -> None:
    asked = "Wie hoch ist die Strafe im Vertrag mit Halden?"
    sources = [
        replace(report("Vertragsstrafen: hohe Strafzahlungen.", 1), score=1.0),
        replace(report("A breach costs 4,000 euro.", 2, "/Halden.docx"), score=0.5),
    ]
    around = {n: Surroundings(language="en") for n in (1, 2)}
    said = excerpts(asked, sources, meaning(asked), "", around)
    assert said.startswith("A breach costs 4,000 euro. [2]")
    assert "[1]" not in said


def test_an_article_in_a_title_is_no_name() -> None:
    asked = "When is the elevator inspected?"
    sources = [
        replace(report("Lessons start at eight.", 1), title="The river school"),
        replace(report("Technicians check the lift each June.", 2), title="Haus"),
    ]
    around = {1: Surroundings(language="en"), 2: Surroundings(language="de")}
    assert "each June. [2]" in excerpts(asked, sources, meaning(asked), "", around)


def test_a_word_such_as_in_does_not_decide_where_all_have_the_others() -> None:
    said = "The ALIGN directive moves the next element to a multiple of its parameter."
    passage = replace(
        report(f"{said}\n\nALIGN is not needed in new code of any kind.", 1), title="ALIGN (MASM)"
    )
    asked = "What does ALIGN do in MASM?"
    assert said in excerpts(asked, [passage], meaning(asked)).split("\n\n")[0]


def test_no_answer_is_made_of_what_only_has_the_name() -> None:
    asked, text = "What is the salary of Tilda Crane?", "It is led by Tilda Crane of Bergen."
    found = partial(excerpts, asked, [source(1, text)], meaning(asked))
    assert found(doubt=Doubt()) == f"{text} [1]"
    assert found(doubt=Doubt(bare="What is the salary of?")) == ""


def test_a_question_in_some_language_but_english_is_not_across_from_its_own() -> None:
    text = "Wir zahlen:\n- das Dach bis 3.200 Euro\n\nDer Turm ist weiß und steht am Hafen."
    around = {1: Surroundings(language="de"), 2: Surroundings(language="en")}
    sources = [source(1, text), source(2, "The tower pays for nothing at all.")]
    asked = "Was zahlt Nordlicht für das Dach?"
    said = excerpts(asked, sources, meaning(asked), "", around)
    assert said.startswith("Wir zahlen: [1]\n\n- das Dach bis 3.200 Euro [1]")


def test_each_quote_says_what_it_is_about_and_where_it_stands() -> None:
    sources = [
        replace(source(1, "The mast is 12 metres high."), anchor=Anchor(heading="Boats › Gull")),
        replace(
            source(2, "The mast is 9 metres high, made of ash."), anchor=Anchor(heading="Tern")
        ),
    ]
    around = {n: Surroundings(name="boats.md") for n in (1, 2)}
    said = excerpts("How high is the mast?", sources, None, surroundings=around)
    assert said.split("\n\n") == [
        "**Gull** (boats.md): The mast is 12 metres high. [1]",
        "**Tern** (boats.md): The mast is 9 metres high, made of ash. [2]",
    ]


def test_a_heading_of_function_words_is_no_subject() -> None:
    cut = replace(source(1, "The mast is 12 metres high."), anchor=Anchor(heading="For the"))
    around = {1: Surroundings(name="boats.md")}
    said = excerpts("How high is the mast?", [cut], None, surroundings=around)
    assert said == "*boats.md*: The mast is 12 metres high. [1]"


def test_the_title_of_the_first_record_is_not_that_of_the_others() -> None:
    text = "Address: Quay {n}, Oslo. Phone: 55 1{n} 20."
    sources = [
        replace(source(1, text.format(n=1)), title="Gull Ltd", anchor=Anchor(heading="Gull Ltd")),
        replace(source(2, text.format(n=2)), title="Gull Ltd", anchor=Anchor(heading="Tern Ltd")),
    ]
    around = {1: Surroundings(name="firms.md"), 2: Surroundings(name="firms.md", is_titled=False)}
    assert excerpts("What is the phone of Gull Ltd?", sources, None, surroundings=around) == (
        "**Gull Ltd** (firms.md): Phone: 55 11 20. [1]"
    )


def test_the_newest_version_answers_and_others_are_called_older() -> None:
    rents = {1: 850, 2: 800, 3: 910}
    sources = [
        replace(source(n, f"The rent of the hall is {rent} EUR a month."), score=2.0 - n)
        for n, rent in rents.items()
    ]
    around = {
        n: Surroundings(
            name=f"lease_v{n}.md",
            version=Version(("lease",), f"202{n}-01-10", is_older=n != 3),
            older="" if n == 3 else "older version",
        )
        for n in rents
    }
    said = excerpts("What is the rent of the hall?", sources, None, surroundings=around)
    first, *others = said.split("\n\n")
    assert first == "*lease\\_v3.md*: The rent of the hall is 910 EUR a month. [3]"
    assert others
    assert all("older version" in other for other in others)
    said = excerpts("What was the rent of the hall in 2021?", sources, None, surroundings=around)
    assert said.startswith("*lease\\_v1.md, older version*: ")


def test_the_title_of_an_older_document_names_it_no_more_than_another() -> None:
    sources = [
        replace(
            report("A notice period of our six months.", 1, "/Lease Mill 4.docx"),
            title="Lease agreement",
        ),
        replace(
            report("The notice period is three months.", 2, "/Lease Quay 3 (expired).docx"),
            title="Office lease",
        ),
    ]
    around = {
        1: Surroundings(name="Lease Mill 4.docx"),
        2: Surroundings(name="Lease Quay 3 (expired).docx", older="older"),
    }
    for asked, first in (
        ("What is the notice period of our office lease?", "our six months. [1]"),
        ("What was the notice period of the Quay lease?", "three months. [2]"),
    ):
        said = excerpts(asked, sources, None, surroundings=around)
        assert said.splitlines()[0].endswith(first)


def test_versions_are_told_by_names_dates_and_folders() -> None:
    def older(*paths: str, dated: str = "", head: str = "") -> list[str]:
        documents = [
            replace(document(str(n)), document_id=str(n), path=Path(path), dated=dated)
            for n, path in enumerate(paths)
        ]
        found = versions_of(documents, dict.fromkeys(map(str, range(len(paths))), head))
        return [paths[int(key)] for key, version in found.items() if version.is_older]

    assert older("/a/plan_v1.md", "/a/plan_v3.md", "/a/plan_v2.md") == [
        "/a/plan_v1.md", "/a/plan_v2.md",
    ]  # fmt: skip
    assert older("/a/Minutes 2025-10-21.md", "/a/Minutes 2025-09-16.md") == [
        "/a/Minutes 2025-09-16.md"
    ]
    assert older("/a/old/Lease Quay 3.docx", "/a/Lease Mill 4.docx") == ["/a/old/Lease Quay 3.docx"]
    assert older("/a/Rules (draft).md", "/a/Rules.md") == ["/a/Rules (draft).md"]
    assert older("/a/north.md", "/a/south.md", head="Since 2020-01-01") == []
    assert older("/a/Fees v1.md", "/a/Fees final.md", "/a/Fees v2.md") == [
        "/a/Fees v1.md", "/a/Fees v2.md",
    ]  # fmt: skip
    assert older("/a/Rates 2022.md", "/a/Rates_2024-03.md", "/a/Rates.md") == ["/a/Rates 2022.md"]
    assert older("/a/Rates 2022.md", "/a/Rates draft 2024.md") == ["/a/Rates draft 2024.md"]


def test_a_month_in_the_first_lines_dates_a_version() -> None:
    paths = {"1": "/a/House rules.md", "2": "/b/House rules.md"}
    documents = [replace(document(key), document_id=key, path=Path(p)) for key, p in paths.items()]
    heads = {"1": "House rules\nAs of March 2019", "2": "House rules\nStand: Oktober 2023"}
    found = versions_of(documents, heads)
    assert [version.is_older for version in found.values()] == [True, False]


def test_a_sentence_that_goes_on_is_quoted_with_the_one_before() -> None:
    text = "We recommend closing the yard in Molde. This saves EUR 640,000 a year."
    assert excerpts("What does closing the yard in Molde save?", [source(1, text)], None) == (
        "We recommend closing the yard in Molde. This saves EUR 640,000 a year. [1]"
    )


def test_a_comparison_quotes_both_sides() -> None:
    sources = [
        replace(
            source(1, "The fee is 90 EUR a month. The notice is six weeks long."), document_id="a"
        ),
        replace(
            source(2, "The fee is 40 EUR a month. The notice is two weeks long."), document_id="b"
        ),
    ]
    asked = "Compare fee and notice"
    said = excerpts(asked, sources, None, is_comparison=True)
    assert [word in said for word in ("90 EUR", "six weeks", "40 EUR", "two weeks")] == [True] * 4


def test_a_word_counts_at_an_end_of_another() -> None:
    sources = [
        source(1, "The duck of the harbour hates bread and toast."),
        source(2, "Some ducks of the north are migratory."),
    ]
    assert excerpts("Do ducks migrate?", sources, None).startswith("Some ducks of the north")


def test_the_head_of_a_mail_names_it_but_the_labels_of_the_head_do_not() -> None:
    mail = source(1, "From: Petra Holm\nDate: Mon, 3 Nov 2025\n\nThe wheel stands still.")
    assert named_in(mail, {"date", "holm"}) == {"holm"}


def test_excerpts_are_sure_by_the_first_of_them() -> None:
    asked = "Who waters the plants in the hall?"
    sources = [source(1, "The plants in the hall of the mill are watered by Petra Holm.")]
    meaning = Meaning(
        asked, "en", [(bundled_embedder(), None)], SimilarityCalibration(), KnownVectors()
    )
    assert extractive_answer.excerpts(asked, sources, meaning, doubt=Doubt()).is_sure
    sources = [source(1, "Ducks eat plants and grasses that grow in water, and small fish.")]
    assert not extractive_answer.excerpts(asked, sources, meaning, doubt=Doubt()).is_sure


@pytest.mark.everyday
def test_the_next_question_embeds_only_what_none_before_it_was_compared_with() -> None:
    embedded: list[str] = []

    class Counted(OnnxEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            embedded.extend(texts)
            return super().embed_passages(texts)

    embedder = Counted(bundled_folders()[BUNDLED])
    known, calibration = KnownVectors(), SimilarityCalibration()
    calibration.unrelated(embedder)
    embedded.clear()
    texts = ["The lamp is lit at dusk.", "The ferry leaves at noon."]
    near = [
        Meaning(asked, "en", [(embedder, None)], calibration, known).nearness(texts[:n], ["en"] * n)
        for asked, n in (("When is the lamp lit?", 1), ("When does the ferry leave?", 2))
    ]
    assert embedded == texts
    assert near[0][0] > near[1][0] < near[1][1]
