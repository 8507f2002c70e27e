from dataclasses import replace

import pytest

from desktop_rag.answer.search.question_terms import QuestionReader
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
