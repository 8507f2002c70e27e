"""A list of documents takes the same number of reads, however many rows and sources it has."""

import cProfile
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.features.server.access.access_tokens import new_token
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.library_calls import LibraryCalls
from desktop_rag.features.server.readable_library import ReadableLibrary
from desktop_rag.features.server.rest.collection_calls import CollectionCalls
from desktop_rag.features.server.rest.document_calls import DocumentCalls, DocumentsQuery
from desktop_rag.features.server.values.access_values import TokenWish
from desktop_rag.store.duckdb.database.database import Database

pytestmark = pytest.mark.slow


FEW, MANY = 2, 20
READ = Database.read.__wrapped__.__code__  # type: ignore[attr-defined]


@pytest.fixture
def ids(services: Services, tmp_path: Path) -> list[str]:
    """The ids of two collections, whose documents are each a source of its own."""
    collections = services.library.collections
    made: list[str] = []
    for name, count in (("Few", FEW), ("Many", MANY)):
        collection_id = collections.add(name).collection_id
        made.append(collection_id)
        for n in range(count):
            file = tmp_path / f"{name} {n:02}.md"
            file.write_text(f"# {name} {n:02}\n\nThe lamp {n} is lit at dusk by the keeper.")
            services.library.sources.add(file, collection_id)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(60)
    return made


def caller(*collection_ids: str) -> Caller:
    token, _ = new_token(TokenWish("t", ("read",), collection_ids))
    return Caller(token)


def calls(services: Services) -> DocumentCalls:
    return DocumentCalls(services.chat, services.library, lambda *_: "link")


def reads(work: Callable[[], object]) -> int:
    """How often the store is read from."""
    profile = cProfile.Profile()
    work()  # what is read once and kept
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats() if entry.code is READ)


def titles(services: Services, who: Caller, query: DocumentsQuery) -> list[str]:
    return [row.title for row in calls(services).list_documents(who, query).documents]


def test_a_page_takes_as_many_reads_for_many_sources_as_for_few(
    services: Services, ids: list[str]
) -> None:
    def counted(who: Caller) -> list[int]:
        listed = calls(services)
        queries = [DocumentsQuery(collection_id=collection_id, limit=500) for collection_id in ids]
        return [reads(lambda q=query: listed.list_documents(who, q)) for query in queries]

    for who in (caller(), caller(*ids)):
        of_few, of_many = counted(who)
        assert of_few == of_many > 0


def test_the_rows_are_those_of_the_collection_source_by_source(
    services: Services, ids: list[str]
) -> None:
    whole = caller()
    few, many = ([f"{name} {n:02}" for n in range(count)] for name, count in
                 (("Few", FEW), ("Many", MANY)))  # fmt: skip
    assert titles(services, whole, DocumentsQuery(collection_id=ids[1], limit=500)) == many
    assert titles(services, whole, DocumentsQuery(limit=500)) == [*few, *many]
    assert titles(services, whole, DocumentsQuery(offset=1, limit=3)) == [few[1], *many[:2]]
    assert titles(services, caller(ids[0]), DocumentsQuery(limit=500)) == few
    assert titles(services, whole, DocumentsQuery(title="y 07", limit=500)) == ["Many 07"]


def test_users_of_an_application_see_their_documents_with_as_few_reads(
    services: Services, ids: list[str]
) -> None:
    rows = calls(services).list_documents(caller(), DocumentsQuery(limit=500)).documents
    own = [row.id for row in rows if row.title in ("Many 03", "Many 05")]
    token = caller().token
    user = Caller(token, user="ada", open_ids=(), shared_ids=tuple(ids), shared=lambda: own)
    assert titles(services, user, DocumentsQuery(limit=500)) == ["Many 03", "Many 05"]
    readable = ReadableLibrary(services.library)
    # Of the other collection nothing may be read: it does not exist.
    assert [c.collection_id for c in readable.collections(user)] == [ids[1]]
    listed = calls(services)
    of_one = reads(lambda: listed.list_documents(user, DocumentsQuery(collection_id=ids[1])))
    alone = Caller(token, user="ada", open_ids=(), shared_ids=(ids[1],), shared=lambda: own)
    assert (
        reads(lambda: listed.list_documents(alone, DocumentsQuery(collection_id=ids[1]))) == of_one
    )


def test_sources_and_the_lists_of_mcp_take_as_few(services: Services, ids: list[str]) -> None:
    collections = CollectionCalls(services.chat, services.library, lambda *_: "link")
    of_few, of_many = (reads(lambda c=c: collections.list_sources(caller(), c)) for c in ids)
    assert of_few == of_many
    mcp = LibraryCalls(services.chat, services.library, lambda *_: "link")
    of_few, of_many = (reads(lambda n=n: mcp.list_documents(caller(), n)) for n in ("Few", "Many"))
    assert of_few == of_many
    listed = mcp.list_collections(caller())["collections"]
    assert {row["name"]: row["documents"] for row in listed if row["documents"]} == {
        "Few": FEW, "Many": MANY,
    }  # fmt: skip
