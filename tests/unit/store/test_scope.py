from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from desktop_rag.core.domain import FileStat
from desktop_rag.core.query import Filters, parse_query
from desktop_rag.store.database import Database
from desktop_rag.store.lexical import LexicalStore
from desktop_rag.store.names import NameStore
from desktop_rag.store.scope import Scope
from tests.unit.store.test_documents import Stores, add, document, indexed

NAMES = ("taxes/report_2023.pdf", "taxes/letter.txt", "home/Report_2024.docx")
TEXTS = ("lamp oil", "lamp wick", "lamp lens")


def noon(day: str) -> int:
    return int(datetime.fromisoformat(day + "T12:00").astimezone(UTC).timestamp()) * 10**9


@pytest.fixture
def lexical(database: Database) -> LexicalStore:
    store = Stores(database)
    work = store.add_collection("Work")
    for number, (name, text) in enumerate(zip(NAMES, TEXTS, strict=True)):
        source = store.add_source(Path(f"/{number}"), work.collection_id if number else "other")
        path = Path("/papers") / name
        stat = FileStat(1, noon(f"2024-0{number + 1}-15"), number)
        row = replace(document(name, source.source_id), path=path, stat=stat)
        add(store, row)
        store.settle([replace(indexed(row, text), document=replace(row, chunk_count=1))])
    return LexicalStore(database)


def found(lexical: LexicalStore, scope: Scope) -> list[int]:
    return sorted(i for i, _ in lexical.best([("lamp",)], 10, scope))


@pytest.mark.parametrize(
    ("written", "chunks"),
    [
        ("", [1, 2, 3]),
        ("file:report", [1, 3]),
        ("file:letter file:2024", [2, 3]),
        ("type:pdf", [1]),
        ("type:docx type:txt", [2, 3]),
        ("folder:taxes", [1, 2]),
        ("folder:taxes file:report", [1]),
        ("collection:work", [2, 3]),
        ("after:2024-02", [2, 3]),
        ("after:2024-02-15 before:2024-03-15", [2]),
        ("before:2024", []),
    ],
)
def test_filters_narrow_what_is_found(
    lexical: LexicalStore, written: str, chunks: list[int]
) -> None:
    assert found(lexical, Scope(filters=parse_query(f"lamp {written}").filters)) == chunks


def test_required_and_excluded_words(lexical: LexicalStore) -> None:
    assert found(lexical, Scope(required=(("oil", "wick"),))) == [1, 2]
    assert found(lexical, Scope(required=(("lamp",), ("oil",)))) == [1]
    assert found(lexical, Scope(excluded=(("wick",), ("oil",)))) == [3]


def test_a_part_of_a_scope_is_never_wider(lexical: LexicalStore) -> None:
    scope = Scope(collection_ids=("other",))
    assert found(lexical, scope.within(None)) == [1]
    assert found(lexical, scope.within(("another",))) == []
    assert found(lexical, scope.within(("other", "another"))) == [1]
    assert Scope().of_documents(()) is None


def test_only_filters_list_the_newest_first(lexical: LexicalStore) -> None:
    scope = Scope(filters=Filters(before=date(2024, 3, 1)))
    assert list(lexical.newest(5, scope)) == [2, 1]


def test_names_are_searched_by_words_and_whole_numbers(
    lexical: LexicalStore, database: Database
) -> None:
    del lexical
    held, total = NameStore(database).holding(["report", "2024", "202"], Scope())
    assert total == 3
    assert sorted(map(sorted, held.values())) == [["2024", "report"], ["report"]]
