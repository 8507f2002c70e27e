"""Tags given to files of the real library outlive all that happens to them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.library_events import DocumentsChanged
from desktop_rag.core.paths import Home

pytestmark = pytest.mark.slow

QUIET_S = 30.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    for name in ("lamp.md", "boat.md"):
        (made / name).write_text(f"# {name}\n\nThe keeper writes of the {name[:4]} at noon.")
    return made


@pytest.fixture
def tagged(services: Services, folder: Path) -> Services:
    """A library whose lamp.md has a tag."""
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(QUIET_S)
    lamp = next(d for d in services.library.documents.all() if d.path.name == "lamp.md")
    assert services.library.tags.change([lamp.document_id], add=["To do"]) == 1
    return services


def found(services: Services, query: str = "tag:“to do”") -> list[str]:
    return [Path(passage.path).name for passage in services.chat.search(query)]


def look_again(services: Services) -> None:
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(QUIET_S)


def test_the_list_of_files_hears_of_it(tagged: Services) -> None:
    heard: list[tuple[str, ...]] = []

    def listen(event: DocumentsChanged) -> None:
        heard.extend(document.given_tags for document in event.documents)

    [boat] = [d for d in tagged.library.documents.all() if not d.given_tags]
    tagged.changes.hear(DocumentsChanged, listen)
    tagged.library.tags.change([boat.document_id], add=["sea"])
    assert heard == [("sea",)]


def test_searches_and_questions_are_limited_by_it(tagged: Services) -> None:
    assert found(tagged) == ["lamp.md"]
    assert found(tagged, 'keeper tag:"to do"') == ["lamp.md"]
    assert found(tagged, "keeper tag:other") == []


def test_a_changed_and_a_moved_file_keeps_it(tagged: Services, folder: Path) -> None:
    (folder / "lamp.md").write_text("# Lamp\n\nThe keeper has written something else by now.")
    look_again(tagged)
    (folder / "lamp.md").rename(folder / "light.md")
    look_again(tagged)
    assert found(tagged) == ["light.md"]


def test_a_folder_that_is_added_again_has_them_again(tagged: Services, folder: Path) -> None:
    tagged.library.sources.remove(tagged.library.sources.all()[0].source_id)
    assert found(tagged) == []
    assert tagged.library.tags.counts() == []
    for source in tagged.library.sources.all():
        tagged.library.sources.remove(source.source_id)
    tagged.library.sources.add(folder)
    assert tagged.library.indexing.wait_until_idle(QUIET_S)
    assert found(tagged) == ["lamp.md"]


def test_a_lost_library_is_built_again_with_them(
    tagged: Services, build_services: Callable[[], Services], home: Home
) -> None:
    tagged.close()
    for file in home.root.glob("library.duckdb*"):
        file.unlink()
    services = build_services()
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(QUIET_S)
    assert found(services) == ["lamp.md"]
