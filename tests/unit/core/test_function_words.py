import pytest

from desktop_rag.core.function_words import function_words
from desktop_rag.core.text import words


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("Why does the lamp flicker?", {"lamp", "flicker"}),
        ("Wie wird die Lampe gereinigt?", {"Lampe", "gereinigt"}),
        ("Какая страна была первой?", {"страна", "первой"}),
        ("How are die castings made?", {"die", "castings", "made"}),
        ("to be or not to be", {"to", "be", "or", "not"}),
        ("的灯", {"的灯"}),
    ],
)
def test_what_asks_and_joins_is_told_from_what_is_asked_for(question: str, kept: set[str]) -> None:
    said = words(question)
    assert set(said) - function_words(said) == kept


def test_nothing_asked_is_nothing() -> None:
    assert function_words([]) == frozenset()
