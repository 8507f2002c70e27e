"""Single files of the real library are excluded, included again, and read again."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import EXCLUDED, Document, DocumentState, SourceRules
from desktop_rag.core.errors import AppError

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
    return services


def named(services: Services, name: str) -> Document:
    return next(d for d in services.library.documents.all() if d.path.name == name)


def found(services: Services) -> list[str]:
    return sorted(Path(passage.path).name for passage in services.chat.search("keeper"))


def look_again(services: Services) -> None:
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(QUIET_S)


@pytest.mark.slow
def test_an_excluded_file_is_found_no_more_and_read_no_more(
    indexed: Services, folder: Path
) -> None:
    [row] = indexed.library.exclusions.exclude([named(indexed, "lamp.md").document_id])
    assert (row.state, row.reason, row.is_excluded) == (DocumentState.SKIPPED, EXCLUDED, True)
    assert found(indexed) == ["boat.md", "wick.md"]
    assert indexed.library.documents.text(row.document_id) == ""
    (folder / "lamp.md").write_text("# New\n\nThe keeper wrote all of it anew.")
    look_again(indexed)
    assert named(indexed, "lamp.md").is_excluded
    assert found(indexed) == ["boat.md", "wick.md"]
    assert indexed.library.documents.read_again([row.document_id]) == 0
    assert named(indexed, "lamp.md").is_excluded


@pytest.mark.everyday
def test_a_file_that_is_included_again_is_read(indexed: Services) -> None:
    lamp = named(indexed, "lamp.md").document_id
    wick = named(indexed, "wick.md").document_id
    assert len(indexed.library.exclusions.exclude([lamp, wick])) == 2
    assert indexed.library.sources.all()[0].rules.excluded_files == ("lamp.md", "old/wick.md")
    assert [d.document_id for d in indexed.library.exclusions.include([lamp])] == [lamp]
    assert indexed.library.indexing.wait_until_idle(QUIET_S)
    assert found(indexed) == ["boat.md", "lamp.md"]
    look_again(indexed)
    assert found(indexed) == ["boat.md", "lamp.md"]
    assert indexed.library.exclusions.include([lamp]) == [], "it is included already"


@pytest.mark.slow
def test_an_excluded_file_stays_excluded_under_another_name(
    indexed: Services, folder: Path
) -> None:
    indexed.library.exclusions.exclude([named(indexed, "lamp.md").document_id])
    look_again(indexed)
    (folder / "lamp.md").rename(folder / "old" / "lantern.md")
    for _ in range(2):
        look_again(indexed)
        assert named(indexed, "lantern.md").is_excluded
    [source] = indexed.library.sources.all()
    assert source.rules == SourceRules(excluded_files=("old/lantern.md",))


@pytest.mark.slow
def test_a_source_that_is_a_file_can_be_excluded(services: Services, folder: Path) -> None:
    services.library.sources.add(folder / "boat.md")
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(QUIET_S)
    services.library.exclusions.exclude([named(services, "boat.md").document_id])
    look_again(services)
    assert named(services, "boat.md").is_excluded
    assert found(services) == []


@pytest.mark.slow
def test_too_many_single_files_are_refused(indexed: Services) -> None:
    [source] = indexed.library.sources.all()
    many = SourceRules(excluded_files=tuple(f"{n}.md" for n in range(5_000)))
    indexed.library.sources.set_rules(source.source_id, many)
    with pytest.raises(AppError, match="Too many"):
        indexed.library.exclusions.exclude([named(indexed, "lamp.md").document_id])
    assert not named(indexed, "lamp.md").is_excluded


@pytest.mark.slow
def test_one_file_is_read_again(indexed: Services, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and nothing more")
    look_again(indexed)
    broken = named(indexed, "broken.pdf")
    assert broken.state is DocumentState.FAILED
    read_at = named(indexed, "boat.md").indexed_at
    ids = [broken.document_id, named(indexed, "boat.md").document_id]
    assert indexed.library.documents.read_again(ids) == 2
    assert indexed.library.indexing.wait_until_idle(QUIET_S)
    assert named(indexed, "broken.pdf").indexed_at > broken.indexed_at
    assert named(indexed, "boat.md").indexed_at > read_at
    assert found(indexed) == ["boat.md", "lamp.md", "wick.md"]
