"""Fields and words tell which records meet a condition, and say so when they don't."""

import pytest

from desktop_rag.answer.counting.conditions import Verdict, judged
from desktop_rag.answer.counting.count_answer import chosen
from desktop_rag.answer.counting.counting_question import counting_question
from desktop_rag.answer.counting.record_structures import structures_in
from tests.unit.answer.counting.documents import document

BOOKS = """# Books

## Emma

Author: Jane Austen
Year: 1815
Status: read
Pages: 474

A matchmaker learns. Not about dragons.

## Dune

Author: Frank Herbert
Year: 1965
Status: open
Pages: 612

A desert with worms, without rain.

## Persuasion

Author: Jane Austen
Year: 1817
Status: open
Pages: 249

It rains in Lyme, and a door is open.
"""
TASKS = "# Tasks\n\n- [x] pay rent\n- [ ] call Anna\n- [ ] buy seeds\n"


def met(question: str, text: str = BOOKS) -> list[str]:
    return said(question, Verdict.YES, text)


def said(question: str, verdict: Verdict, text: str = BOOKS) -> list[str]:
    asked = counting_question(question)
    assert asked
    choice = chosen(asked, structures_in([document(text)]), ())
    assert choice
    found = judged(choice.records, choice.condition, asked)
    return [r.title for r, v in zip(choice.records, found.verdicts, strict=True) if v is verdict]


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("How many books are there?", ["Emma", "Dune", "Persuasion"]),
        ("How many books are open?", ["Dune", "Persuasion"]),
        ("How many books are not open?", ["Emma"]),
        ("How many books were written by Austen?", ["Emma", "Persuasion"]),
        ("How many books appeared before 1900?", ["Emma", "Persuasion"]),
        ("How many books have more than 300 pages?", ["Emma", "Dune"]),
        ("List all books by Frank Herbert", ["Dune"]),
        ("How many books mention worms?", ["Dune"]),
    ],
)
def test_what_fields_and_words_tell(question: str, titles: list[str]) -> None:
    assert met(question) == titles


def test_a_word_that_is_only_denied_is_left_open() -> None:
    assert met("How many books mention rain?") == ["Persuasion"]
    assert said("How many books mention rain?", Verdict.OPEN) == ["Dune"]


def test_a_word_that_no_record_has_is_left_open() -> None:
    assert len(said("How many books are suspenseful?", Verdict.OPEN)) == 3


def test_boxes_tell_which_tasks_are_open() -> None:
    assert met("How many tasks are open?", TASKS) == ["call Anna", "buy seeds"]
    assert met("Wie viele Aufgaben sind erledigt?", TASKS) == ["pay rent"]


def test_a_comparison_without_such_a_field_is_left_open() -> None:
    assert len(said("How many tasks cost more than 20 euros?", Verdict.OPEN, TASKS)) == 3


def test_fields_on_the_line_of_an_item() -> None:
    items = "1. **Emma** (Year: 1815; Status: read)\n2. **Dune** (Year: 1965; Status: open)\n"
    text = f"# Books\n\n{items}"
    assert met("How many books are open?", text) == ["Dune"]
    assert met("How many books appeared before 1900?", text) == ["Emma"]
