from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest

from desktop_rag.answer.search.question_terms import (
    MissingName,
    QuestionReader,
    QuestionReading,
    SearchQuestion,
    made_of,
    named_things,
)
from desktop_rag.core.query import parse_query
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import put

TEXTS = ("The thermostat of the boiler keeps the lamp room warm.", "Its lens was cleaned.")


@pytest.fixture
def reader(engine: Engine) -> QuestionReader:
    put(engine, "a.txt", *TEXTS)
    return QuestionReader(engine.lexical)


@pytest.mark.slow
def test_what_only_asks_is_left_out(reader: QuestionReader) -> None:
    reading = reader.read(parse_query("Where is the lens?"))
    assert reading.words.words == (("len",),)
    assert len(reader.read(parse_query("who is it")).words.words) == 3


@pytest.mark.everyday
@pytest.mark.parametrize(
    ("written", "used"),
    [("termostat", "thermostat"), ("boilre", "boiler"), ("thermosatt", "thermostat")],
)
def test_a_typo_is_mended_from_the_words_of_the_library(
    reader: QuestionReader, written: str, used: str
) -> None:
    reading = reader.read(parse_query(f"Is the {written} set?"))
    assert reading.repaired == ((written, used),)
    assert reading.words.words == reader.read(parse_query(f"Is the {used} set?")).words.words


@pytest.mark.slow
@pytest.mark.parametrize("question", ["boiler", "lams", '"boilre room"', "zeppelin", "b01ler"])
def test_what_is_known_short_quoted_or_far_from_everything_stays(
    reader: QuestionReader, question: str
) -> None:
    assert reader.read(parse_query(question)).repaired == ()


@pytest.mark.everyday
@pytest.mark.parametrize(("typed", "term"), [("the therm", "thermostat"), ("boi", "boiler")])
def test_a_half_typed_word_is_what_it_may_become(
    reader: QuestionReader, typed: str, term: str
) -> None:
    query = replace(parse_query(typed), is_half_typed=True)
    assert (term,) in reader.read(query).words.words
    assert reader.read(query).repaired == ()
    # A question that was sent is complete.
    assert (term,) not in reader.read(parse_query(typed)).words.words


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["lamp", "bo", "lens therx", "zep"])
def test_known_short_and_strange_words_stay(reader: QuestionReader, typed: str) -> None:
    query = replace(parse_query(typed), is_half_typed=True)
    assert reader.read(query).words.words == reader.read(parse_query(typed)).words.words


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("What did Siemens deliver to the Casa Verde?", [("Siemens",), ("Casa", "Verde")]),
        ("Where is part 0815-9999 of Gregor's car?", [("0815-9999",), ("Gregor",)]),
        ("When does flight LH 2240 leave?", [("LH", "2240")]),
        ("What is due on 2025-09-16 or 14/03/2025?", []),
        ("Who Repaired The Roof?", []),
        # In German all nouns have capitals.
        ("Wann wurde der Schornstein von Frau Steinbrück gefegt?", [("Steinbrück",)]),
        ("Wie hoch ist die Miete?", []),
    ],
)
def test_names_and_codes_are_told_by_their_form(
    question: str, things: list[tuple[str, ...]]
) -> None:
    assert named_things(question, lambda word: word in {"Frau", "Schornstein"}) == things


@pytest.mark.slow
def test_a_name_is_missing_when_no_passage_has_a_form_of_it(engine: Engine) -> None:
    put(engine, "a.txt", "Annas lens and part 0815-4711 came from Kestrel.", "Box 9999 is empty.")
    reader = QuestionReader(engine.lexical, lambda word: word == "Berlin")
    assert reader.missing_names("Did Anna or Kestrel's driver fetch 0815-4711?") == []
    assert reader.missing_names("Did the driver fetch 0815-9999 in Berlin for Vexmoor?") == [
        MissingName("0815-9999", is_certain=True),
        MissingName("Berlin", is_certain=False),
        MissingName("Vexmoor", is_certain=True),
    ]


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("Has the gross margin of Orre improved?", "cost of sales"),
        ("What is the Quick Ratio in 2022?", "total current liabilities"),
        ("Wie hoch ist die Eigenkapitalquote?", "Bilanzsumme"),
        ("How wide is the margin of the page?", ""),
        ("Where is the grossmargin?", ""),
    ],
)
def test_a_measure_is_known_by_what_it_is_made_of(question: str, part: str) -> None:
    assert [part in parts for parts in made_of(question)] == [True] * bool(part)


def test_no_question_waits_for_the_words_of_another(reader: QuestionReader) -> None:
    reading = reader.read(parse_query("the lens"))
    is_begun, may_end = Event(), Event()

    def slow() -> QuestionReading:
        is_begun.set()
        assert may_end.wait(10)
        return reading

    questions = SearchQuestion("one", slow), SearchQuestion("another", lambda: reading)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(lambda: questions[0].reading)
        assert is_begun.wait(10)
        assert pool.submit(lambda: questions[1].reading).result(5) == reading
        may_end.set()
        assert first.result(10) == reading
