"""What a question is about, as it is kept, shown and changed."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.core.question_scope import (
    ALL_DOCUMENTS,
    WITHOUT_DOCUMENTS,
    QuestionScope,
    ScopeItem,
    ScopeKind,
)

LETTERS = ScopeItem.of_folder(Path("/papers/letters"))
WORK = ScopeItem.of_collection(Collection("c1", "Work"))
LEASE = ScopeItem(ScopeKind.FILE, "d1", "lease.pdf", "/papers/lease.pdf")


@pytest.mark.parametrize(
    "scope", [ALL_DOCUMENTS, WITHOUT_DOCUMENTS, QuestionScope.of(LEASE, LETTERS, WORK)]
)
def test_a_scope_survives_its_stored_form(scope: QuestionScope) -> None:
    assert QuestionScope.from_json(scope.to_json()) == scope


def test_all_documents_are_stored_as_nothing() -> None:
    assert ALL_DOCUMENTS.to_json() == {}


def test_items_come_once() -> None:
    scope = QuestionScope.of(LEASE, LEASE).with_item(LETTERS).with_item(LEASE)
    assert scope.items == (LEASE, LETTERS)


def test_an_item_brings_the_documents_back() -> None:
    assert WITHOUT_DOCUMENTS.with_item(LEASE) == QuestionScope.of(LEASE)


def test_the_words_for_people_name_two() -> None:
    four = QuestionScope.of(LEASE, LETTERS, WORK, replace(LEASE, key="d2"))
    assert four.in_words() == "About: lease.pdf, letters and 2 more"
    assert QuestionScope.of(replace(LEASE, name="a\nb")).in_words() == "About: a b"
    assert WITHOUT_DOCUMENTS.in_words() == "Without documents"
    assert ALL_DOCUMENTS.in_words() == ""


def test_a_source_is_a_folder_or_a_link() -> None:
    folder = Source("s1", "c1", Path("/papers"), 0.0)
    links = replace(folder, links=WebLinks(("https://example.org/a",)))
    assert ScopeItem.of_source(folder) == ScopeItem.of_folder(Path("/papers"))
    assert ScopeItem.of_source(links) == ScopeItem(ScopeKind.LINK, "s1", "https://example.org/a")
