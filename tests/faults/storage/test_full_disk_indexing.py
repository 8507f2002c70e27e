"""R-28 while indexing: a full disk stops it with one notice, and it goes on by itself."""

from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.waiting import Waiting
from tests.faults.storage.small_disk import SmallDisk
from tests.stored_rows import count_inconsistent

pytestmark = pytest.mark.slow

_WAIT_S = 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder on another disk than the home."""
    found = tmp_path / "files"
    found.mkdir()
    return found


def write_files(folder: Path, count: int) -> None:
    for n in range(count):
        words = " ".join(f"word{n}x{k}" for k in range(400))
        (folder / f"{n}.md").write_text(f"# Note {n}\n\nThe ferry leaves at noon. {words}")


def notices_of(services: Services) -> list[Notice]:
    heard: list[Notice] = []
    services.changes.hear(Notice, heard.append)
    return heard


def wait_for_pause(services: Services) -> None:
    while not services.library.indexing.is_retrying_later:
        assert not services.library.indexing.wait_until_idle(0.05), "it never stopped"


def wait_until_searchable(services: Services, files: int) -> None:
    """Indexing goes on, and has read all files. The time limit of a test ends the wait."""
    library = services.library
    while library.indexing.is_paused or library.documents.counts().searchable < files:
        library.indexing.wait_until_idle(0.05)


@pytest.mark.parametrize("leave_kb", [0, 300])
def test_r28_indexing_goes_on_by_itself_when_there_is_room_again(
    build_services: Callable[[], Services], disk: SmallDisk, folder: Path, leave_kb: int
) -> None:
    services = build_services()
    heard = notices_of(services)
    services.library.sources.add(folder)
    services.library.start()
    assert services.library.indexing.wait_until_idle(_WAIT_S)
    disk.fill(leave_kb * 1_000)
    write_files(folder, 60)
    services.library.sources.rescan()
    wait_for_pause(services)
    disk.free()
    wait_until_searchable(services, 60)
    assert [n.title for n in heard] == ["The disk is full."]
    assert "tried again by itself" in heard[0].hint
    assert count_inconsistent(services.engine.documents) == 0


def test_r28_a_library_starts_on_a_full_disk_and_goes_on_later(
    build_services: Callable[[], Services], disk: SmallDisk, folder: Path
) -> None:
    services = build_services()
    services.library.sources.add(folder)
    services.close()
    write_files(folder, 5)
    disk.fill()
    services = build_services()
    services.library.start()
    wait_for_pause(services)
    disk.free()
    wait_until_searchable(services, 5)


def test_r28_a_command_that_waits_for_the_index_ends_with_the_reason(
    build_services: Callable[[], Services], disk: SmallDisk, folder: Path
) -> None:
    services = build_services()
    services.library.sources.add(folder)
    write_files(folder, 5)
    disk.fill()
    with Waiting(services.library, lambda _line: None) as waiting:
        services.library.start(watch=False)
        with pytest.raises(AppError, match=r"The disk is full\. Run the command again later"):
            waiting.until_idle()
