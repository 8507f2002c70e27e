"""Services with an own library and a shared one: what finds both, and what never sees the other."""

import json
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from desktop_rag import app
from desktop_rag.cli.main import main
from desktop_rag.core.domain import FileCondition
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import HOME_VARIABLE, Home
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import QuestionScope, ScopeItem, ScopeKind
from desktop_rag.core.settings import Settings
from desktop_rag.core.shared_library import SharedState, is_shared, shared_id
from desktop_rag.features.shared_library.services import SharedLibraryServices
from tests.conftest import FAST_TIMES
from tests.engines import UNTESTED
from tests.stored_rows import count_inconsistent, put
from tests.unit.store.joined.team_server import TeamServer, team_server

pytestmark = [
    pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", "")),
    pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR"),
]
WAIT_S = 60.0
BOILER = "the boiler of the office is serviced in march"


@contextmanager
def filled_server() -> Generator[TeamServer]:
    """A server whose library holds one document in one collection."""
    with team_server() as server:
        with server.library() as library:
            put(library, "boiler.txt", BOILER, collection="Team")
        yield server


@contextmanager
def person(folder: Path, team: TeamServer) -> Generator[Home]:
    """A home whose settings name the library of the team, beside a folder with one file."""
    (folder / "docs").mkdir()
    (folder / "docs" / "lamp.txt").write_text("The lamp of the office is lit at dusk.")
    home = Home(folder / "home")
    home.create()
    save_settings(home.settings, Settings(shared_library=team.settings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(home.root))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        yield home


@contextmanager
def opened(home: Home) -> Generator[app.Services]:
    """Services over the home that have read its folder and reached the team's library."""
    with closing(app.build_services(home, times=FAST_TIMES)) as services:
        services.library.sources.add(home.root.parent / "docs")
        services.library.start()
        assert services.library.indexing.wait_until_idle(WAIT_S)
        services.wing(SharedLibraryServices).library.wait_until_known(WAIT_S)
        assert services.wing(SharedLibraryServices).library.status.state is SharedState.ONLINE
        yield services


@pytest.fixture(scope="module")
def team() -> Iterator[TeamServer]:
    with filled_server() as server:
        yield server


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory, team: TeamServer) -> Iterator[app.Services]:
    """Shared by the tests that change nothing."""
    with person(tmp_path_factory.mktemp("person"), team) as home, opened(home) as services:
        yield services


def test_a_search_finds_both_and_a_collection_is_one_side(services: app.Services) -> None:
    found = services.chat.look_up("office", mode="lexical", limit=10)
    assert [is_shared(p.document_id) for p in found.passages].count(True) == 1
    assert len(found.passages) == 2
    assert found.notes is None, "nothing was missed"
    team = services.library.collections.find_searchable("shared:team")
    assert services.library.collections.find_searchable("Team") == team
    only = services.chat.look_up(
        "office", mode="lexical", limit=10, collection_id=team.collection_id
    )
    assert [p.text for p in only.passages] == [BOILER]


def test_what_reads_files_sees_the_own_library_only(services: app.Services) -> None:
    library = services.library
    assert [d.path.name for d in library.documents.all()] == ["lamp.txt"]
    assert library.documents.counts().total == 1
    assert not [c for c in library.collections.all() if is_shared(c.collection_id)]
    assert not [s for s in library.sources.all() if is_shared(s.source_id)]
    assert count_inconsistent(services.engine.documents) == 0


def test_a_shared_document_is_read_from_its_stored_text(services: app.Services) -> None:
    documents = services.library.documents
    stored = documents.stored_text(shared_id("boiler.txt"))
    assert stored is not None
    assert stored.text == BOILER
    assert documents.file_condition(stored.document) is FileCondition.ELSEWHERE
    assert documents.chunks(shared_id("boiler.txt"))[0].text == BOILER
    assert documents.get("boiler.txt") is None, "its own id means nothing here"


@pytest.mark.slow
def test_its_collections_can_be_named_after_an_at(services: app.Services) -> None:
    [item] = [
        i for i in services.chat.scopes.completing("team", 5) if i.kind is ScopeKind.COLLECTION
    ]
    assert item.name == "Team"
    assert is_shared(item.key)
    files = services.chat.scopes.completing("boil", 5)
    assert [i.key for i in files if i.kind is ScopeKind.FILE] == [shared_id("boiler.txt")]


def test_a_collection_without_vectors_here_is_named(services: app.Services) -> None:
    assert [c.name for c in services.library.collections.by_words_only()] == ["Team"]


@pytest.mark.slow
def test_a_search_says_what_it_missed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with filled_server() as team, person(tmp_path, team) as home, opened(home) as services:
        team.stop()
        found = services.chat.look_up("office", mode="lexical", limit=10)
        assert [p.path.endswith("lamp.txt") for p in found.passages] == [True]
        assert found.notes is not None
        assert "The shared library is offline" in found.notes.in_words()
        item = ScopeItem.of_collection(services.library.collections.find_searchable("Team"))
        assert services.chat.scopes.missing(QuestionScope.of(item)) == [
            (item, "the shared library is offline")
        ]
        own = SearchScope.of_collection(services.library.collections.all()[0].collection_id)
        assert not services.retriever.missed(own)
        team.start()
    caplog.clear()  # the pool reports connections that are gone


@pytest.mark.slow
def test_the_terminal_waits_for_it(
    tmp_path: Path, team: TeamServer, capsys: pytest.CaptureFixture[str]
) -> None:
    request = ["search", "boiler", "--collection", "shared:Team", "--mode", "lexical", "--json"]
    with person(tmp_path, team):
        assert main(request) == 0
        [passage] = json.loads(capsys.readouterr().out)
        assert passage["text"] == BOILER
        assert main(["search", "boiler", "--collection", "shared:Nobody", "--json"]) == 1
