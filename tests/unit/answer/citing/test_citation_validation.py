"""The citations of a finished answer: the quotes found, and the markers added where certain."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.answer.citing.citations import citations, finish_answer
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from tests.unit.answer.citing.test_citations import TEXTS


def source(n: int, text: str, start: int = 0) -> SourceRef:
    end = start + len(text)
    return SourceRef(n, f"d{n}", f"/{n}.md", f"T{n}", Anchor(), text, 1.0, start=start, end=end)


HANDBOOK = (
    "The keeper cleans the lens. The lamp is lit at dusk and put out at dawn. Oil is kept in tins."
)
HISTORY = "The light was built in 1902. The first keeper was paid in oil."


def test_the_result_of_a_query_is_cited_as_a_whole() -> None:
    """Its words stand nowhere in the document, and its place is that of the rows it rests on."""
    result = replace(source(1, "Result of a query:\npounds\n42", 500), query="SELECT 42 AS pounds")
    _, [cited] = finish_answer("They brought 42 pounds [1].", [result])
    assert cited == replace(result, is_cited=True)
    assert cited.narrowed(0, 6) == cited
    _, [cited] = finish_answer("The result of a query: pounds 42 [1].", [result])
    assert cited == replace(result, is_cited=True)


def test_a_cited_source_gets_the_sentence_it_rests_on() -> None:
    sources = (source(1, HANDBOOK, 500), source(2, HISTORY, 40), source(3, "Fog.", 0))
    text, (first, second, third) = finish_answer(
        "It is lit at dusk [1]. They built it in 1902. [2][8]", sources
    )
    assert text == "It is lit at dusk [1]. They built it in 1902. [2]"
    assert first.quote == "The lamp is lit at dusk and put out at dawn."
    assert (first.start, first.end) == (528, 572)
    assert (500 + HANDBOOK.index(first.quote), first.is_cited) == (first.start, True)
    assert (second.quote, second.start, second.end) == ("The light was built in 1902.", 40, 68)
    assert third == sources[2]


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        ("Rooms are cold. The keeper cleans it [1]. Dusk, dawn.", "The keeper cleans the lens."),
        ("Oil is in tins. [1] The keeper is a cleaner.", "Oil is kept in tins."),
        ("Sources:\n[1] Oil in tins", "Oil is kept in tins."),
        ("- The lens [1]\n- At dusk", "The keeper cleans the lens."),
    ],
)
def test_which_sentence_is_quoted(answer: str, quote: str) -> None:
    found = finish_answer(answer, (source(1, HANDBOOK), source(2, HISTORY)))[1][0]
    assert found.quote == quote
    assert HANDBOOK[found.start : found.end] == quote


def test_a_row_of_figures_is_quoted_alone() -> None:
    passage = (
        "CARE OF THE TOWER\n2025 2024 % Change\nOil for the lamp $ 700 $ 650 8 %\n"
        "Panes of glass 1,200 900 33 %\nMost of the oil for the lamp was bought in May of 2025."
    )
    answer = (
        "CARE OF THE TOWER: [1]\n\n|  | 2025 | 2024 | % Change |\n| --- | --- | --- | --- |\n"
        "| Oil for the lamp | $ 700 | $ 650 | 8 % [1] |"
    )
    [cited] = finish_answer(answer, [source(1, passage, 100)])[1]
    assert cited.quote == "Oil for the lamp $ 700 $ 650 8 %"
    assert passage[cited.start - 100 : cited.end - 100] == cited.quote


@pytest.mark.parametrize(
    "answer", ["Die Leuchte brennt nachts [1].", "[1]", "It is forty-two [1]."]
)
def test_words_that_back_nothing_are_not_marked(answer: str) -> None:
    found = finish_answer(answer, (source(1, HANDBOOK), source(2, HISTORY)))[1][0]
    assert found == replace(source(1, HANDBOOK), is_cited=True)


def test_a_sentence_without_the_power_of_its_source_is_not_marked() -> None:
    passage = source(1, "It can hold 3 × 10⁶ tonnes of oil.")
    assert finish_answer("It can hold 3 × 106 tonnes of oil.", (passage,))[0].endswith("oil.")
    assert finish_answer("It can hold 3 × 10⁶ tonnes of oil.", (passage,))[0].endswith(" [1].")


def test_the_best_of_several_citing_sentences_counts() -> None:
    answer = "There is a keeper [1]. The lamp is lit at dusk and put out at dawn [1]."
    found = finish_answer(answer, (source(1, HANDBOOK),))[1][0]
    assert found.quote == "The lamp is lit at dusk and put out at dawn."


@pytest.mark.parametrize(
    "passage",
    [
        "The lamp burns at night above the wide grey sea. The lamp burns at night.",
        "The lamp burns at night. The lamp burns at night above the wide grey sea.",
        "The lamp burns at night. The lamp burns at night!",
    ],
)
def test_of_sentences_that_say_the_same_the_shortest_is_quoted(passage: str) -> None:
    found = finish_answer("The lamp burns at night [1].", (source(1, passage),))[1][0]
    assert found.quote == "The lamp burns at night."


def test_a_longer_sentence_is_quoted_where_it_says_more() -> None:
    passage = "The lamp burns. The lamp burns at night above the wide grey sea. Night lamp."
    found = finish_answer("At night the lamp burns above the sea [1].", (source(1, passage),))[1][0]
    assert found.quote == "The lamp burns at night above the wide grey sea."


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        # One word of five sentences weighs 1.8, a word that no source has 3: .37, .23, .17 of all.
        ("Lens zinc [1].", "The keeper cleans the lens."),
        ("Lens zinc gold [1].", "The keeper cleans the lens."),
        ("Lens zinc gold iron [1].", ""),
        ("Keeper lens zinc gold [1].", "The keeper cleans the lens."),
        # A second sentence that says nothing of it takes nothing away from the first.
        ("Lens [1]. Zinc gold iron copper lead [1].", "The keeper cleans the lens."),
        ("Zinc gold iron copper lead [1]. Lens [1].", "The keeper cleans the lens."),
    ],
)
def test_a_quote_has_a_fifth_of_the_weight_in_common(answer: str, quote: str) -> None:
    found = finish_answer(answer, (source(1, HANDBOOK), source(2, HISTORY)))[1][0]
    assert (found.quote, found.is_cited) == (quote, True)


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        # In a single sentence a word weighs 0.7: .19 and .26 of all.
        ("Lamp zinc [1].", ""),
        ("Old lamp burns, zinc, gold [1].", "Old lamp burns."),
    ],
)
def test_a_word_of_a_single_sentence_still_weighs_something(answer: str, quote: str) -> None:
    assert finish_answer(answer, (source(1, "Old lamp burns."),))[1][0].quote == quote


def test_a_frequent_word_weighs_less_than_a_rare_one() -> None:
    passage = "The lamp is old. The lamp is new. The lamp is out. The keeper has a dog."
    found = finish_answer("The keeper and the lamp [1].", (source(1, passage),))[1][0]
    assert found.quote == "The keeper has a dog."


def test_nothing_sent_nothing_cited() -> None:
    assert finish_answer("I don't know [1].", ()) == ("I don't know.", ())


@given(TEXTS, st.text(), st.integers(0, 1000))
def test_a_quote_is_always_the_words_at_its_place(answer: str, passage: str, start: int) -> None:
    text, (found,) = finish_answer(answer, (source(1, passage, start),))
    assert found.is_cited == any(1 in citation.numbers for citation in citations(text))
    if found.quote:
        assert passage[found.start - start : found.end - start] == found.quote
    else:
        assert found == replace(source(1, passage, start), is_cited=found.is_cited)


# --- markers that are missing ---------------------------------------------------------------------

SOURCES = (source(1, HANDBOOK), source(2, HISTORY))


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        ("The keeper cleans the lens.", "The keeper cleans the lens [1]."),
        ("The keeper cleans the lens", "The keeper cleans the lens [1]"),
        (
            "They built it in 1902 [2]. The first keeper was paid in oil! Fine.",
            "They built it in 1902 [2]. The first keeper was paid in oil [2]! Fine.",
        ),
        (
            "- **The keeper cleans the lens.**\n- the light was built in 1902",
            "- **The keeper cleans the lens.** [1]\n- the light was built in 1902 [2]",
        ),
        (
            "The keeper cleans the lens. The lamp is lit at dusk and put out at dawn...",
            "The keeper cleans the lens [1]. The lamp is lit at dusk and put out at dawn [1]...",
        ),
    ],
)
def test_a_sentence_that_a_source_says_in_the_same_words_gets_its_marker(
    answer: str, marked: str
) -> None:
    assert finish_answer(answer, SOURCES)[0] == marked


@pytest.mark.parametrize(
    "answer",
    [
        "The keeper never cleans the lens.",
        "The lamp is lit at dusk.",
        "The keeper cleans the lens\n=====",
        "The lens cleans the keeper.",
        "The light was built in 1903.",
        "The keeper cleans the brass lens.",
        "The first keeper was paid in gold.",
        "Does the keeper clean the lens?",
        "# The keeper cleans the lens",
        "| The keeper cleans the lens | yes |",
        "`The keeper cleans the lens.`",
        "```\nThe keeper cleans the lens.\n```",
        "What the keeper cleans is the lens:",
        "The keeper.",
        "",
    ],
)
def test_what_is_not_certain_gets_none(answer: str) -> None:
    assert finish_answer(answer, SOURCES) == (answer, SOURCES)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Bremen's was built in 1850. Hamburg's was built in 1900.", "Bremen's was built in 1900."),
        ("The committee refused to approve the plan.", "The committee approved the plan."),
        ("It is a myth that monks built the tower.", "Monks built the tower."),
        ("The tower is closed on Sunday if it rains.", "The tower is closed on Sunday."),
        ("The tenant may paint the walls.", "The tenant must paint the walls."),
        ("It costs $500 in all cases.", "It costs €500 in all cases."),
        ("It was 5 degrees at noon.", "It was -5 degrees at noon."),
        ("Fyret blev ikke bygget af byen.", "Fyret blev bygget af byen."),
        ("Der Vertrag endet am 31. März 2025.", "Der Vertrag endet am 31. Dezember 2024."),
        ("Der Turm ist heute ca. 35 Meter hoch.", "Der Turm ist heute ca. 40 Meter hoch."),
        ("The rule is found in Art. 6 of the lease.", "The rule is found in Art. 7 of the lease."),
    ],
)
def test_words_in_common_are_not_enough(said: str, answer: str) -> None:
    assert finish_answer(answer, (source(1, said),))[0] == answer


def test_a_sentence_with_a_marker_gets_no_other() -> None:
    answer = "The lamp is lit at dusk and put out at dawn [2]."
    assert finish_answer(answer, (source(1, HANDBOOK), source(2, HISTORY)))[0] == answer


def test_an_added_marker_is_located_like_any_other() -> None:
    _, (first, second) = finish_answer("The keeper cleans the lens.", SOURCES)
    assert (first.quote, first.is_cited) == ("The keeper cleans the lens.", True)
    assert not second.is_cited


@pytest.mark.slow
@given(TEXTS)
def test_finished_twice_is_finished_once(answer: str) -> None:
    text, sources = finish_answer(answer, SOURCES)
    again = tuple(replace(s, quote="", start=0, end=len(s.text), is_cited=False) for s in sources)
    assert finish_answer(text, again) == (text, sources)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["The lamp is lit. [1] ", "`a` lamp. ", "The lamp.\n\n", "`"])
def test_a_long_answer_keeps_its_text(part: str) -> None:
    sources = [source(1, "The lamp is lit. A tower.")]
    answer = part * (200_000 // len(part))
    finished, _ = finish_answer(answer, sources)
    assert finished.replace(" [1]", "") == answer.replace(" [1]", "")
