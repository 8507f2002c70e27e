"""What is in three files is found as in three thousand, and what is not there is said."""

import pytest

from desktop_rag.app import Services
from desktop_rag.cli.output import answer_json
from tests.asking import ask
from tests.indexed import OpenIndexed
from tests.unit.ingest.read.office.test_slides import make_pptx, shape, slide_xml

pytestmark = pytest.mark.slow

FILES = {
    "mill.md": """# The Vosk mill

The mill grinds 12 tons of rye. It is run by Petra Holm, who lives in Narvik.
The wheel was mended after the flood of 2018 by Sander Joinery for 9,300 euro.
The mill was sold by the United Rye Traders of Bergen in 1990.
Sacks arrive on Mondays before ten. The fire policy is with Astor, number AS-41-07.
""",
    "piet.txt": """Piet's birthday is on 3 July. He hates cheese and works as a baker in Delft.
His boat is a green dinghy.
""",
    "garten.md": """# Garten

Der Apfelbaum wurde 2011 gepflanzt. Der Gärtner kommt jedes Jahr im November.
Die Regentonne fasst 200 Liter.
""",
}


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    return open_indexed(FILES)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("policy", "AS-41-07"),
        ("Who repaired the wheel?", "Sander Joinery"),
        ("How much rye?", "12 tons"),
        ("When did the URT sell the mill?", "1990"),
        ("What colour is his boat?", "green"),
        ("Wie alt ist der Apfelbaum?", "2011"),
        ("Wie viel fasst die Tonne?", "200"),
        # Across languages.
        ("When does the gardener come?", "November"),
        ("Wann hat Piet Geburtstag?", "3 July"),
    ],
)
def test_what_is_there_is_found(indexed: Services, question: str, said: str) -> None:
    answer = ask(indexed, question)
    assert answer.sources
    assert said in answer.text.replace("\\", "")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who repaired the wheel in Tromsø?", "**Tromsø** is in none of your documents."),
        ("What did Bergström deliver?", "**Bergström** is in none of your documents."),
        ("When does the agreement with Bergström Ltd end?", "**Bergström Ltd** is in none of"),
        ("How high is invoice QT-99120?", "**QT-99120** is in none of your documents."),
        ("Wo wohnt Frau Wischnewski?", "**Wischnewski** steht in keinem Ihrer Dokumente."),
        ("Which medicine helps against coughs?", "Nothing in your documents seems to be about"),
    ],
)
def test_what_is_not_there_is_said_before_the_nearest(
    indexed: Services, question: str, said: str
) -> None:
    answer = ask(indexed, question)
    assert answer.text.startswith(said)
    assert not answer.sources
    assert answer.nearest
    assert any(f"**{name}**: " in answer.text for name in FILES)


def test_the_nearest_is_near_to_more_than_a_name(indexed: Services) -> None:
    answer = ask(indexed, "What is Piet's job?")
    assert answer.text.endswith("**piet.txt**: He hates cheese and works as a baker in Delft.")


def test_what_may_not_be_about_the_question_says_so_first(indexed: Services) -> None:
    hedge = "Perhaps not about your question. The nearest:\n\n"
    unsure, sure = ask(indexed, "Who painted the wheel?"), ask(indexed, "Who mended the wheel?")
    assert unsure.text.startswith(hedge)
    assert answer_json(unsure)["is_unsure"]
    assert unsure.notes
    assert unsure.notes.files
    assert unsure.notes.files.read == len({source.document_id for source in unsure.sources})
    assert not sure.text.startswith(hedge)
    assert "is_unsure" not in answer_json(sure)


def test_a_row_answers_what_is_asked_of_its_name(open_indexed: OpenIndexed) -> None:
    services = open_indexed({"prices.csv": "Product,Price\nTarvex,40\n"})
    assert "| Tarvex | 40 [1] |" in ask(services, "What does Tarvex cost?").text
    assert not ask(services, "What does Molvex cost?").sources


