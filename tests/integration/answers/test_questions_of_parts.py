"""A question of several parts is searched part by part, with a model and without one."""

from pathlib import Path

import pytest

from desktop_rag.answer.sources.question_rewriting import question_parts
from desktop_rag.app import Services
from desktop_rag.features.evaluation.measures.search import StatedReader
from tests.asking import ask
from tests.indexed import OpenIndexed, index_texts

TEXTS = {
    "lamp.md": "# Lamp\n\nThe lamp of the lighthouse is lit at dusk by Edith Mowbray.\n",
    "ferry.md": "# Ferry\n\nThe ferry Corvina sails to the island at noon.\n",
    "bread.md": "# Bread\n\nThe bakery opens at six and sells rye bread.\n",
}


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Who lights the lamp, and when does the ferry sail?",
            ["Who lights the lamp", "When does the ferry sail?"],
        ),
        (
            "Wer zündet die Lampe an und wann fährt die Fähre?",
            ["Wer zündet die Lampe an", "Wann fährt die Fähre?"],
        ),
        ("Who lights the lamp? Who bakes?", ["Who lights the lamp?", "Who bakes?"]),
        ("Who leads it, at what fee?", ["Who leads it", "At what fee?"]),
        ("When does it open, what does it cost?", ["When does it open", "What does it cost?"]),
        ("In the season of 1965, what place did it have?", None),
        ("When it rains, who pays for the roof?", None),
        ("Wenn es regnet, wer zahlt das Dach?", None),
        ("What are the rent and the deposit?", ["What are the rent and the deposit?"]),
        ("Is it true that cats, dogs and birds are allowed?", None),
        ("And where?", None),
        ("", None),
    ],
)
def test_the_parts_of_a_question(question: str, parts: list[str] | None) -> None:
    assert question_parts(question) == (parts or [question])


@pytest.mark.slow
def test_without_a_model_each_part_has_its_excerpts(services: Services, tmp_path: Path) -> None:
    index_texts(services, tmp_path / "papers", TEXTS)
    message = ask(services, "Who lights the lamp, and when does the ferry sail?")
    first, second = message.text.split("**When does the ferry sail?**")
    assert first.startswith("**Who lights the lamp**\n\n*lamp.md*: The lamp of the lighthouse")
    assert "sails to the island at noon" in second
    assert message.is_excerpts
    cited = {Path(source.path).name for source in message.sources if source.is_cited}
    assert cited == {"lamp.md", "ferry.md"}


AGREEMENTS = {
    "orre.md": "# Agreement with Orre\n\nThe penalty is 400 euro. Norwegian law applies.\n",
    "vosk.md": "# Agreement with Vosk\n\nThe penalty is 900 euro. Swiss law applies.\n",
    "party.md": "# Party\n\nThe summer party costs 320 euro, with music.\n",
    "policy.md": "# Policy\n\nAstor insures the boats; the premium is 64 euro a year.\n",
    "prices.md": "# Prices\n\nThe premium paint and the premium tea cost 7 euro each.\n",
    "spent.csv": "Person,Category,Amount\nAda,Ink,5\nAda,Glue,3\nAda,Glue,4\nBo,Glue,9\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        # What a part names holds for the next one, unless that is about something else.
        ("What is the penalty in the agreement with Orre, and which law applies?",
         "400 euro", "Norwegian"),
        ("What is the penalty in the agreement with Vosk, and what does the summer party cost?",
         "900 euro", "320 euro"),
        # A single word is asked about the part before it.
        ("Who insures the boats, and what is the premium?", "Astor", "64 euro"),
        # Each may be a query of a table.
        ("How much did Ada spend on ink and how much on glue?", "**5**", "**7**"),
    ],
)  # fmt: skip
def test_a_part_may_be_about_what_those_before_it_name(
    open_indexed: OpenIndexed, question: str, first: str, second: str
) -> None:
    *_, heading = question_parts(question)
    one, other = ask(open_indexed(AGREEMENTS), question).text.split(f"**{heading}**")
    assert first in one
    assert second in other


@pytest.mark.slow
def test_each_thing_that_is_compared_has_places_in_the_prompt(open_indexed: OpenIndexed) -> None:
    said = {
        "Adobe": "The operating margins of Adobe, to compare with others, were {n} percent.",
        "Nike": "Compare: the operating margins of Nike were {n} percent of its sales.",
        "General Mills": "At General Mills {n} of each hundred dollars were left as a profit.",
    }
    texts = {f"{n}.md": said[name].format(n=n) for n, name in enumerate(12 * list(said))}
    asked = "Compare the operating margins of Adobe, Nike and General Mills."
    prompt = open_indexed(texts).chat.first_prompt(asked, StatedReader(4_000))
    first = " ".join(source.text for source in prompt.sources[:6])
    assert [name for name in said if name not in first] == []


@pytest.mark.slow
def test_in_a_file_that_is_named_what_a_measure_is_made_of_is_searched(
    open_indexed: OpenIndexed,
) -> None:
    about = "Orre Lines is quick, and the ratio of its plans has improved since 2022. "
    parts = [f"## Plan {n}\n\n{about * 12}" for n in range(60)]
    parts.insert(37, "## Accounts\n\nReceivables 12.1 11.5\nTotal current liabilities 176.5 157.8")
    texts = {"Orre Lines 2022.md": "\n\n".join(parts)}
    asked = "Has the quick ratio of Orre Lines improved since 2022?"
    prompt = open_indexed(texts).chat.first_prompt(asked, StatedReader(8_000))
    assert any("liabilities 176.5" in source.text for source in prompt.sources)


@pytest.mark.slow
def test_a_passage_that_answers_two_parts_has_one_number(
    services: Services, tmp_path: Path
) -> None:
    index_texts(services, tmp_path / "papers", TEXTS)
    message = ask(services, "Who lights the lamp, and when is the lamp lit?")
    assert "**When is the lamp lit?**" in message.text
    assert len({source.passage for source in message.sources}) == len(message.sources)
    assert [source.n for source in message.sources] == [*range(1, len(message.sources) + 1)]
