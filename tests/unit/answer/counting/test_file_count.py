"""Questions for the number of files, and those that only look like it."""

import pytest

from desktop_rag.answer.counting.counted_set import LibraryFiles, file_count
from desktop_rag.answer.counting.counting_question import counting_question
from desktop_rag.answer.writing.answer_texts import answer_texts
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.library_events import DocumentCounts

FILES = LibraryFiles(
    DocumentCounts({DocumentState.SEARCHABLE: 24, DocumentState.FAILED: 4}),
    {"PDF": 9, "Word": 3, "text": 4, "slides": 2, "e-mail": 8},
)


def said(text: str) -> str:
    question = counting_question(text)
    if question is None:
        return ""
    return file_count(question, FILES, answer_texts(question.language.code))


@pytest.mark.parametrize(
    "text",
    [
        "How many files do I have?",
        "How many documents are there in my library?",
        "Combien de fichiers ai-je ?",
    ],
)
def test_all_files_are_counted(text: str) -> None:
    assert said(text) == (
        "**24** files can be searched in your library, and 2 inside them. 4 more can't be, or not"
        " yet; the page Library says why. By kind, with those inside: PDF 9, e-mail 8, text 4,"
        " Word 3, slides 2."
    )


def test_all_files_are_counted_in_german() -> None:
    assert said("Wie viele Dokumente sind in der Bibliothek?") == (
        "**24** Dateien lassen sich in Ihrer Bibliothek durchsuchen, und 2 darin. Bei 4 weiteren"
        " geht es nicht oder noch nicht; die Seite „Bibliothek“ sagt, warum. Nach Art, samt denen"
        " darin: PDF 9, E-Mail 8, Text 4, Word 3, Folien 2."
    )
    wanted = "**9** Dokumente der Art PDF lassen sich in Ihrer Bibliothek durchsuchen."
    assert said("Wie viele PDF-Dateien habe ich?") == wanted


@pytest.mark.parametrize(
    ("text", "kind", "count"),
    [("How many PDFs do I have?", "PDF", 9), ("How many Word documents do I have?", "Word", 3)],
)
def test_files_of_a_kind_are_counted(text: str, kind: str, count: int) -> None:
    wanted = f"**{count}** documents of the kind {kind} can be searched in your library."
    assert said(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "How many files mention Nike?",
        "How many files are in the folder reports?",
        "How many documents did I add yesterday?",
        "How many files are newer than 2020?",
        "How many documents are unfinished?",
        "How many slides do I have?",
        "How many words are in my documents?",
        "How many stores does the chain have?",
        "List all files",
    ],
)
def test_other_questions_are_not(text: str) -> None:
    assert not said(text)
