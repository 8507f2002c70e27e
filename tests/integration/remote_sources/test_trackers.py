"""Issues and pages of trackers, served by a stand-in over HTTP: followed, and its faults told.

The stand-in is written from the documented APIs; the services themselves were not asked.
"""

from collections.abc import Iterator, Mapping
from threading import Event

import pytest

from desktop_rag.core.crawling import CrawlState
from desktop_rag.core.domain import DocumentState, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.remote import RemoteKind, Told
from desktop_rag.features.remote_sources.trackers import GITHUB, GITLAB, JIRA, TRACKERS
from tests.remote_room import QUICK, RemoteRoom
from tests.servers.dav_server import cut_off, says
from tests.servers.tracker_server import TrackerServer

pytestmark = pytest.mark.slow
# What is asked for a listing, and for a single issue.
LISTS = {
    "github": "/api/v3/repos/harbour/boats/issues?", "jira": "/rest/api/2/search?",
    "confluence": "/rest/api/content/search?limit", "gitlab": "/api/v4/projects/537/issues?",
}  # fmt: skip
ONE = {
    "github": "/api/v3/repos/harbour/boats/issues/1", "jira": "/rest/api/2/issue/BOATS-1",
    "confluence": "/rest/api/content/search?cql=id+%3D+5370001",
    "gitlab": "/api/v4/projects/537/issues/1",
}  # fmt: skip


