"""A WebDAV server that fails: each time a clear word, and the rest goes on."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from desktop_rag.core.crawling import CrawlState
from desktop_rag.core.domain import DocumentState, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.http_place import PlaceLimits
from desktop_rag.features.remote_sources.remote import RemoteRefused
from desktop_rag.features.remote_sources.webdav import checked
from tests.remote_room import RemoteRoom
from tests.servers.dav_server import (
    PREFIX,
    DavServer,
    Handler,
    cut_off,
    date_after,
    multistatus,
    response,
    says,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def cloud() -> Iterator[DavServer]:
    with DavServer() as server:
        server.write("a.txt", "The first text.")
        server.write("b/c.txt", "The second text.")
        yield server


@pytest.fixture
def room(home: Home) -> Iterator[RemoteRoom]:
    made = RemoteRoom(home)
    made.start()
    yield made
    made.close()


def state_of(room: RemoteRoom) -> CrawlState:
    [report] = room.remotes.reports.values()
    return report.state


def test_a_wrong_password_ends_the_round_with_a_way_out(room: RemoteRoom, cloud: DavServer) -> None:
    room.add_remote(cloud.url(), "wrong")
    room.settle_remote()
    assert state_of(room) is CrawlState.OFFLINE
    [notice] = room.heard.told
    assert notice.hint.startswith("The server refused the password. Enter user and password")
    cloud.asked.clear()
    room.now += 3600
    room.remotes.check_schedule()
    room.settle_remote()
    assert cloud.asked == [], "a server may lock whoever tries again and again"
    links = room.sources.sources()[0].links
    assert links
    room.remotes.keep_password(links, "secret")
    assert room.again() == ChangeSummary(added=2)


def test_a_password_that_expires_deletes_nothing(room: RemoteRoom, cloud: DavServer) -> None:
    room.add_remote(cloud.url())
    room.settle_remote()
    cloud.password = "another"
    room.again()
    assert len(room.texts()) == 2
    assert room.heard.reached[-1] is False


@pytest.mark.parametrize("status", [404, 403, 405])
def test_an_address_without_a_folder_says_how_one_looks(
    room: RemoteRoom, cloud: DavServer, status: int
) -> None:
    cloud.faults["PROPFIND", ""] = says(status)
    links = WebLinks((cloud.url(),), remote="webdav", user="ann")
    with pytest.raises(RemoteRefused, match="folder") as refused:
        room.remotes.preview(links, "secret", Event())
    assert "Nextcloud shows the address" in refused.value.hint


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_a_server_that_fails_while_it_lists_is_offline_and_deletes_nothing(
    room: RemoteRoom, cloud: DavServer, status: int
) -> None:
    room.add_remote(cloud.url())
    room.settle_remote()
    cloud.write("b/d.txt", "More.")
    cloud.delete("a.txt")
    cloud.faults["PROPFIND", "b"] = says(status)
    room.again()
    assert state_of(room) is CrawlState.OFFLINE
    assert len(room.texts()) == 2
    cloud.faults.clear()
    assert room.again() == ChangeSummary(added=1, gone=1, unchanged=1)


def test_a_listing_that_is_cut_off_deletes_nothing(room: RemoteRoom, cloud: DavServer) -> None:
    room.add_remote(cloud.url())
    room.settle_remote()
    cloud.write("b/d.txt", "More.")
    cloud.faults["PROPFIND", "b"] = cut_off
    room.again()
    assert state_of(room) is CrawlState.OFFLINE

    def torn(handler: Handler) -> bool:
        return handler.answer(207, multistatus(response("b/", "")).encode()[:-20])

    cloud.faults["PROPFIND", "b"] = torn
    room.again()
    assert state_of(room) is CrawlState.OFFLINE
    assert len(room.texts()) == 2


def test_a_busy_server_is_asked_again_when_it_says(home: Home, cloud: DavServer) -> None:
    room = RemoteRoom(home, PlaceLimits(waits_s=(0.01, 0.02), most_wait_s=30.0))
    room.start()
    try:
        cloud.faults["GET", "a.txt"] = says(429, 1, Retry_After="1")
        began_at = time.monotonic()
        room.add_remote(cloud.url())
        assert room.settle_remote() == ChangeSummary(added=2)
        assert time.monotonic() - began_at >= 1.0
    finally:
        room.close()


def test_a_date_to_come_back_counts_by_the_clock_of_the_server(
    room: RemoteRoom, cloud: DavServer
) -> None:
    day_s = 86_400.0

    def busy(handler: Handler) -> bool:
        handler.send_response_only(503)
        handler.send_header("Date", date_after(0, day_s))
        handler.send_header("Retry-After", date_after(0.5, day_s))
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        cloud.faults.clear()
        return True

    cloud.faults["PROPFIND", ""] = busy
    room.add_remote(cloud.url())
    assert room.settle_remote() == ChangeSummary(added=2)


def test_a_server_that_asks_for_hours_is_left_alone_that_long(
    room: RemoteRoom, cloud: DavServer
) -> None:
    cloud.faults["PROPFIND", ""] = says(503, Retry_After="7200")
    room.add_remote(cloud.url())
    room.settle_remote()
    cloud.faults.clear()
    cloud.asked.clear()
    room.now += 3600
    room.remotes.check_schedule()
    room.settle_remote()
    assert cloud.asked == []
    room.now += 3700
    room.remotes.check_schedule()
    room.settle_remote()
    assert len(room.texts()) == 2


@pytest.mark.parametrize(
    ("status", "word"), [(403, "does not let"), (404, "not on"), (500, "fail")]
)
def test_a_file_that_is_refused_is_listed_with_the_reason_and_the_rest_is_read(
    room: RemoteRoom, cloud: DavServer, status: int, word: str
) -> None:
    cloud.faults["GET", "a.txt"] = says(status)
    room.add_remote(cloud.url())
    room.settle_remote()
    rows = room.rows()
    assert rows["a.txt"].state is DocumentState.FAILED
    assert word in rows["a.txt"].reason
    assert rows["b/c.txt"].chunk_count == 1
    cloud.faults.clear()
    assert room.again() == ChangeSummary(changed=1, unchanged=1)
    assert room.texts()["a.txt"] == "The first text."


def test_a_file_that_is_cut_off_keeps_its_former_text(room: RemoteRoom, cloud: DavServer) -> None:
    room.add_remote(cloud.url())
    room.settle_remote()
    cloud.write("a.txt", "Another text.")
    cloud.faults["GET", "a.txt"] = cut_off
    assert room.again() == ChangeSummary(unchanged=2)
    assert room.texts()["a.txt"] == "The first text."
    cloud.faults.clear()
    assert room.again() == ChangeSummary(changed=1, unchanged=1)
    assert room.texts()["a.txt"] == "Another text."


def test_a_file_of_another_length_than_declared_is_not_taken(
    room: RemoteRoom, cloud: DavServer
) -> None:
    cloud.write("short.txt", "A few words.", declared=500)
    room.add_remote(cloud.url())
    room.settle_remote()
    assert room.rows()["short.txt"].reason.startswith("Only 12 of 500 bytes came.")


def test_a_file_that_grows_without_end_is_left_out(room: RemoteRoom, cloud: DavServer) -> None:
    cloud.write("endless.txt", b"words " * 2_000_000, declared=100)
    room.add_remote(cloud.url())
    room.settle_remote()
    assert room.rows()["endless.txt"].reason == "larger than 9 MB"
    assert room.texts()["a.txt"] == "The first text."


def test_a_slow_server_is_given_up_in_time(room: RemoteRoom, cloud: DavServer) -> None:
    def slow(handler: Handler) -> bool:
        cloud.released.wait(20)
        return handler.answer(500)

    cloud.faults["PROPFIND", ""] = slow
    began_at = time.monotonic()
    room.add_remote(cloud.url())
    room.settle_remote()
    assert state_of(room) is CrawlState.OFFLINE
    assert time.monotonic() - began_at < 15


def test_a_folder_inside_itself_is_read_once(room: RemoteRoom) -> None:
    with DavServer(has_ids=False) as cloud:
        cloud.write("loop/x.txt", "Text.")

        def circle(handler: Handler) -> bool:
            here = f"{handler.place}/"
            rows = response(here, "<d:resourcetype><d:collection/></d:resourcetype>")
            rows += response(f"{here}loop/", "<d:resourcetype><d:collection/></d:resourcetype>")
            rows += cloud.file_row("loop/x.txt").replace(f"{PREFIX}/loop/", f"{PREFIX}/{here}")
            return handler.answer(207, multistatus(rows).encode())

        cloud.faults["PROPFIND", "loop"] = circle
        cloud.faults["PROPFIND", "loop/loop"] = circle
        room.add_remote(cloud.url())
        room.settle_remote()
        assert room.texts() == {"loop/x.txt": "Text."}
        [report] = room.remotes.reports.values()
        assert [each.reason for each in report.refused] == ["This folder contains itself."]


def test_names_of_any_form_are_read(room: RemoteRoom, cloud: DavServer) -> None:
    names = [
        "100% sure.txt", "a b&c<d>.txt", "Cafe\u0301.txt", "Café.txt", "CAFÉ.txt", "日本.txt",
        "con.txt", "dot. /x.txt", "q?x=1#y.txt", "a;b+c.txt", "x" * 200 + ".txt", 'say "hi".txt',
    ]  # fmt: skip
    for number, name in enumerate(names):
        cloud.write(f"names/{name}", f"Text {number}.")
    room.add_remote(cloud.url())
    assert room.settle_remote() == ChangeSummary(added=len(names) + 2)
    texts = set(room.texts().values())
    assert {f"Text {number}." for number in range(len(names))} <= texts
    assert room.again() == ChangeSummary(unchanged=len(names) + 2)


def test_addresses_of_the_listing_lead_nowhere_else(room: RemoteRoom, cloud: DavServer) -> None:
    def hostile(handler: Handler) -> bool:
        folder = "<d:resourcetype><d:collection/></d:resourcetype>"
        rows = response("", folder)
        for href in ("http://169.254.169.254/latest", f"{PREFIX}/../../etc/passwd", "//evil/x.txt"):
            rows += response("x", "<d:resourcetype/>").replace(f"{PREFIX}/x", href)
        return handler.answer(207, multistatus(rows).encode())

    cloud.faults["PROPFIND", ""] = hostile
    room.add_remote(cloud.url())
    room.settle_remote()
    assert room.rows() == {}
    assert all(target.startswith(PREFIX) for _, target, _ in cloud.asked)


def test_a_redirect_to_another_host_gets_no_password(room: RemoteRoom, cloud: DavServer) -> None:
    cloud.faults["PROPFIND", ""] = says(302, Location="http://localhost:8099/x")
    room.add_remote(cloud.url())
    room.settle_remote()
    [notice] = room.heard.told
    assert "The server sends on to localhost." in notice.hint


def test_a_redirect_on_the_same_host_is_followed(room: RemoteRoom, cloud: DavServer) -> None:
    cloud.faults["PROPFIND", "old"] = says(301, Location=f"{PREFIX}/b/")
    cloud.write("old/x.txt", "x")
    room.add_remote(cloud.url("old"))
    room.settle_remote()
    assert set(room.texts()) == {"c.txt"}


def test_a_listing_with_entities_is_refused(room: RemoteRoom, cloud: DavServer) -> None:
    def laughs(handler: Handler) -> bool:
        text = '<!DOCTYPE x [<!ENTITY a "ha">]><d:multistatus xmlns:d="DAV:">&a;</d:multistatus>'
        return handler.answer(207, text.encode())

    cloud.faults["PROPFIND", ""] = laughs
    room.add_remote(cloud.url())
    room.settle_remote()
    [notice] = room.heard.told
    assert "it has a document type of its own" in notice.hint


def test_a_password_is_in_no_file(room: RemoteRoom, cloud: DavServer, home: Home) -> None:
    cloud.password = "p-4711-unmistakable"
    room.add_remote(cloud.url(), cloud.password)
    room.settle_remote()
    assert len(room.texts()) == 2
    written = [file for file in Path(home.root).rglob("*") if file.is_file()]
    assert written
    assert not [file for file in written if cloud.password.encode() in file.read_bytes()]


def test_the_last_source_of_a_user_takes_the_password_along(
    room: RemoteRoom, cloud: DavServer
) -> None:
    first, second = room.add_remote(cloud.url("b")), room.add_remote(cloud.url())
    room.settle_remote()
    account = f"webdav ann http://127.0.0.1:{cloud.port}"
    room.remotes.forget(first.source_id)
    assert room.secrets.get(account) == "secret"
    room.remotes.forget(second.source_id)
    assert room.secrets.get(account) == ""


def test_a_password_does_not_go_unencrypted_over_the_internet() -> None:
    with pytest.raises(AppError, match="unencrypted"):
        checked(WebLinks(("http://cloud.example.org/dav/",), remote="webdav", user="ann"))
    for host in ("192.168.1.2", "nas", "nas.local", "[fd00::1]"):
        checked(WebLinks((f"http://{host}/dav/",), remote="webdav", user="ann"))


def test_a_pause_holds_the_round_and_a_restart_goes_on_where_it_was(
    home: Home, cloud: DavServer
) -> None:
    for number in range(30):
        cloud.write(f"many/{number}.txt", f"Text {number}.")
    room = RemoteRoom(home)
    held = Event()

    def hold(handler: Handler) -> bool:
        room.remotes.set_paused(True)
        held.set()
        return False

    cloud.faults["GET", "many/10.txt"] = hold
    room.start()
    room.add_remote(cloud.url())
    assert held.wait(20)
    room.close()
    first = cloud.asked_for("GET")
    assert len(first) < 32
    cloud.faults.clear()
    again = RemoteRoom(home)
    again.secrets = room.secrets
    again.remotes._secrets = room.secrets  # noqa: SLF001  the keyring outlives the app
    again.start()
    try:
        again.settle_remote()
        twice = Counter(cloud.asked_for("GET")) - Counter(set(cloud.asked_for("GET")))
        assert set(twice) <= {"many/10.txt"}, "only the one under way is fetched again"
        assert len(again.texts()) == 32
    finally:
        again.close()


def test_a_preview_fetches_nothing(room: RemoteRoom, cloud: DavServer) -> None:
    cloud.write("film.mp4", b"x" * 1000)
    links = WebLinks((cloud.url(),), remote="webdav", user="ann")
    preview = room.remotes.preview(room.remotes.checked(links), "secret", Event())
    assert (preview.files, preview.size_bytes, preview.is_complete) == (2, 31, True)
    assert preview.folders == ("b",)
    assert [(each.reason, each.files) for each in preview.left_out] == [("not supported: .mp4", 1)]
    assert cloud.asked_for("GET") == []


def test_only_a_chosen_folder_is_read(room: RemoteRoom, cloud: DavServer) -> None:
    links = WebLinks((cloud.url(),), remote="webdav", user="ann", chosen=("b",))
    assert checked(links).urls == (cloud.url("b/"),)
