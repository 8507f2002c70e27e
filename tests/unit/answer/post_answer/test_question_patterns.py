"""Questions made from headings and definitions."""

import pytest

from desktop_rag.answer.post_answer.suggested_questions import (
    definition_questions,
    heading_questions,
    patterns,
)
from desktop_rag.core.parsed import Heading

BODY = "The keeper cleans the lens with a soft cloth every Monday morning. " * 3


def asked(title: str, language: str = "en", body: str = BODY) -> list[str]:
    text = f"{title}\n\n{body}"
    found = heading_questions("manual.md", text, (Heading(0, 1, title),), patterns()[language])
    return [question.text for question in found]


@pytest.mark.parametrize(
    ("title", "language", "question"),
    [
        ("3.2 Cleaning the lens", "en", "What does “manual.md” say about “Cleaning the lens”?"),
        ("Cleaning the lens[edit]", "en", "What does “manual.md” say about “Cleaning the lens”?"),
        ("RISK FACTORS", "en", "What does “manual.md” say about “Risk factors”?"),
        ("Reinigung der Linse", "de", "Was steht in „manual.md“ über „Reinigung der Linse“?"),
        ("Nettoyage de la lampe", "fr",
         "Que dit « manual.md » au sujet de « Nettoyage de la lampe » ?"),
        ("Limpieza de la lente", "es", "¿Qué dice «manual.md» sobre «Limpieza de la lente»?"),
        ("Pulizia della lente", "it", "Che cosa dice «manual.md» su «Pulizia della lente»?"),
        ("Limpeza da lente", "pt", "O que diz “manual.md” sobre “Limpeza da lente”?"),
        ("Zorg voor de lens", "nl", "Wat staat er in “manual.md” over “Zorg voor de lens”?"),
    ],
)  # fmt: skip
def test_a_heading_is_asked_about(title: str, language: str, question: str) -> None:
    assert asked(title, language) == [question]


@pytest.mark.parametrize(
    "title",
    [
        "Overview",
        "Table of Contents",
        "foreign military sales through",
        "collected after one year",
        "Foreign military sales through",
        "Calling it",
        "The longer one",
        "2019 | 2018 | 2017",
        "(in millions)",
        "Notes",
        "References[edit]",
        "Related Sections",
        "Total",
    ],
)
def test_a_cut_line_or_a_label_is_not(title: str) -> None:
    assert asked(title) == []


@pytest.mark.parametrize(
    ("name", "title", "part"),
    [
        ("2-painting.md", "", "Painting"),
        ("harbour_rules.pdf", "", "Rules of the Harbour"),
        ("report.docx", "Keeping the tower dry", "Keeping the Tower Dry"),
    ],
)
def test_nor_a_heading_that_only_repeats_the_name_of_the_document(
    name: str, title: str, part: str
) -> None:
    text, headings = f"{part}\n\n{BODY}", (Heading(0, 1, part),)
    assert not list(heading_questions(name, text, headings, patterns()["en"], title))
    assert list(heading_questions("x.md", text, headings, patterns()["en"], "Manual"))


def test_a_text_without_headings_has_none() -> None:
    assert list(heading_questions("notes.txt", BODY, (), patterns()["en"])) == []


def test_nor_a_heading_with_hardly_any_text() -> None:
    assert asked("Cleaning the lens", body="12 | 14 | 16\n" * 20) == []
    assert asked("Cleaning the lens", body="Weekly.") == []


@pytest.mark.parametrize(
    ("text", "language", "question"),
    [
        ("An astragal is one of the bars between the panes.", "en", "What is an astragal?"),
        ("Photosynthesis is a process of plants.", "en", "What is Photosynthesis?"),
        ("Ein Brenner ist ein Teil der Lampe.", "de", "Was ist ein Brenner?"),
        ("Una lente es un cuerpo de vidrio.", "es", "¿Qué es una lente?"),
        ("This is a lamp.", "en", ""),
        ("It is a lamp.", "en", ""),
        ("The next step is a test.", "en", ""),
        ("Astragal Astragal is one of the bars.", "en", ""),
        ("Overview Astragals is one of the bars.", "en", ""),
        ("Lantern\nGlazing is a craft of its own.", "en", ""),
    ],
)
def test_a_definition_is_asked_for(text: str, language: str, question: str) -> None:
    found = [found.text for found in definition_questions(text, 0, patterns()[language])]
    assert found == ([question] if question else [])
