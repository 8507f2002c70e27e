"""Rounds over a WebDAV folder: what changed is fetched, and nothing else."""

from collections.abc import Iterator

import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from tests.remote_room import RemoteRoom
from tests.servers.dav_server import DavServer

pytestmark = pytest.mark.slow
# With ids and ETags of folders, with neither, and with a token for what changed.
KINDS = {"ids": (True, False), "plain": (False, False), "sync": (False, True)}


@pytest.fixture(params=list(KINDS))
def cloud(request: pytest.FixtureRequest) -> Iterator[DavServer]:
    has_ids, has_sync = KINDS[request.param]
    with DavServer(has_ids=has_ids, has_sync=has_sync) as server:
        yield server


@pytest.fixture
def room(home: Home) -> Iterator[RemoteRoom]:
    made = RemoteRoom(home)
    made.start()
    yield made
    made.close()


def test_a_cloud_folder_is_read_and_kept_up_to_date(room: RemoteRoom, cloud: DavServer) -> None:
    for name in ("Reports/a.txt", "Reports/2024/b.txt", "c.txt", "d.txt"):
        cloud.write(name, f"The text of {name}.")
    room.add_remote(cloud.url())
    assert room.settle_remote() == ChangeSummary(added=4)
    assert room.texts()["Reports/2024/b.txt"] == "The text of Reports/2024/b.txt."

    cloud.asked.clear()
    assert room.again() == ChangeSummary(unchanged=4)
    assert cloud.asked_for("GET") == []

    cloud.write("c.txt", "Another text.")
    cloud.write("Reports/e.txt", "A new text.")
    cloud.move("d.txt", "Reports/2024/moved.txt")
    cloud.delete("Reports/a.txt")
    moved_id = room.rows()["d.txt"].document_id
    assert room.again() == ChangeSummary(added=1, changed=1, moved=1, gone=1, unchanged=1)
    assert sorted(cloud.asked_for("GET")) == ["Reports/e.txt", "c.txt"]
    assert room.texts() == {
        "Reports/2024/b.txt": "The text of Reports/2024/b.txt.",
        "Reports/2024/moved.txt": "The text of d.txt.",
        "Reports/e.txt": "A new text.",
        "c.txt": "Another text.",
    }
    assert room.rows()["Reports/2024/moved.txt"].document_id == moved_id
    cloud.asked.clear()
    assert room.again() == ChangeSummary(unchanged=4)
    assert cloud.asked_for("GET") == []


def test_a_folder_that_is_moved_or_deleted_takes_its_files_along(
    room: RemoteRoom, cloud: DavServer
) -> None:
    for number in range(3):
        cloud.write(f"Old/Deep/{number}.txt", f"Text {number}.")
        cloud.write(f"Gone/Deep/{number}.txt", f"Other text {number}.")
    room.add_remote(cloud.url())
    room.settle_remote()
    cloud.asked.clear()
    cloud.move("Old", "New")
    cloud.delete("Gone")
    assert room.again() == ChangeSummary(moved=3, gone=3)
    assert cloud.asked_for("GET") == []
    assert set(room.texts()) == {f"New/Deep/{number}.txt" for number in range(3)}


def test_files_that_change_places_have_their_own_texts(room: RemoteRoom, cloud: DavServer) -> None:
    cloud.write("a.txt", "First text.")
    cloud.write("b.txt", "Second.")
    room.add_remote(cloud.url())
    room.settle_remote()
    cloud.move("a.txt", "x.txt")
    cloud.move("b.txt", "a.txt")
    cloud.move("x.txt", "b.txt")
    room.again()
    by_item = {
        kept.item.path: room.documents.text(kept.document_id)
        for kept in room.journal.items(room.sources.sources()[0].source_id)
    }
    assert {path: (text or "").strip() for path, text in by_item.items()} == {
        "a.txt": "Second.", "b.txt": "First text.",
    }  # fmt: skip
    assert room.again() == ChangeSummary(unchanged=2)


def test_folders_with_the_etag_of_last_time_are_not_looked_into(room: RemoteRoom) -> None:
    with DavServer() as cloud:
        for name in ("a/1.txt", "a/b/2.txt", "c/3.txt"):
            cloud.write(name, name)
        room.add_remote(cloud.url())
        room.settle_remote()
        cloud.asked.clear()
        room.again()
        assert cloud.asked_for("PROPFIND") == [""]
        cloud.write("c/3.txt", "Another.")
        cloud.asked.clear()
        assert room.again() == ChangeSummary(changed=1, unchanged=2)
        assert cloud.asked_for("PROPFIND") == ["", "", "c"]


def test_a_lost_copy_is_fetched_again(room: RemoteRoom, cloud: DavServer) -> None:
    cloud.write("a.txt", "Text.")
    cloud.write("b.txt", "Text too.")
    room.add_remote(cloud.url())
    room.settle_remote()
    room.rows()["a.txt"].path.unlink()
    cloud.asked.clear()
    assert room.again() == ChangeSummary(changed=1, unchanged=1)
    assert cloud.asked_for("GET") == ["a.txt"]


def test_what_no_reader_takes_and_what_is_too_large_is_listed_and_not_fetched(
    room: RemoteRoom, cloud: DavServer
) -> None:
    cloud.write("film.mp4", "no text")
    cloud.write("large.txt", "x", declared=2 << 30)
    cloud.write(".hidden/x.txt", "x")
    room.add_remote(cloud.url())
    assert room.settle_remote() == ChangeSummary(added=2)
    assert cloud.asked_for("GET") == []
    rows = room.rows()
    assert {row.state for row in rows.values()} == {DocumentState.SKIPPED}
    assert rows["large.txt"].reason == "larger than 9 MB"
    assert room.again() == ChangeSummary(unchanged=2)
