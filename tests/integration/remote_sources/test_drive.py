"""Google Drive, served by a stand-in over HTTP: the login, files, exports, changes and faults."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from desktop_rag.core.crawling import CrawlState
from desktop_rag.core.domain import WebLinks
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.drive import DRIVE, checked, log_in
from desktop_rag.features.remote_sources.remote_sources import RemoteSources
from tests.remote_room import QUICK, RemoteRoom
from tests.servers.dav_server import cut_off, says
from tests.servers.drive_server import DOCUMENT, FOLDER, DriveServer

pytestmark = pytest.mark.slow


@pytest.fixture
def drive() -> Iterator[DriveServer]:
    with DriveServer() as server:
        server.put("d1", "Boats", kind=FOLDER)
        server.put("f1", "sails.txt", b"The text about sails.", parent="d1")
        server.put("f2", "sails.txt", b"Another text.", parent="d1")
        server.put("g1", "Plan", b"PK", DOCUMENT)
        server.put("f3", "given.txt", b"From Bob.", parent="", permissions=[
            {"type": "user", "emailAddress": "bob@example.org"}, {"type": "anyone"},
        ])  # fmt: skip
        server.put("m1", "Places", kind="application/vnd.google-apps.map")
        yield server
        for browser in server.browsers:
            browser.join()


@pytest.fixture
def room(home: Home, drive: DriveServer) -> Iterator[RemoteRoom]:
    made = RemoteRoom(home, QUICK, DRIVE)
    # Of the room only the browser is another one.
    kind = replace(DRIVE, open=made.quick.open, log_in=partial(log_in, show=drive.agree))
    made.remotes = RemoteSources(made.kit, kind, made.secrets, lambda: made.now)
    made.start()
    yield made
    made.close()


def state_of(room: RemoteRoom) -> CrawlState:
    [report] = room.remotes.reports.values()
    return report.state


def links_of(drive: DriveServer) -> WebLinks:
    return WebLinks((drive.url,), remote="drive", user="ann")


def test_a_person_logs_in_and_their_files_are_read(room: RemoteRoom, drive: DriveServer) -> None:
    preview = room.remotes.preview(checked(links_of(drive)), "secret", threading.Event())
    assert preview.files == 4
    room.add_remote(drive.url)
    assert len(drive.browsers) == 1, "the login of the preview is kept"
    assert room.settle_remote() == ChangeSummary(added=4)
    texts = room.texts()
    assert texts["Boats/sails.txt"] == "The text about sails."
    assert texts["Boats/sails f2.txt"] == "Another text."
    assert texts["Shared with me/given.txt"] == "From Bob."
    assert "Plan.docx" in texts
    exported = [target for target in drive.asked if "/export?" in target]
    word = "application%2Fvnd.openxmlformats-officedocument.wordprocessingml.document"
    assert exported == [f"/drive/v3/files/g1/export?mimeType={word}"]
    [kept] = [k for k in room.journal.items(room.sources.sources()[0].source_id) if k.item.readers]
    assert kept.item.readers == ("anyone", "bob@example.org")


def test_what_changes_is_found_and_nothing_new_costs_a_request(
    room: RemoteRoom, drive: DriveServer
) -> None:
    room.add_remote(drive.url)
    room.settle_remote()
    drive.asked.clear()
    assert room.again() == ChangeSummary(unchanged=4)
    assert [target.partition("?")[0] for target in drive.asked] == ["/token", "/drive/v3/changes"]
    drive.put("f1", "sails.txt", b"A longer text about sails.", parent="d1")
    drive.delete("f3")
    drive.put("d1", "Ships", kind=FOLDER)
    assert room.again() == ChangeSummary(changed=1, moved=1, gone=1, unchanged=1)
    assert room.texts()["Ships/sails.txt"] == "A longer text about sails."


@pytest.mark.parametrize("fault", [says(500), says(403), says(429), cut_off, says(200)])
def test_a_listing_that_fails_deletes_nothing(
    room: RemoteRoom, drive: DriveServer, fault: object
) -> None:
    room.add_remote(drive.url)
    room.settle_remote()
    drive.delete("f3")
    drive.faults["/drive/v3/files?"] = fault  # pyright: ignore[reportArgumentType]
    room.again()
    assert state_of(room) is CrawlState.OFFLINE
    assert len(room.texts()) == 4
    drive.faults.clear()
    assert room.again() == ChangeSummary(gone=1, unchanged=3)


def test_a_login_that_ended_waits_for_the_person(room: RemoteRoom, drive: DriveServer) -> None:
    room.add_remote(drive.url)
    room.settle_remote()
    drive.refresh_token = "r-2"
    room.again()
    assert state_of(room) is CrawlState.OFFLINE
    [notice] = room.heard.told
    assert notice.hint.startswith("Google no longer accepts the login.")
    assert len(room.texts()) == 4


def test_a_login_is_in_no_file(room: RemoteRoom, drive: DriveServer, home: Home) -> None:
    drive.refresh_token = "r-4711-unmistakable"
    room.add_remote(drive.url)
    room.settle_remote()
    written = [file for file in Path(home.root).rglob("*") if file.is_file()]
    assert written
    assert not [file for file in written if drive.refresh_token.encode() in file.read_bytes()]


def test_a_person_who_does_not_agree_is_told(drive: DriveServer) -> None:
    drive.is_willing = False
    with pytest.raises(AppError, match="did not let"):
        log_in(links_of(drive), "secret", threading.Event(), drive.agree)


def test_a_login_ends_when_it_is_not_wanted_any_more(drive: DriveServer) -> None:
    cancel = threading.Event()

    def leave(_address: str) -> bool:
        cancel.set()
        return True

    with pytest.raises(Cancelled):
        log_in(links_of(drive), "secret", cancel, leave)


def test_the_answer_to_another_login_is_not_taken(drive: DriveServer) -> None:
    def forged(address: str) -> bool:
        drive.agree(address.replace("state=", "state=x"))
        return drive.agree(address)

    assert "refresh_token" in log_in(links_of(drive), "secret", threading.Event(), forged)


def test_a_client_id_is_needed() -> None:
    with pytest.raises(AppError, match="client ID"):
        checked(WebLinks(("https://drive.google.com/",), remote="drive"))
