"""Turns that insist are recognised by their meaning; figures on turns that were held out."""

import tomllib
from pathlib import Path

import pytest

from desktop_rag.answer.checking.disputes import Insistence

HERE = Path(__file__).parent
# It loads the multilingual model for the first turn.
insisted_claim = Insistence().claim


def figures(name: str) -> tuple[float, float]:
    """Precision and recall on a set of turns."""
    tables = tomllib.loads((HERE / name).read_text(encoding="utf-8")).values()
    found = [insisted_claim(turn) is not None for table in tables for turn in table["yes"]]
    wrong = [insisted_claim(turn) is not None for table in tables for turn in table["no"]]
    return sum(found) / (sum(found) + sum(wrong)), sum(found) / len(found)


@pytest.mark.slow
def test_turns_that_the_weights_were_fitted_to() -> None:
    precision, recall = figures("insisting_turns.toml")
    assert precision >= 0.98
    assert recall >= 0.98


@pytest.mark.slow
def test_turns_that_were_held_out() -> None:
    precision, recall = figures("insisting_held_out.toml")
    assert precision >= 0.98
    assert recall >= 0.85


@pytest.mark.parametrize(
    ("turn", "claim"),
    [
        ("no, it was 2019, you are wrong", "it was 2019"),
        ("No. It was 2019!", "It was 2019"),
        ("I’m sure it was 2019.", "it was 2019"),
        ("That’s wrong.", ""),
        ("You are wrong. Why would it be 2017? It was 2019.", "It was 2019"),
        ("No, it was in Vienna, Austria.", "it was in Vienna, Austria"),
        # A denial that begins like a question, or like a request.
        ("Please correct yourself, it is 14 percent.", "it is 14 percent"),
        # What is said before it says nothing.
        ("Well, no, it was 2019.", "it was 2019"),
        ("It was in 2019, not in 2017.", "It was in 2019"),
        ("Look again, it was 2019.", "it was 2019"),
    ],
)
def test_the_claim_is_what_is_left(turn: str, claim: str) -> None:
    assert insisted_claim(turn) == claim


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turn", "claim"),
    [
        ("Nein, das war am 3. Mai 2019, das stimmt nicht.", "das war am 3. Mai 2019"),
        ("No puede ser, fue en 2019.", "fue en 2019"),
        ("Qué va, fue en 2019.", "fue en 2019"),
        ("Hör mal, das war 2019, nicht 2017!", "das war 2019"),
        ("Das stimmt nicht!", ""),
        ("それは違います、2019年でした。", "2019年でした"),
        ("아니요, 2019년이었어요.", "2019년이었어요"),
    ],
)
def test_the_claim_is_what_is_left_in_other_languages(turn: str, claim: str) -> None:
    assert insisted_claim(turn) == claim


@pytest.mark.parametrize(
    "turn",
    [
        "",
        "?",
        "no",
        "No.",
        "Why?",
        "Are you sure?",
        "No, thanks.",
        "No idea. What else is in it?",
        "No sé.",
        "Well, show me the list.",
        "Well",
        "List 3 of them, not 20.",
        "Look in the report of 2019, not 2018.",
        "x" * 10_000,
        "you are wrong" * 99,
    ],
)
def test_turns_without_an_objection(turn: str) -> None:
    assert insisted_claim(turn) is None
