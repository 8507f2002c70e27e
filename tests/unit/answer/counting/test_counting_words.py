"""Questions for a number or for all of something are recognised in eight languages."""

import tomllib
from pathlib import Path

import pytest

from desktop_rag.answer.counting.counting_words import (
    content_words,
    counting_question,
    counting_words,
)

FILE = Path(__file__).parents[4] / "benchmarks" / "answers" / "counting_questions.toml"
SETS = tomllib.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", SETS)
def test_the_questions_of_each_language(language: str) -> None:
    asks, others = SETS[language]["asks"], SETS[language]["others"]
    assert [question for question in asks if not counting_question(question)] == []
    assert [question for question in others if counting_question(question)] == []


def test_every_language_has_questions() -> None:
    assert {words.code for words in counting_words()} == set(SETS)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many of the recipes use butter?", ["recipes", "butter"]),
        ("Combien de recettes contiennent du beurre ?", ["recettes", "beurre"]),
        ("Wie viele offene Aufgaben gibt es in diesem Ordner?", ["offene", "aufgaben"]),
    ],
)
def test_words_that_say_nothing_are_left_out(question: str, words: list[str]) -> None:
    found = counting_question(question)
    assert found
    assert content_words(found) == words
