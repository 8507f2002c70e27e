"""Folders of the real library move between collections, with their settings."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings

pytestmark = pytest.mark.slow

QUIET_S = 30.0


@pytest.fixture
def indexed(services: Services, tmp_path: Path) -> Services:
    for name in ("letters", "bills"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# {name}\n\n" + f"The keeper writes {name}. " * 90)
        services.library.sources.add(tmp_path / name)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(QUIET_S)
    return services


def members(services: Services) -> dict[str, list[str]]:
    names = {c.collection_id: c.name for c in services.library.collections.all()}
    found: dict[str, list[str]] = {name: [] for name in names.values()}
    for source in services.library.sources.all():
        found[names[source.collection_id]].append(source.name)
    return found


def test_folders_move_with_their_settings_and_back(indexed: Services, tmp_path: Path) -> None:
    library = indexed.library
    home = library.collections.add("Home").collection_id
    library.collections.set_chunking(home, ChunkSettings("words"))
    bills = next(s for s in library.sources.all() if s.name == "bills")
    before = library.documents.below(tmp_path / "bills")[0].chunking
    former = library.collections.set_members(home, {bills.source_id})
    assert members(indexed) == {"My documents": ["letters"], "Home": ["bills"]}
    assert library.indexing.wait_until_idle(QUIET_S)
    [now] = library.documents.below(tmp_path / "bills")
    assert now.chunking != before
    assert now.state.is_searchable
    library.collections.move_back(former)
    assert members(indexed) == {"My documents": ["letters", "bills"], "Home": []}
    assert library.indexing.wait_until_idle(QUIET_S)
    assert library.documents.below(tmp_path / "bills")[0].chunking == before


def test_what_is_taken_out_goes_to_another(indexed: Services) -> None:
    library = indexed.library
    mine = library.collections.all()[0].collection_id
    with pytest.raises(AppError, match="no other collection"):
        library.collections.set_members(mine, set())
    library.collections.add("Home")
    library.collections.set_members(mine, set())
    assert members(indexed) == {"My documents": [], "Home": ["letters", "bills"]}


def test_the_same_folder_is_not_twice_in_a_collection(indexed: Services, tmp_path: Path) -> None:
    library = indexed.library
    home = library.collections.add("Home").collection_id
    again = library.sources.add(tmp_path / "bills", home)
    mine = library.collections.all()[0].collection_id
    everything = {source.source_id for source in library.sources.all()}
    with pytest.raises(AppError, match="in the library already"):
        library.collections.set_members(mine, everything)
    kept = next(s for s in library.sources.all() if s.source_id == again.source_id)
    assert kept.collection_id == home