@pytest.fixture(params=TRACKERS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> RemoteKind:
    found = request.param
    assert isinstance(found, RemoteKind)
    return found


@pytest.fixture
def tracker(kind: RemoteKind) -> Iterator[TrackerServer]:
    with TrackerServer(kind.name) as server:
        server.write(
            "boats", 1, "Sails tear", "The sails of the Skarvik boat tear.", labels=("canvas",)
        )
        server.comment("boats", 1, "Sew them with waxed thread.")
        server.write("boats", 2, "Oars / paddles", "They float.", state="closed")
        server.write("birds", 3, "Owls", "They hoot.")
        yield server


@pytest.fixture
def room(home: Home, kind: RemoteKind) -> Iterator[RemoteRoom]:
    made = RemoteRoom(home, QUICK, kind)
    made.start()
    yield made
    made.close()


def state_of(room: RemoteRoom) -> CrawlState:
    [report] = room.remotes.reports.values()
    return report.state


def test_an_issue_with_its_comments_is_a_document(room: RemoteRoom, tracker: TrackerServer) -> None:
    room.add_remote(tracker.url)
    assert room.settle_remote() == ChangeSummary(added=3)
    assert len({path.partition("/")[0].lower() for path in room.rows()}) == 2
    [sails] = [row for path, row in room.rows().items() if "Sails tear" in path]
    text = room.documents.text(sails.document_id) or ""
    assert "The sails of the Skarvik boat tear." in text
    assert "Sew them with waxed thread." in text
    assert "changed the label" not in text
    assert "canvas" in sails.tags
    assert sails.title == "Sails tear"
    page = room.remotes.pages([sails.document_id])[sails.document_id]
    assert page.startswith("http")


def test_what_changes_is_found_within_a_round(room: RemoteRoom, tracker: TrackerServer) -> None:
    room.add_remote(tracker.url)
    room.settle_remote()
    assert room.again() == ChangeSummary(unchanged=3)
    tracker.comment("boats", 2, "Varnish them.")
    tracker.write("boats", 4, "Anchor", "It holds.")
    del tracker.issues["birds", 3]
    assert room.again() == ChangeSummary(added=1, changed=1, gone=1, unchanged=1)
    texts = "\n".join(room.texts().values())
    assert "Varnish them." in texts
    assert "hoot" not in texts


def listed(
    kind: RemoteKind, tracker: TrackerServer, tokens: Mapping[str, str]
) -> tuple[dict[str, str], list[str], int]:
    """The tokens, the ids of all items, and how many parts were the same."""
    links = kind.checked(WebLinks((tracker.url,), remote=kind.name, user="ann"))
    remote = kind.open(links, "secret", Event())
    try:
        parts = list(remote.parts(tokens))
    finally:
        remote.close()
    ids = [item.item_id for part in parts for item in part.items]
    same = sum(part.told is Told.SAME for part in parts)
    return {part.key: part.token for part in parts if part.token}, ids, same


def test_a_long_list_is_read_page_by_page(kind: RemoteKind, tracker: TrackerServer) -> None:
    for number in range(10, 260):
        tracker.write("boats", number, f"Boat {number}", f"Text {number}.")
    tokens, ids, _ = listed(kind, tracker, {})
    assert len(ids) == len(set(ids)) == 253
    if not tokens:
        return
    tracker.sent_bytes = 0
    assert listed(kind, tracker, tokens) == (tokens, [], 4)
    assert tracker.sent_bytes < 1_000, "nothing changed, so no page came again"
    del tracker.issues["boats", 120]
    tracker.write("boats", 260, "The last", "Words.")
    _, ids, same = listed(kind, tracker, tokens)
    assert (len(ids), same) == (152, 2), "what comes after the gone one moves up"


def test_a_wrong_token_ends_the_round_until_the_person_changes_it(
    room: RemoteRoom, tracker: TrackerServer
) -> None:
    room.add_remote(tracker.url, "wrong")
    room.settle_remote()
    assert state_of(room) is CrawlState.OFFLINE
    [notice] = room.heard.told
    assert notice.hint.startswith("The server refused the password.")


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_a_server_that_fails_while_it_lists_deletes_nothing(
    room: RemoteRoom, tracker: TrackerServer, status: int
) -> None:
    room.add_remote(tracker.url)
    room.settle_remote()
    del tracker.issues["boats", 1]
    tracker.faults[LISTS[tracker.kind]] = says(status)
    room.again()
    assert state_of(room) is CrawlState.OFFLINE
    assert len(room.texts()) == 3
    tracker.faults.clear()
    assert room.again() == ChangeSummary(gone=1, unchanged=2)


def test_a_torn_or_strange_listing_deletes_nothing(
    room: RemoteRoom, tracker: TrackerServer
) -> None:
    room.add_remote(tracker.url)
    room.settle_remote()
    for body in (b"{", b"{}", b"[{}]", b'{"issues": [{}]}', b'{"results": 7}', b"[" * 100_000):
        tracker.faults[LISTS[tracker.kind]] = lambda handler, body=body: handler.answer(200, body)
        room.again()
        assert state_of(room) is CrawlState.OFFLINE
        assert len(room.texts()) == 3
    tracker.faults[LISTS[tracker.kind]] = cut_off
    room.again()
    assert len(room.texts()) == 3


def test_an_issue_that_is_refused_says_why_and_the_rest_is_read(
    room: RemoteRoom, tracker: TrackerServer
) -> None:
    tracker.faults[ONE[tracker.kind]] = says(404)
    room.add_remote(tracker.url)
    room.settle_remote()
    reasons = [row.reason for row in room.rows().values() if row.state is DocumentState.FAILED]
    assert len(reasons) == 1
    assert "not on the server" in reasons[0]
    assert sum(row.chunk_count > 0 for row in room.rows().values()) == 2
    tracker.faults.clear()
    assert room.again() == ChangeSummary(changed=1, unchanged=2)


def test_a_limit_of_requests_is_waited_for(room: RemoteRoom, tracker: TrackerServer) -> None:
    tracker.faults[LISTS[tracker.kind]] = says(
        403, X_RateLimit_Remaining="0", X_RateLimit_Reset="7200"
    )
    room.add_remote(tracker.url)
    room.settle_remote()
    assert state_of(room) is CrawlState.OFFLINE
    tracker.faults.clear()
    tracker.asked.clear()
    room.now += 3600
    room.remotes.check_schedule()
    room.settle_remote()
    assert tracker.asked == []


def test_a_redirect_to_another_host_gets_no_token(room: RemoteRoom, tracker: TrackerServer) -> None:
    tracker.faults["/"] = says(302, Location="http://localhost:8099/x")
    room.add_remote(tracker.url)
    room.settle_remote()
    [notice] = room.heard.told
    assert "The server sends on to localhost." in notice.hint


def test_only_chosen_projects_are_asked_for(
    room: RemoteRoom, kind: RemoteKind, tracker: TrackerServer
) -> None:
    links = kind.checked(WebLinks((tracker.url,), remote=kind.name, user="ann"))
    preview = room.remotes.preview(links, "secret", Event())
    assert preview.files == 3
    birds = next(folder for folder in preview.folders if folder.lower() == "birds")
    chosen = WebLinks(links.urls, remote=kind.name, user="ann", chosen=(birds,))
    tracker.asked.clear()
    assert room.remotes.preview(chosen, "secret", Event()).files == 1
    boats = "projects/537" if kind is GITLAB else "boats"
    assert not [target for _, target in tracker.asked if boats in target.lower()]


@pytest.mark.parametrize(
    ("of", "typed", "kept"),
    [
        (GITHUB, "github.com/a/b/issues/7", "https://github.com/a/b"),
        (GITHUB, "https://github.com/a", "https://github.com/a"),
        (GITLAB, "https://gitlab.com/a/b/c/-/issues", "https://gitlab.com/a/b/c"),
        (JIRA, "https://x.atlassian.net/browse/AB-1", "https://x.atlassian.net"),
    ],
)
def test_an_address_is_cut_to_the_project(of: RemoteKind, typed: str, kept: str) -> None:
    assert of.checked(WebLinks((typed,), remote=of.name)).urls == (kept,)


def test_an_address_without_a_project_or_without_encryption_is_refused() -> None:
    with pytest.raises(AppError, match="lacks the name"):
        GITHUB.checked(WebLinks(("https://github.com",), remote="github"))
    with pytest.raises(AppError, match="unencrypted"):
        JIRA.checked(WebLinks(("http://jira.example.org",), remote="jira"))
