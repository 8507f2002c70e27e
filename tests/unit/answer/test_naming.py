from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.answer.naming import NamedDocuments
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.scope import Scope
from tests.stored_rows import add, document, indexed

FILES = [
    f"{firm}_{year}_10K.pdf" for firm in ("ADOBE", "BESTBUY", "NIKE") for year in range(2015, 2020)
]


@pytest.fixture
def names(engine: Engine) -> Callable[[str], list[str]]:
    for name in FILES:
        row = replace(document(name), path=Path("/reports") / name)
        add(engine, row)
        engine.documents.settle([indexed(row, name)])
    by_id = {d.document_id: d.path.name for d in engine.documents.documents()}
    finder = NamedDocuments(engine.names)
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
