"""The library of Zotero, served by a stand-in over HTTP: items, notes, files, changes, faults."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from desktop_rag.core.crawling import CrawlState
from desktop_rag.core.domain import DocumentState, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.zotero import ZOTERO, checked
from tests.remote_room import QUICK, RemoteRoom
from tests.servers.dav_server import cut_off, says
from tests.servers.zotero_server import ZoteroServer

pytestmark = pytest.mark.slow
BOAT = "Ships/Rigs/erk2019 On sails.md"


@pytest.fixture
def zotero(tmp_path: Path) -> Iterator[ZoteroServer]:
    with ZoteroServer() as server:
        server.collect("CCCC", "Ships")
        server.collect("DDDD", "Rigs", "CCCC")
        server.put(
            "AAAA", "journalArticle", "2019-05-02", title="On sails", collections=["DDDD"],
            creators=[{"firstName": "Ann", "lastName": "Erk"}], tags=[{"tag": "canvas"}],
            abstractNote="Sails are of canvas.", extra="Citation Key: erk2019\nother",
        )  # fmt: skip
        server.put("NNNN", "note", parentItem="AAAA", note="<p>Ask <b>Ann</b> &amp; Bob.</p>")
        server.put(
            "FFFF", "attachment", parentItem="AAAA", linkMode="imported_file", filename="s.txt"
        )
        server.put(
            "HHHH", "annotation", parentItem="FFFF", annotationText="sails rot",
            annotationComment="Not ours.", annotationPageLabel="7", annotationSortIndex="1",
        )  # fmt: skip
        server.put("BBBB", "book", title="Oars", collections=[])
        file = tmp_path / "storage" / "FFFF" / "s.txt"
        file.parent.mkdir(parents=True)
        file.write_text("The whole text about sails.")
        server.files["FFFF"] = file
        yield server


@pytest.fixture
def room(home: Home) -> Iterator[RemoteRoom]:
    made = RemoteRoom(home, QUICK, ZOTERO)
    made.start()
    yield made
    made.close()


def test_items_with_notes_annotations_and_files_are_documents(
    room: RemoteRoom, zotero: ZoteroServer
) -> None:
    room.add_remote(zotero.url)
    assert room.settle_remote() == ChangeSummary(added=3)
    texts = room.texts()
    assert set(texts) == {BOAT, "Ships/Rigs/erk2019 On sails.txt", "Unfiled/Oars.md"}
    for said in ("Ask Ann & Bob.", "sails rot", "Not ours.", "Annotation, page 7", "of canvas"):
        assert said in texts[BOAT]
    assert texts["Ships/Rigs/erk2019 On sails.txt"] == "The whole text about sails."
    row = room.rows()[BOAT]
    assert (row.title, row.dated) == ("On sails", "2019-05-02")
    assert {"canvas", "Ann Erk", "2019", "Ships / Rigs"} <= set(row.tags)


def test_what_changes_is_found_and_a_library_that_did_not_costs_one_request(
    room: RemoteRoom, zotero: ZoteroServer
) -> None:
    room.add_remote(zotero.url)
    room.settle_remote()
    zotero.asked.clear()
    assert room.again() == ChangeSummary(unchanged=3)
    assert len(zotero.asked) == 1
    zotero.put("NNNN", "note", parentItem="AAAA", note="<p>Ask Cleo.</p>")
    zotero.delete("BBBB")
    assert room.again() == ChangeSummary(changed=1, gone=1, unchanged=1)
    assert "Ask Cleo." in room.texts()[BOAT]
    zotero.collect("DDDD", "Rigging", "CCCC")
    room.again()
    assert "Ships/Rigging/erk2019 On sails.md" in room.texts()


@pytest.mark.parametrize("fault", [says(500), says(403), cut_off, says(200)])
def test_a_listing_that_fails_deletes_nothing(
    room: RemoteRoom, zotero: ZoteroServer, fault: object
) -> None:
    room.add_remote(zotero.url)
    room.settle_remote()
    zotero.delete("BBBB")
    zotero.faults["/api/users/0/items?limit=100"] = fault  # pyright: ignore[reportArgumentType]
    room.again()
    [report] = room.remotes.reports.values()
    assert report.state is CrawlState.OFFLINE
    assert len(room.texts()) == 3
    zotero.faults.clear()
    assert room.again() == ChangeSummary(gone=1, unchanged=2)


def test_a_file_that_is_not_here_says_so_and_the_rest_is_read(
    room: RemoteRoom, zotero: ZoteroServer
) -> None:
    zotero.files["FFFF"].unlink()
    room.add_remote(zotero.url)
    room.settle_remote()
    row = room.rows()["Ships/Rigs/erk2019 On sails.txt"]
    assert row.state is DocumentState.FAILED
    assert row.reason.startswith("The file is not in the storage folder of Zotero.")
    assert "canvas" in room.texts()[BOAT]


def test_only_this_computer_is_asked() -> None:
    with pytest.raises(AppError, match="this computer only"):
        checked(WebLinks(("https://api.zotero.org/users/1",), remote="zotero"))
    assert checked(WebLinks(("http://localhost:23119/",), remote="zotero")).urls == (
        "http://localhost:23119/",
    )


def test_a_preview_lists_collections(room: RemoteRoom, zotero: ZoteroServer) -> None:
    links = checked(WebLinks((zotero.url,), remote="zotero"))
    preview = room.remotes.preview(links, "", Event())
    assert (preview.files, preview.folders) == (3, ("Ships", "Unfiled"))
