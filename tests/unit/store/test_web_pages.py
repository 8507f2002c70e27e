from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.store.database import Database
from desktop_rag.store.documents import DocumentStore
from desktop_rag.store.sources import SourceStore
from desktop_rag.store.web_pages import WebPage, WebPageStore


def test_what_was_said_last_of_a_page_is_known(database: Database) -> None:
    store = WebPageStore(database)
    store.put("a", WebPage('"1"', "Mon, 01 Jan 2024 00:00:00 GMT", 1.5))
    store.put("a", WebPage('"2"', "", 2.5))
    store.put("b", WebPage())
    assert store.get(["a", "b", "c"]) == {"a": WebPage('"2"', "", 2.5), "b": WebPage()}
    assert store.get([]) == {}


def test_pages_go_with_their_documents(database: Database, tmp_path: Path) -> None:
    source = SourceStore(database).add_source(tmp_path, "c")
    kept = Document(
        "kept", source.source_id, tmp_path / "a.html", "", "html", FileStat(0, 0, 0), "",
        DocumentState.WAITING,
    )  # fmt: skip
    DocumentStore(database).apply_changes(source.source_id, [kept], {}, [])
    store = WebPageStore(database)
    store.put("kept", WebPage('"1"'))
    store.put("gone", WebPage('"2"'))
    store.purge()
    assert set(store.get(["kept", "gone"])) == {"kept"}
