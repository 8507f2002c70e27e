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


def test_what_only_asks_is_left_out(reader: QuestionReader) -> None:
    reading = reader.read(parse_query("Where is the lens?"))
    assert reading.words.words == (("len",),)
    assert len(reader.read(parse_query("who is it")).words.words) == 3


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


@pytest.mark.parametrize("question", ["boiler", "lams", '"boilre room"', "zeppelin", "b01ler"])
def test_what_is_known_short_quoted_or_far_from_everything_stays(
    reader: QuestionReader, question: str
) -> None:
    assert reader.read(parse_query(question)).repaired == ()
