"""A collection with its own model: embedded while the old one answers, and never mixed."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import Collection, DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.question import SearchScope
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.servers.embedding_server import EmbeddingServer

pytestmark = pytest.mark.slow

Build = Callable[[], Services]
BUNDLED = resources_dir() / "models" / "all-MiniLM-L6-v2"
LETTERS = "\n\n".join(
    f"In year {n} the keeper of lighthouse {n} wrote a letter." for n in range(60)
)
BILLS = "\n\n".join(f"In year {n} the harbour paid bill {n} for coal and ropes." for n in range(60))


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """One folder for each of two collections, with a common file."""
    made = {name: tmp_path / name for name in ("letters", "bills")}
    for name, text in (("letters", LETTERS), ("bills", BILLS)):
        made[name].mkdir()
        (made[name] / f"{name}.md").write_text(f"# {name}\n\n{text}\n", "utf-8")
        (made[name] / "shared.md").write_text("# Shared\n\nThe tide tables hang in the hall.\n")
    return made


@pytest.fixture
def other_model(tmp_path: Path) -> Path:
    """The same weights with another name and a prefix."""
    folder = Path(shutil.copytree(BUNDLED, tmp_path / "other"))
    table = folder / "model.toml"
    text = table.read_text("utf-8").replace('name = "all-MiniLM-L6-v2"', 'name = "another"')
    table.write_text(text.replace('passage_prefix = ""', 'passage_prefix = "passage: "'), "utf-8")
    return folder


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


def add(services: Services, folders: dict[str, Path]) -> None:
    for name, folder in folders.items():
        collection = services.library.collections.find_or_add(name)
        services.library.sources.add(folder, collection.collection_id)
    start(services)


def start(services: Services) -> None:
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(60)


def collection(services: Services, name: str) -> Collection:
    return services.library.collections.find(name)


def answering(services: Services) -> dict[str, str]:
    """Collection → name of the model whose vectors answer for it."""
    rows = services.engine.models.answering()
    names = {c.collection_id: c.name for c in services.library.collections.all()}
    return {names[i]: row.name.partition("@")[0] for i, row in rows.items()}


def vectors(services: Services) -> dict[str, set[str]]:
    """Model → titles of the documents whose passages have its vectors."""
    with database_of(services.engine).read() as con:
        models = con.execute("SELECT model_id, name FROM models").fetchall()
        return {
            name.partition("@")[0]: {
                row[0]
                for row in con.execute(
                    "SELECT DISTINCT title FROM documents JOIN chunks USING (document_id)"
                    f" JOIN vectors_{model_id} v ON v.content_hash = chunks.content_hash"
                ).fetchall()
            }
            for model_id, name in models
        }


def dense(services: Services, query: str, collection_id: str = "") -> list[str]:
    found = services.chat.search(
        query, mode="dense", limit=3, reach=SearchScope.of_collection(collection_id)
    )
    return [passage.title for passage in found]


def heard(services: Services) -> list[Notice]:
    notices: list[Notice] = []
    services.changes.hear(Notice, notices.append)
    return notices


def test_one_collection_is_embedded_with_another_model_behind_the_old_one(
    services: Services, folders: dict[str, Path], other_model: Path
) -> None:
    add(services, folders)
    bills = collection(services, "bills").collection_id
    before = services.library.indexing.embedded_chunks
    services.library.indexing.pause()
    services.library.collections.set_embedder(bills, str(other_model))
    # Nothing of the new model is ready: the old one answers.
    assert "bills" in dense(services, "coal for the harbour", bills)
    assert answering(services)["bills"] == "all-MiniLM-L6-v2"
    services.library.indexing.resume()
    assert services.library.indexing.wait_until_idle(60)
    assert answering(services) == {"letters": "all-MiniLM-L6-v2", "bills": "another"}
    assert vectors(services) == {
        "all-MiniLM-L6-v2": {"letters", "Shared"},
        "use-multilingual-3": {"letters", "Shared"},
        "another": {"bills", "Shared"},
    }
    assert services.library.indexing.embedded_chunks > before
    states = {document.state for document in services.library.documents.all()}
    assert states == {DocumentState.SEARCHABLE}
    assert "bills" in dense(services, "coal for the harbour", bills)
    titles = dense(services, "letter of a lighthouse keeper") + dense(services, "paid for coal")
    assert {"letters", "bills"} <= set(titles)


def test_search_finds_both_collections_while_one_is_half_embedded(
    build_services: Build, folders: dict[str, Path], other_model: Path
) -> None:
    first = build_services()
    add(first, folders)
    found = dense(first, "paid for coal and ropes")
    bills = collection(first, "bills").collection_id
    first.library.indexing.pause()
    first.library.collections.set_embedder(bills, str(other_model))
    first.close()
    again = build_services()  # nothing runs before its start
    assert dense(again, "paid for coal and ropes") == found
    assert answering(again)["bills"] == "all-MiniLM-L6-v2"
    start(again)
    assert answering(again)["bills"] == "another"
    again.close()
    third = build_services()
    assert "bills" in dense(third, "paid for coal and ropes")
    start(third)
    assert third.library.indexing.embedded_chunks == 0
    assert vectors(third)["another"] == {"bills", "Shared"}


def test_a_model_that_nobody_uses_any_more_is_forgotten(
    build_services: Build, folders: dict[str, Path], other_model: Path
) -> None:
    first = build_services()
    add(first, folders)
    bills = collection(first, "bills").collection_id
    first.library.collections.set_embedder(bills, str(other_model))
    assert first.library.indexing.wait_until_idle(60)
    first.library.collections.set_embedder(bills, "")
    assert first.library.indexing.wait_until_idle(60)
    assert answering(first)["bills"] == "all-MiniLM-L6-v2"
    assert vectors(first)["another"] == set()
    first.close()
    again = build_services()
    assert set(vectors(again)) == {"all-MiniLM-L6-v2", "use-multilingual-3"}


def test_a_folder_without_a_model_is_refused_and_nothing_changes(
    services: Services, folders: dict[str, Path], tmp_path: Path
) -> None:
    add(services, folders)
    bills = collection(services, "bills")
    with pytest.raises(AppError, match="cannot be used"):
        services.library.collections.set_embedder(bills.collection_id, str(tmp_path))
    assert collection(services, "bills") == bills
    assert services.library.indexing.wait_until_idle(60)


def test_a_model_that_is_gone_leaves_words_and_a_notice(
    build_services: Build, folders: dict[str, Path], other_model: Path
) -> None:
    first = build_services()
    add(first, folders)
    bills = collection(first, "bills").collection_id
    first.library.collections.set_embedder(bills, str(other_model))
    assert first.library.indexing.wait_until_idle(60)
    first.close()
    shutil.move(other_model, other_model.with_name("elsewhere"))
    again = build_services()
    notices = heard(again)
    start(again)
    assert [notice.title for notice in notices] == [
        f"The embedding model in {other_model} cannot be used."
    ]
    assert not set(dense(again, "paid for coal")) & {"bills"}
    assert dense(again, "lighthouse keeper")[0] == "letters"
    lexical = again.chat.search("coal ropes", mode="hybrid", reach=SearchScope.of_collection(bills))
    assert lexical[0].title == "bills"
    again.close()
    shutil.move(other_model.with_name("elsewhere"), other_model)
    third = build_services()
    start(third)
    assert third.library.indexing.embedded_chunks == 0
    assert "bills" in dense(third, "paid for coal")


def test_an_endpoint_embeds_one_collection_and_is_asked_for_nothing_else(
    services: Services, folders: dict[str, Path], server: EmbeddingServer
) -> None:
    add(services, folders)
    bills = collection(services, "bills").collection_id
    services.library.collections.set_embedder(bills, server.address)
    assert services.library.indexing.wait_until_idle(60)
    assert answering(services)["bills"] == "tiny-embed"
    assert "bills" in dense(services, "harbour paid bill coal ropes", bills)
    assert not any("lighthouse" in text for text in server.embedded)
    asked = len(server.requests)
    letters = collection(services, "letters").collection_id
    assert dense(services, "lighthouse keeper", letters)[0] == "letters"
    assert len(server.requests) == asked


def test_an_endpoint_whose_key_is_stored_later_can_be_chosen_then(
    services: Services,
    folders: dict[str, Path],
    server: EmbeddingServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.wanted_key = "sk-right"
    add(services, folders)
    bills = collection(services, "bills").collection_id
    with pytest.raises(AppError, match="requires a key"):
        services.library.collections.set_embedder(bills, server.address)
    monkeypatch.setenv("DESKTOP_RAG_API_KEY", "sk-right")
    services.library.collections.set_embedder(bills, server.address)
    assert services.library.indexing.wait_until_idle(60)
    assert answering(services)["bills"] == "tiny-embed"


def test_while_the_endpoint_is_away_words_are_searched_and_embedding_waits(
    services: Services, folders: dict[str, Path], server: EmbeddingServer
) -> None:
    add(services, folders)
    notices = heard(services)
    bills = collection(services, "bills").collection_id
    services.library.collections.set_embedder(bills, server.address)
    assert services.library.indexing.wait_until_idle(60)
    server.mode = "close"
    (folders["bills"] / "new.md").write_text("# New\n\nA bill for whale oil.\n")
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(60)
    [new] = [d for d in services.library.documents.all() if d.title == "New"]
    assert new.state is DocumentState.SEARCHABLE_BY_WORDS
    assert len(notices) == 1
    assert "closed the connection" in notices[0].title
    assert not services.library.indexing.is_paused
    asked = len(server.requests)
    assert (
        services.chat.search("whale oil", reach=SearchScope.of_collection(bills))[0].title == "New"
    )
    assert len(server.requests) <= asked + 1
    server.mode = "answer"
    services.library.indexing.resume()
    assert services.library.indexing.wait_until_idle(60)
    [new] = [d for d in services.library.documents.all() if d.title == "New"]
    assert new.state is DocumentState.SEARCHABLE


def test_an_endpoint_with_vectors_of_another_length_gets_a_table_of_its_own(
    build_services: Build, folders: dict[str, Path], server: EmbeddingServer
) -> None:
    first = build_services()
    add(first, folders)
    bills = collection(first, "bills").collection_id
    first.library.collections.set_embedder(bills, server.address)
    assert first.library.indexing.wait_until_idle(60)
    first.close()
    server.dimensions = 48
    again = build_services()
    assert "bills" in [
        p.title for p in again.chat.search("coal ropes", reach=SearchScope.of_collection(bills))
    ]
    start(again)
    assert "bills" in dense(again, "harbour paid bill coal ropes", bills)
    rows = again.engine.models.answering()
    assert rows[bills].dimensions == 48
