"""The kinds of documents, by which the library and the search filter alike."""

from dataclasses import replace

import pytest

from desktop_rag.ingest.read.foundation.format_table import FORMATS
from desktop_rag.ui.foundation.document_kinds import (
    DocumentKind,
    kind_of,
    kinds_of_format,
    types_of,
)
from tests.unit.ui.rooms import make_document


@pytest.mark.parametrize("name", [row.name for row in FORMATS])
def test_every_format_is_of_a_kind(name: str) -> None:
    assert kinds_of_format(name)


@pytest.mark.parametrize("kind", [kind for kind in DocumentKind if kind is not DocumentKind.OTHER])
@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("a.pdf", "PDF"),
        ("a.odt", "OpenDocument text"),
        ("a.md", "Markdown"),
        ("a.log", "text"),
        ("README", "text"),
        ("a.unheard", "text"),
        ("a.py", "text"),
        ("a.json", "JSON"),
        ("a.xlsx", "spreadsheet"),
    ],
)
def test_the_types_of_a_kind_are_those_of_its_documents(
    kind: DocumentKind, name: str, format_name: str
) -> None:
    document = replace(make_document(name), format=format_name)
    ending = name.rpartition(".")[2] if "." in name else ""
    pair = f"{format_name}/{ending}".lower()
    types, others = types_of([kind])
    is_passing = not {format_name.lower(), pair}.isdisjoint(types) and pair not in others
    assert is_passing is (kind_of(document) is kind)


def test_all_text_is_found_by_both_kinds_of_it() -> None:
    types, others = types_of([DocumentKind.TEXT, DocumentKind.CODE])
    assert "text" in types
    assert others == ()