def test_the_title_of_a_slide_counts_for_the_line_below_it(open_indexed: OpenIndexed) -> None:
    report = "Sales of 2024, 2025 and 2026: we expect that sales grow in 2026, as in other years."
    services = open_indexed(
        {
            "plan.pptx": make_pptx(
                slide_xml(shape("Plan", kind="ctrTitle"), shape("A retreat of the partners")),
                slide_xml(shape("Target of sales", kind="title"), shape("EUR 3.1 million in 2026")),
            ),
            "report.md": report,
        }
    )
    answer = ask(services, "What is the target of sales for 2026?")
    assert answer.text.startswith("**Target of sales** (plan.pptx): EUR 3.1 million in 2026")


def test_rows_are_counted_in_the_sheet_that_has_their_name(open_indexed: OpenIndexed) -> None:
    sheet = "Date,Amount\n" + "".join(f"2025-01-{n:02},{n}\n" for n in range(1, 10))
    rows = "| Kind | 2022 |\n|---|---|\n| Rent | 3 |\n| Pay | 4 |\n"
    report = f"# Operating expenses\n\n{rows}"
    services = open_indexed({"expenses 2025.csv": sheet, "report.md": report})
    assert "**9**" in ask(services, "How many expenses are there in the list?").text


def test_a_part_of_a_question_without_an_answer_is_not_left_out(indexed: Services) -> None:
    answer = ask(indexed, "Who repaired the wheel, and who painted the door of the Bergström barn?")
    assert "Sander Joinery" in answer.text
    assert "**Bergström** is in none of your documents." in answer.text


def test_words_alone_are_compared_in_a_language_that_no_model_reads(indexed: Services) -> None:
    answer = ask(indexed, "Hợp đồng với Astor kết thúc khi nào?")
    assert answer.notes
    assert "No model here reads the language of this question" in answer.notes.in_words()


def test_what_another_firm_reports_is_not_ours(open_indexed: OpenIndexed) -> None:
    notes = {f"note{n}.md": f"Note {n} of Orrin Mills Ltd about sack {n}." for n in range(25)}
    report = "Karst Inc pays into a pension plan. Our pension plan is run by Karst Trust Ltd."
    services = open_indexed({**notes, "karst_2022.md": report})
    assert not ask(services, "What is our pension plan?").sources
    assert ask(services, "What is the pension plan of Karst?").sources


def test_a_name_alone_does_not_make_a_piece_the_answer(open_indexed: OpenIndexed) -> None:
    text = "Petra Maria Holm had dinner with clients. Petra Maria Holm paid for the tram."
    services = open_indexed({**FILES, "expenses.txt": text})
    answer = ask(services, "What is Petra Maria Holm's favourite tram line?")
    assert not answer.sources or (answer.notes and answer.notes.is_unsure)


def test_a_file_that_bears_the_words_of_the_question_is_never_nothing(
    open_indexed: OpenIndexed,
) -> None:
    deed = "This deed lasts three years. The contractual penalty is EUR 40,000."
    services = open_indexed({**FILES, "NDA Tarvex Robotics.txt": deed})
    answer = ask(services, "Wie hoch ist die Vertragsstrafe im NDA mit Tarvex?")
    assert "The contractual penalty is EUR 40,000." in answer.text
    assert answer.notes
    assert answer.notes.is_unsure


PAPERS = {
    "papers.txt": "Skiff papers, short\n\nBreakdown cover: up to 5 tows a year, also abroad.\n"
    "Cover: Albion Mutual, certificate AM-5520-771, comprehensive, levy 350. Renewal on 14 June."
    " No skipper under 25.\nRope changed in August 2024, bill 640.\n",
    "ideas.txt": "Ideas, unsorted\n\n- Offer the bakers a second visit in spring.\n"
    "- Feast of summer: boat on the Brink, 60 people, 3,200 crowns.\n",
    "minutes.md": "# Minutes\n\n## Bread oven\n\nDecision: lease an oven for 95 crowns a month."
    " Votes: 2 for, 1 against (Tom).\n",
}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How high is the levy?", "levy 350"),
        ("What do we know of the oven and of the feast on the Brink: cost and who was against?",
         "Feast of summer"),
    ],
)  # fmt: skip
def test_a_piece_with_the_telling_words_of_the_question_is_never_nothing(
    open_indexed: OpenIndexed, question: str, said: str
) -> None:
    answer = ask(open_indexed({**FILES, **PAPERS}), question)
    assert answer.sources
    assert said in answer.text
