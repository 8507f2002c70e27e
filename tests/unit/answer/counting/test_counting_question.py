"""Questions for a number or for all of something are recognised in eight languages."""

import tomllib
from pathlib import Path

import pytest

from desktop_rag.answer.counting.counting_question import (
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


LOOK_UPS = (
    "In which {} does she work?",
    "Which {} is in Bergen?",
    "Which {} has the number 4420?",
    "Which of them is the {} of the office?",
    "What is the {} of the Krone?",
    "Who has the {} of the yard?",
    "In welchem {} steht der Kran?",
    "Welche {} hat das Haus?",
    "Wer kennt die {} vom Hof?",
)
THINGS = ("city", "room", "phone", "hotel", "club", "Raum", "Stadt", "Nummer", "Halle", "Abteilung")


@pytest.mark.parametrize("look_up", LOOK_UPS)
def test_a_look_up_is_no_count(look_up: str) -> None:
    asked = [look_up.format(thing) for thing in THINGS]
    assert [question for question in asked if counting_question(question)] == []
