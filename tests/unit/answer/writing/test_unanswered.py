"""What is said instead of an answer, in the language of the question."""

import tomllib

import pytest

from desktop_rag.answer.writing.answer_texts import refusals
from desktop_rag.core.paths import resources_dir


@pytest.mark.parametrize(
    ("question", "preferred", "beginning"),
    [
        ("When is the lamp lit?", "", "Nothing in your documents"),
        ("Wann wird die Lampe angezündet?", "", "Nichts in Ihren Dokumenten"),
        ("Wie viele Angestellte hat Amcor?", "", "Nichts in Ihren Dokumenten"),
        ("¿Cuándo se enciende la lámpara?", "", "Nada en sus documentos"),
        ("Когда зажигают лампу?", "", "Похоже"),
        ("灯什么时候点亮?", "", "您的文档"),
        ("When is the lamp lit?", "Deutsch", "Nichts in Ihren Dokumenten"),
        ("Wann wird die Lampe angezündet?", "english", "Nothing in your documents"),
        # Nothing is said in these languages.
        ("Πότε ανάβει η λάμπα;", "", "Nothing in your documents"),
        ("Wann wird die Lampe angezündet?", "Klingon", "Nothing in your documents"),
        ("Umsatz 2022", "", "Nothing in your documents"),
    ],
)
def test_it_is_said_in_the_language_of_the_question_or_the_wish(
    question: str, preferred: str, beginning: str
) -> None:
    assert refusals(question, preferred).said("nothing_relevant").startswith(beginning)


def test_every_language_has_every_text() -> None:
    path = resources_dir() / "questions" / "refusals.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    for code, texts in tables.items():
        assert texts.keys() == tables["en"].keys(), code
        assert "{count}" in texts["many_unread"], code


def test_files_are_counted() -> None:
    assert refusals().counted("unread", 1).startswith("1 file has")
    assert refusals().counted("unread", 1200).startswith("1,200 files have")
    assert refusals("Wann wird die Lampe angezündet?").counted("unread", 2).startswith("2 Dateien")
