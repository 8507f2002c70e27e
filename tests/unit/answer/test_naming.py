from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.answer.naming import NamedDocuments
from desktop_rag.store.database import Database
from desktop_rag.store.names import NameStore
from desktop_rag.store.scope import Scope
from tests.unit.store.test_documents import Stores, add, document, indexed

FILES = [
    f"{firm}_{year}_10K.pdf" for firm in ("ADOBE", "BESTBUY", "NIKE") for year in range(2015, 2020)
]


@pytest.fixture
def names(database: Database) -> Callable[[str], list[str]]:
    store = Stores(database)
    for name in FILES:
        row = replace(document(name), path=Path("/reports") / name)
        add(store, row)
        store.settle([replace(indexed(row, name), document=replace(row, chunk_count=1))])
    by_id = {d.document_id: d.path.name for d in store.documents()}
    finder = NamedDocuments(NameStore(database))
    return lambda question: [by_id[i] for i in finder.of(question, Scope())]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What was the FY2016 revenue of Adobe?", ["ADOBE_2016_10K.pdf"]),
        ("How many stores did Best Buy have in 2019?", ["BESTBUY_2019_10K.pdf"]),
        ("What was the revenue of Adobe?", []),
        ("What was sold in 2016?", []),
        ("Who is the chief executive?", []),
        ("", []),
    ],
)
def test_words_that_few_names_hold_name_a_document(
    names: Callable[[str], list[str]], question: str, named: list[str]
) -> None:
    assert names(question) == named
