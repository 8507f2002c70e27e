import pytest

from desktop_rag.answer.search.question_terms import QuestionReader, SearchQuestion, errors_between
from desktop_rag.core.query import parse_query
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import put

TEXT = (
    "The government may receive a report on photosynthesis from the database. The tanker set out, "
    "we live on cattle, Ovid and the papal envoy made plans of translation, and must work."
)


@pytest.fixture
def reader(engine: Engine) -> QuestionReader:
    put(engine, "a.txt", TEXT)
    return QuestionReader(engine.lexical)


def repaired(reader: QuestionReader, question: str) -> dict[str, str]:
    return dict(reader.read(parse_query(question)).repaired)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("recieve", "receive"),
        ("goverment", "government"),
        ("photosynthsis", "photosynthesis"),
        ("databse", "database"),
        ("phtoosynthsis", "photosynthesis"),
    ],
)
def test_slips_are_mended(reader: QuestionReader, written: str, meant: str) -> None:
    assert repaired(reader, f"{written} of the report") == {written: meant}


@pytest.mark.slow
@pytest.mark.parametrize(
    "word",
    ["banker", "battles", "plainly", "liver", "covid", "transplantation", "PayPal",
     "Databse", "Küste"],
)  # fmt: skip
def test_what_may_be_right_stays(reader: QuestionReader, word: str) -> None:
    assert repaired(reader, f"the report on {word}") == {}


@pytest.mark.everyday
def test_capitals_throughout_make_no_names(reader: QuestionReader) -> None:
    assert repaired(reader, "DATABSE REPORT") == {"DATABSE": "database"}
    assert repaired(reader, "Databse Report") == {"Databse": "database"}
    assert repaired(reader, "Databse of the report") == {"Databse": "database"}


@pytest.mark.everyday
def test_a_question_may_have_typos_only(reader: QuestionReader) -> None:
    assert repaired(reader, "What is the databse of photosynthsis?") == {
        "databse": "database",
        "photosynthsis": "photosynthesis",
    }


@pytest.mark.everyday
def test_in_another_language_nothing_is_mended(reader: QuestionReader) -> None:
    assert repaired(reader, "databse governo ricevere") == {}


@pytest.mark.slow
def test_few_words_are_looked_up_and_none_of_a_pasted_text(reader: QuestionReader) -> None:
    typos = "govermnent goverment recieve databse tankre"
    assert len(repaired(reader, f"{typos} government receive report database tanker")) == 4
    assert repaired(reader, f"databse {TEXT} {' '.join(f'n{i}' for i in range(20))}") == {}


@pytest.mark.slow
def test_of_a_word_that_is_part_of_another_only_the_whole_is_mended(engine: Engine) -> None:
    put(engine, "a.txt", "The amount of amounts was paid today.")
    wanted = QuestionReader(engine.lexical).read(parse_query("amuont of amuontings paid today"))
    assert wanted.repaired == (("amuont", "amount"),)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other", "errors"),
    [("", "", 0), ("lamp", "lamp", 0), ("lapm", "lamp", 1), ("lmp", "lamp", 1), ("", "lamp", 4),
     ("laamp", "lamp", 1), ("lump", "lamp", 1), ("banker", "cattle", 5)],
)  # fmt: skip
def test_errors_are_counted_as_people_make_them(one: str, other: str, errors: int) -> None:
    assert errors_between(one, other) == errors
    assert errors_between(other, one) == errors


@pytest.mark.everyday
def test_the_meaning_of_a_question_of_typos_alone_is_that_of_the_spelled_one(
    reader: QuestionReader,
) -> None:
    def meant(text: str) -> str:
        return SearchQuestion(text, lambda: reader.read(parse_query(text))).meant

    assert (
        meant("What is the databse of photosynthsis?") == "What is the database of photosynthesis?"
    )
    assert meant("databse") == "database"
    for text in ("the databse of the report", "the report on liver", "What is a glacier?"):
        assert meant(text) == text
