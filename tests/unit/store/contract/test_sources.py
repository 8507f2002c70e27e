from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import SourceRules, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.sources import SourceStore
from tests.stored_rows import add, document, indexed, put


@pytest.fixture
def store(engine: Engine) -> SourceStore:
    return engine.sources


def test_collections_have_unique_names(store: SourceStore) -> None:
    first = store.add_collection(" Work ")
    assert first.name == "Work"
    assert store.collections() == [first]
    for name in ("work", "  "):
        with pytest.raises(AppError):
            store.add_collection(name)


def test_a_collection_can_be_renamed_but_not_to_the_name_of_another(store: SourceStore) -> None:
    work, home = store.add_collection("Work"), store.add_collection("Home")
    assert store.rename_collection(work.collection_id, "work").name == "work"
    with pytest.raises(AppError):
        store.rename_collection(work.collection_id, "home")
    assert [c.name for c in store.collections()] == ["work", home.name]


def test_the_default_collection_is_the_oldest_and_made_once(store: SourceStore) -> None:
    made = store.default_collection("My documents")
    store.add_collection("Another")
    assert store.default_collection("Another name") == made


def test_the_way_a_collection_is_cut_is_kept(store: SourceStore) -> None:
    work = store.add_collection("Work")
    assert work.chunking == ChunkSettings()
    chunking = ChunkSettings("tokens", 128, 16)
    assert store.set_chunking(work.collection_id, chunking).chunking == chunking
    assert store.collections()[0].chunking == chunking


def test_the_model_of_a_collection_is_kept(store: SourceStore) -> None:
    work = store.add_collection("Work")
    assert work.embedder == ""
    assert store.set_embedder(work.collection_id, "models/e5").embedder == "models/e5"
    assert store.collections()[0].embedder == "models/e5"


def test_the_intranet_hosts_of_a_collection_are_kept(store: SourceStore) -> None:
    work = store.add_collection("Work")
    assert work.intranet_hosts == ()
    hosts = ("wiki.example:8080", "10.1.0.0/16", "wiki.example 10.0.0.0/8")
    assert store.set_intranet_hosts(work.collection_id, hosts).intranet_hosts == hosts
    assert store.collections()[0].intranet_hosts == hosts


def test_a_collection_that_was_removed_cannot_be_changed(store: SourceStore) -> None:
    for change in (
        lambda: store.set_embedder("unknown", "models/e5"),
        lambda: store.set_chunking("unknown", ChunkSettings()),
        lambda: store.rename_collection("unknown", "Work"),
    ):
        with pytest.raises(AppError):
            change()
    assert store.collections() == []


def test_rules_and_links_come_back_as_they_were_stored(store: SourceStore, tmp_path: Path) -> None:
    papers = store.add_collection("Papers").collection_id
    rules = SourceRules(uses_gitignore=True, excluded=("*.log", "/build"), max_file_mb=5)
    folder = store.add_source(tmp_path, papers)
    file = store.add_source(tmp_path / "ä.txt", papers, rules)
    store.set_rules(folder.source_id, rules)
    links = store.add_links(WebLinks(("https://a.example/",), 7, 0.5), tmp_path / "pages", papers)
    store.set_refreshed(links.source_id, 12.5)
    again, same, pages = store.sources()
    assert again.rules == rules
    assert again.links is None
    assert same == file
    assert pages.links == WebLinks(("https://a.example/",), 7, 0.5)
    assert pages.path == tmp_path / "pages" / links.source_id
    assert pages.refreshed_at == 12.5


def test_only_an_empty_collection_goes(store: SourceStore, tmp_path: Path) -> None:
    work = store.add_collection("Work")
    source = store.add_source(tmp_path, work.collection_id)
    store.remove_collection(work.collection_id)
    assert store.collections() == [work]
    store.remove_source(source.source_id)
    store.remove_collection(work.collection_id)
    assert store.collections() == []


def test_files_of_a_folder_that_mirrors_a_site_have_addresses(
    engine: Engine, store: SourceStore, tmp_path: Path
) -> None:
    root = tmp_path / "mirror"
    source = store.add_source(root, "c")
    page = replace(document("a", source.source_id), path=root / "guide" / "the way.html")
    add(engine, page)
    engine.documents.settle([indexed(page, "the lighthouse")])
    assert [d.address for d in engine.documents.documents()] == [""]
    store.set_base_address(source.source_id, "https://docs.example.org/en/")
    address = "https://docs.example.org/en/guide/the%20way.html"
    assert [(d.url, d.address) for d in engine.documents.get(["a"])] == [("", address)]
    assert store.sources()[0].base_address == "https://docs.example.org/en/"
    [(chunk_id, score)] = engine.lexical.best([("lighthous",)], 5)
    assert [p.url for p in engine.lexical.passages({chunk_id: score})] == [address]
    store.set_base_address(source.source_id, "")
    assert [p.url for p in engine.lexical.passages({chunk_id: score})] == [""]


def test_the_links_of_a_source_are_changed(engine: Engine, tmp_path: Path) -> None:
    links = WebLinks(("https://a.example/",), follow_depth=3, path_limit="/guide/")
    source = engine.sources.add_links(WebLinks(("https://b.example/",)), tmp_path / "pages", "c")
    engine.sources.set_links(source.source_id, links)
    assert engine.sources.sources()[0].links == links


def test_a_source_that_is_put_away_is_found_nowhere_until_it_is_brought_back(
    engine: Engine,
) -> None:
    store = engine.sources
    put(engine, "lamp.md", "The lamp is lit.")
    [source] = store.sources()
    store.set_put_away(source.source_id, is_put_away=True)
    assert (store.sources(), engine.documents.documents()) == ([], [])
    assert engine.documents.counts().total == 0
    store.set_put_away(source.source_id, is_put_away=False)
    assert store.sources() == [source]
    assert len(engine.documents.documents()) == 1
