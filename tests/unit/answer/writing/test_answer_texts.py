"""The app's own sentences in answers, in each language."""

import re
import tomllib

import pytest

from desktop_rag.answer.counting.record_structures import Kind
from desktop_rag.answer.writing.answer_texts import answer_texts, texts_for
from desktop_rag.core.paths import resources_dir

_TABLES = tomllib.loads(
    (resources_dir() / "questions" / "answer_texts.toml").read_text(encoding="utf-8")
)
_PLACE = re.compile(r"\{\w+\}")
# Said in English alone.
_ONLY_ENGLISH = {"{reason}"}


@pytest.mark.parametrize("code", _TABLES)
def test_every_language_has_every_sentence_with_its_values(code: str) -> None:
    table, english = _TABLES[code], _TABLES["en"]
    assert table.keys() == english.keys()
    assert set(table["forms"]) == set(Kind)
    assert all(len(forms) == 3 for forms in table["forms"].values())
    for name, text in table.items():
        if isinstance(text, str):
            found = {place.casefold() for place in _PLACE.findall(text)}
            wanted = {place.casefold() for place in _PLACE.findall(english[name])}
            assert wanted - found <= _ONLY_ENGLISH, name
            assert not found - wanted, name


@pytest.mark.parametrize(
    ("question", "preferred", "number"),
    [
        ("How many rows are in it?", "", "1,998"),
        ("Wie viele Zeilen sind darin?", "", "1.998"),
        ("How many rows are in it?", "Deutsch", "1.998"),
        ("Wie viele Zeilen sind darin?", "English", "1,998"),
        ("Hány sor van benne?", "", "1,998"),
    ],
)
def test_the_language_is_that_of_the_question_or_the_wish(
    question: str, preferred: str, number: str
) -> None:
    assert texts_for(question, preferred).number(1998) == number


def test_numbers_in_sentences_are_written_as_in_the_language() -> None:
    assert (
        answer_texts("de").counted("searchable", 1200).startswith("**1.200** Dateien lassen sich")
    )
    assert answer_texts("en").counted("searchable", 1).startswith("**1** file can")


def test_of_many_names_the_first_are_said() -> None:
    assert answer_texts("en").first_of(["a", "b", "c"], 2) == "a, b and 1 more"
    assert answer_texts("de").first_of(["a", "b", "c"], 1, "; ") == "a und 2 weitere"
