"""A folder that was moved is found again, and what is known of its files is kept."""

import shutil
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import Document, Source, SourceState
from desktop_rag.core.errors import AppError

pytestmark = pytest.mark.slow

QUIET_S = 30.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    (made / "old").mkdir(parents=True)
    for name in ("lamp.md", "boat.md", "old/wick.md"):
        (made / name).write_text(f"# {name}\n\nThe keeper writes of the {name[:4]} at noon.")
    return made


@pytest.fixture
def indexed(services: Services, folder: Path) -> Services:
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(QUIET_S)
    [lamp] = [d for d in services.library.documents.all() if d.path.name == "lamp.md"]
    services.library.tags.change([lamp.document_id], add=["light"])
    return services


def source(services: Services) -> Source:
    [only] = services.library.sources.all()
    return only


def documents(services: Services) -> dict[str, Document]:
    return {d.path.name: d for d in services.library.documents.all()}


def look_again(services: Services) -> None:
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(QUIET_S)


def test_nothing_is_read_or_embedded_anew(indexed: Services, folder: Path, tmp_path: Path) -> None:
    before, embedded = documents(indexed), indexed.library.indexing.embedded_chunks
    chunks = {passage.chunk_id for passage in indexed.chat.search("keeper lamp")}
    goal = tmp_path / "elsewhere" / "letters"
    goal.parent.mkdir()
    shutil.copytree(folder, goal)  # as on another disk: other inodes, the same times
    shutil.rmtree(folder)
    look_again(indexed)
    assert source(indexed).state is SourceState.OFFLINE
    indexed.library.sources.locate(source(indexed).source_id, goal)
    assert indexed.library.indexing.wait_until_idle(QUIET_S)
    assert (source(indexed).path, source(indexed).state) == (goal, SourceState.WATCHED)
    now = documents(indexed)
    assert now["wick.md"].path == goal / "old" / "wick.md"
    assert {n: d.document_id for n, d in now.items()} == {
        n: d.document_id for n, d in before.items()
    }
    # What is read anew gets other chunks.
    assert {passage.chunk_id for passage in indexed.chat.search("keeper lamp")} == chunks
    assert indexed.library.indexing.embedded_chunks == embedded
    assert now["lamp.md"].given_tags == ("light",)
    found = {Path(passage.path) for passage in indexed.chat.search("keeper lamp")}
    assert goal / "lamp.md" in found


def test_what_changed_meanwhile_is_read(indexed: Services, folder: Path, tmp_path: Path) -> None:
    before = documents(indexed)
    goal = folder.rename(tmp_path / "letters")
    (goal / "boat.md").write_text("# Boat\n\nThe boat has a new sail.")
    (goal / "lamp.md").touch()
    (goal / "old" / "wick.md").unlink()
    embedded = indexed.library.indexing.embedded_chunks
    indexed.library.sources.locate(source(indexed).source_id, goal)
    assert indexed.library.indexing.wait_until_idle(QUIET_S)
    look_again(indexed)
    now = documents(indexed)
    assert set(now) == {"boat.md", "lamp.md"}
    assert "sail" in indexed.library.documents.text(now["boat.md"].document_id)
    assert now["lamp.md"].document_id == before["lamp.md"].document_id
    assert indexed.library.indexing.embedded_chunks - embedded == 1, "the new sail only"


def test_it_can_not_be_where_nothing_or_another_is(indexed: Services, tmp_path: Path) -> None:
    source_id = source(indexed).source_id
    with pytest.raises(AppError, match="does not exist"):
        indexed.library.sources.locate(source_id, tmp_path / "nowhere")
    (tmp_path / "other").mkdir()
    indexed.library.sources.add(tmp_path / "other")
    with pytest.raises(AppError, match="in the library already"):
        indexed.library.sources.locate(source_id, tmp_path / "other")
