import pytest

from desktop_rag.core.language.languages import function_words, language_of
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


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The lamp is lit at dusk by the keeper.", "en"),
        ("Der Versicherer zahlt 3.360 Pfund zurück.", "de"),
        ("La lampe est dans la tour et elle est vieille.", "fr"),
        # Many languages have these, or none has any.
        ("in Skagen", ""),
        ("Skagen 1858", ""),
        ("", ""),
    ],
)
def test_a_language_is_told_where_it_is_clear(text: str, language: str) -> None:
    assert language_of(words(text)) == language
