"""Changed chunk settings or model: applied in the background while the old index answers."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import Settings
from desktop_rag.store.duckdb.duckdb_engine import database_of

pytestmark = pytest.mark.slow

Build = Callable[[], Services]
BUNDLED = resources_dir() / "models" / "all-MiniLM-L6-v2"
TEXT = "\n\n".join(f"In year {n} the keeper of lighthouse {n} wrote a letter." for n in range(90))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "letters.md").write_text(f"# Letters\n\n{TEXT}\n")
    return made


def start(services: Services, folder: Path) -> None:
    if not services.library.sources.all():
        services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(60)


def dense(services: Services) -> list[str]:
    return [p.text for p in services.chat.search("letter of lighthouse 7", mode="dense", limit=3)]


def answering_model(services: Services) -> str:
    [row] = services.engine.models.answering().values()
    return row.name


def other_model(folder: Path, home: Home) -> str:
    """The same weights under another name, chosen in the settings; its name."""
    shutil.copytree(BUNDLED, folder)
    table = folder / "model.toml"
    text = table.read_text("utf-8").replace('name = "all-MiniLM-L6-v2"', 'name = "another"')
    table.write_text(text, "utf-8")
    home.create()
    settings = Settings()
    index = replace(settings.index, model_folder=str(folder))
    save_settings(home.settings, replace(settings, index=index))
    return "another"


def test_another_way_of_cutting_is_applied_without_reading_again(
    services: Services, folder: Path
) -> None:
    start(services, folder)
    library = services.library
    [before] = library.documents.all()
    (folder / "letters.md").unlink()
    collection_id = library.collections.all()[0].collection_id
    library.collections.set_chunking(collection_id, ChunkSettings("words"))
    assert library.indexing.wait_until_idle(60)
    [after] = library.documents.all()
    chunks = library.documents.chunks(after.document_id)
    assert after.document_id == before.document_id
    assert after.state is DocumentState.SEARCHABLE
    assert after.chunk_count == len(chunks) != before.chunk_count
    assert max(len(chunk.text) for chunk in chunks) <= 1000
    assert len(dense(services)) == 3


def test_a_second_start_cuts_nothing_anew(build_services: Build, folder: Path) -> None:
    first = build_services()
    start(first, folder)
    embedded = first.library.indexing.embedded_chunks
    first.close()
    again = build_services()
    start(again, folder)
    assert embedded > 0
    assert again.library.indexing.embedded_chunks == 0


def test_documents_with_terms_of_an_older_kind_are_cut_anew_in_their_language(
    build_services: Build, folder: Path
) -> None:
    german = "Die alten Häuser am Hafen wurden gebaut, als die ersten Schiffe aus Norden kamen."
    (folder / "letters.md").write_text(german, "utf-8")
    first = build_services()
    start(first, folder)
    [before] = first.library.documents.all()
    database = database_of(first.engine)
    database.write(lambda con: con.execute("UPDATE documents SET chunking = 'older'"))
    first.close()
    again = build_services()
    start(again, folder)
    assert again.library.documents.all() == [before]
    assert before.language == "de"
    # One stem in German, two in any other language.
    assert again.chat.search("Haus", mode="lexical")


def test_until_the_vectors_of_another_model_are_there_the_old_ones_answer(
    build_services: Build, folder: Path, tmp_path: Path, home: Home
) -> None:
    first = build_services()
    start(first, folder)
    found = dense(first)
    first.close()
    name = other_model(tmp_path / "other", home)
    second = build_services()
    assert answering_model(second).startswith("all-MiniLM-L6-v2")
    assert dense(second) == found
    start(second, folder)
    assert answering_model(second).startswith(name)
    assert dense(second) == found
    second.close()
    third = build_services()
    with database_of(third.engine).read() as con:
        assert len(con.execute("SELECT name FROM models").fetchall()) == 1
    assert dense(third) == found


def test_places_and_quotes_are_found_in_a_document_that_was_read(
    services: Services, folder: Path
) -> None:
    start(services, folder)
    [document] = services.library.documents.all()
    quote = "In year 42 the KEEPER of lighthouse 42\nwrote a letter"
    span = services.library.documents.locate(document.document_id, quote)
    assert span is not None
    text = services.library.documents.text(document.document_id)
    assert text[slice(*span)].startswith("In year 42 the keeper of lighthouse 42 wrote")
    anchor = services.library.documents.place(document.document_id, *span)
    assert (anchor.heading, anchor.line) == ("Letters", 2 * 42 + 3)
