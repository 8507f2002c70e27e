"""Open questions ask for a reason, a way or an explanation."""

import pytest

from desktop_rag.core.language.languages import is_open_question


@pytest.mark.parametrize(
    "text",
    [
        "Why is the sky blue?",
        "How does soap work?",
        "When it rains, why do worms come out?",
        "Explain: the fall of the empire",
        "- how do magnets lift trains?",
        "Warum ist der Himmel blau?",
        "Wie funktioniert Seife?",
        "Pourquoi le ciel est-il bleu ?",
        "Почему небо голубое?",
        "天空为什么是蓝色的？",
        "空はなぜ青いのですか",
    ],
)
def test_a_reason_or_a_way_is_open(text: str) -> None:
    assert is_open_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "How many people live there?",
        "How, much later?",
        "However it may be, who won?",
        "Who explains how soap works?",
        "Wie viele Menschen leben dort?",
        "Wie alt ist er?",
        "Hoeveel mensen wonen daar?",
        "What is the whyte notation?",
        "",
    ],
)
def test_a_fact_or_an_amount_is_not(text: str) -> None:
    assert not is_open_question(text)
