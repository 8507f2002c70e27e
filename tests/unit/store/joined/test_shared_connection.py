"""The shared library over a real server: it comes, goes, is silent, and comes back by itself."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.shared_library import (
    SharedLibraryChanged,
    SharedLibraryStatus,
    SharedState,
    is_shared,
)
from desktop_rag.core.store_settings import SharedLibrarySettings
from desktop_rag.features.shared_library.joined.joined_engine import joined_engine
from desktop_rag.features.shared_library.joined.shared_connection import OpenedShared, SharedLibrary
from desktop_rag.features.shared_library.services import check_shared_library, open_shared_library
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from tests.engines import UNTESTED, duckdb_in
from tests.stored_rows import found, put
from tests.unit.store.joined.team_server import TeamServer, team_server

pytestmark = [
    pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", "")),
    pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR"),
    pytest.mark.slow,
]
WAIT_S = 60.0
LIMIT_S = 5.0


@pytest.fixture(scope="module")
def team() -> Iterator[TeamServer]:
    with team_server() as server:
        with server.library() as library:
            put(library, "team.txt", "the lamp of the team", collection="Team")
            put(library, "secret.txt", "the lamp of the board", collection="Board")
        yield server


class Connected:
    """An own library joined with a shared one, and what is known of the latter."""

    def __init__(self, own: Engine, shared: SharedLibrary) -> None:
        self.shared = shared
        self.joined = joined_engine(own, shared)
        self.told: list[SharedLibraryStatus] = []
        self._changed = threading.Condition()
        shared.changes.hear(SharedLibraryChanged, self._on_changed)

    def _on_changed(self, event: SharedLibraryChanged) -> None:
        with self._changed:
            self.told.append(event.status)
            self._changed.notify_all()

    def waits_for(self, state: SharedState) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.shared.status.state is state, WAIT_S), (
                self.shared.status
            )

    def lamps(self, scope: Scope = EVERYWHERE) -> set[str]:
        return set(found(self.joined, "lamp", scope))


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Callable[[Settings], Connected]]:
    with closing(duckdb_in(tmp_path)) as own:
        put(own, "own.txt", "the lamp of mine")
        shared = SharedLibrary(
            lambda wanted: open_shared_library(Home(tmp_path), Settings(), wanted, "secret"),
            tmp_path / "shared.json",
            limit_s=LIMIT_S,
            pause_s=0.2,
        )

        def apply(settings: Settings) -> Connected:
            connected = Connected(own, shared)
            shared.apply(settings)
            return connected

        yield apply
        shared.close()


def settings_of(team: TeamServer) -> Settings:
    return Settings(shared_library=team.settings)


OWN, TEAM, BOARD = "the lamp of mine", "the lamp of the team", "the lamp of the board"


def test_without_one_nothing_is_connected(connect: Callable[[Settings], Connected]) -> None:
    connected = connect(Settings())
    assert connected.shared.status == SharedLibraryStatus()
    assert connected.lamps() == {OWN}
    assert not connected.shared.missed(EVERYWHERE)
    assert not [t for t in threading.enumerate() if t.name == "shared-library"]


def test_it_goes_and_comes_back_while_questions_are_asked(
    connect: Callable[[Settings], Connected], team: TeamServer, caplog: pytest.LogCaptureFixture
) -> None:
    connected = connect(settings_of(team))
    connected.waits_for(SharedState.ONLINE)
    assert connected.lamps() == {OWN, TEAM, BOARD}
    before = connected.joined.names.fingerprint(EVERYWHERE)
    assert [c.name for c in connected.shared.status.collections] == ["Team", "Board"]

    team.stop()
    try:
        # The first question finds out; it is answered all the same.
        assert connected.lamps() == {OWN}
        status = connected.shared.status
        assert status.state is SharedState.OFFLINE
        assert status.title
        assert status.hint
        assert [c.name for c in status.collections] == ["Team", "Board"], "they stay known"
        assert connected.shared.missed(EVERYWHERE)
        collections = connected.joined.sources.collections()
        own = [c.collection_id for c in collections if not is_shared(c.collection_id)]
        assert not connected.shared.missed(Scope(collection_ids=tuple(own)))
        assert connected.joined.names.fingerprint(EVERYWHERE) == "", "nothing changed there"
        assert connected.joined.names.fingerprint(Scope(collection_ids=tuple(own)))
        # The next ones ask nobody.
        asked = connected.shared.begin(lambda _: 1, 0)
        assert asked() == 0
    finally:
        team.start()
    connected.waits_for(SharedState.ONLINE)
    assert connected.lamps() == {OWN, TEAM, BOARD}
    assert not connected.shared.missed(EVERYWHERE)
    assert connected.joined.names.fingerprint(EVERYWHERE) == before
    caplog.clear()  # the pool reports connections that are gone


def test_a_start_without_the_server_knows_its_collections(
    connect: Callable[[Settings], Connected], team: TeamServer, tmp_path: Path
) -> None:
    connect(settings_of(team)).waits_for(SharedState.ONLINE)

    def away(_shared: SharedLibrarySettings) -> OpenedShared:
        raise AppError("The server can't be reached.")

    later = SharedLibrary(away, tmp_path / "shared.json")
    later.apply(settings_of(team))
    later.wait_until_known(WAIT_S)
    assert later.status.state is SharedState.OFFLINE
    assert [c.name for c in later.status.collections] == ["Team", "Board"]
    later.apply(Settings(shared_library=replace(team.settings, library="another")))
    assert not later.status.collections
    later.close()


def test_a_silent_server_costs_one_question_its_limit(
    connect: Callable[[Settings], Connected], team: TeamServer, caplog: pytest.LogCaptureFixture
) -> None:
    connected = connect(settings_of(team))
    connected.waits_for(SharedState.ONLINE)
    team.pause()
    try:
        assert connected.lamps() == {OWN}
    finally:
        team.resume()
    assert any("did not answer in time" in status.title for status in connected.told)
    connected.waits_for(SharedState.ONLINE)
    assert connected.lamps() == {OWN, TEAM, BOARD}
    caplog.clear()


def test_another_version_may_change_the_library_meanwhile(
    connect: Callable[[Settings], Connected], team: TeamServer
) -> None:
    connected = connect(settings_of(team))
    connected.waits_for(SharedState.ONLINE)
    team.run("ALTER TABLE team.chunks RENAME COLUMN anchor TO place")
    try:
        assert connected.lamps() == {OWN}
        assert any("another version" in status.title for status in connected.told)
    finally:
        team.run("ALTER TABLE team.chunks RENAME COLUMN place TO anchor")
    connected.waits_for(SharedState.ONLINE)
    assert connected.lamps() == {OWN, TEAM, BOARD}


def test_changed_settings_hold_at_once(
    connect: Callable[[Settings], Connected], team: TeamServer, tmp_path: Path
) -> None:
    connected = connect(settings_of(team))
    connected.waits_for(SharedState.ONLINE)
    connected.shared.apply(Settings())
    assert connected.lamps() == {OWN}
    assert connected.shared.status.state is SharedState.NOT_SET
    assert not (tmp_path / "shared.json").exists(), "nothing of it is kept"
    assert len(connected.joined.sources.collections()) == 1

    elsewhere = replace(team.settings, library="another")
    connected.shared.apply(Settings(shared_library=elsewhere))
    connected.waits_for(SharedState.OFFLINE)
    assert connected.shared.status.title == "There is no library of that name in the database."

    connected.shared.apply(settings_of(team))
    connected.waits_for(SharedState.ONLINE)
    assert connected.lamps() == {OWN, TEAM, BOARD}


def test_a_role_finds_what_it_was_let_read(
    connect: Callable[[Settings], Connected], team: TeamServer
) -> None:
    team.run("CREATE ROLE member LOGIN")
    member = replace(team.settings, role="member")
    with pytest.raises(AppError) as refused:
        check_shared_library(member, "")
    # What it says to ask for is enough.
    statement = refused.value.hint.partition(": ")[2]
    team.run(statement.replace("name of a collection", "Team"))
    connected = connect(Settings(shared_library=member))
    connected.waits_for(SharedState.ONLINE)
    assert connected.lamps() == {OWN, TEAM}
    assert len(connected.joined.lexical.best([("lamp",)], 10)) == 2
    assert [d.path.name for d in connected.joined.documents.documents()] == ["own.txt", "team.txt"]
