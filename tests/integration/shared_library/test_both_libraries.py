"""Services with an own library and a shared one: what finds both, and what never sees the other."""

import json
from collections.abc import Iterator
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
from tests.conftest import FAST_TIMES
from tests.engines import UNTESTED
from tests.stored_rows import put
from tests.unit.store.joined.team_server import TeamServer, team_server

pytestmark = [
    pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", "")),
    pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR"),
]
WAIT_S = 60.0
BOILER = "the boiler of the office is serviced in march"


@pytest.fixture(scope="module")
def team() -> Iterator[TeamServer]:
    with team_server() as server:
        with server.library() as library:
            put(library, "boiler.txt", BOILER, collection="Team")
        yield server


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, team: TeamServer) -> Iterator[Path]:
    """A folder with a home whose settings name the library of the team."""
    folder = tmp_path_factory.mktemp("person")
    (folder / "docs").mkdir()
    (folder / "docs" / "lamp.txt").write_text("The lamp of the office is lit at dusk.")
    home = Home(folder / "home")
    home.create()
    save_settings(home.settings, Settings(shared_library=team.settings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(folder / "home"))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        yield folder


@pytest.fixture(scope="module")
def services(root: Path) -> Iterator[app.Services]:
    opened = app.build_services(Home(root / "home"), times=FAST_TIMES)
    try:
        opened.library.sources.add(root / "docs")
        opened.library.start()
        assert opened.library.indexing.wait_until_idle(WAIT_S)
        opened.shared.wait_until_known(WAIT_S)
        assert opened.shared.status.state is SharedState.ONLINE
        yield opened
    finally:
        opened.close()


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
    assert services.engine.documents.count_inconsistent() == 0


def test_a_shared_document_is_read_from_its_stored_text(services: app.Services) -> None:
    documents = services.library.documents
    stored = documents.stored_text(shared_id("boiler.txt"))
    assert stored is not None
    assert stored.text == BOILER
    assert documents.file_condition(stored.document) is FileCondition.ELSEWHERE
    assert documents.chunks(shared_id("boiler.txt"))[0].text == BOILER
    assert documents.get("boiler.txt") is None, "its own id means nothing here"


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


def test_a_search_says_what_it_missed(
    services: app.Services, team: TeamServer, caplog: pytest.LogCaptureFixture
) -> None:
    team.stop()
    try:
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
    finally:
        team.start()
        caplog.clear()  # the pool reports connections that are gone


def test_the_terminal_waits_for_it(
    root: Path, services: app.Services, capsys: pytest.CaptureFixture[str]
) -> None:
    services.close()
    request = ["search", "boiler", "--collection", "shared:Team", "--mode", "lexical", "--json"]
    assert main(request) == 0
    [passage] = json.loads(capsys.readouterr().out)
    assert passage["text"] == BOILER
    assert main(["search", "boiler", "--collection", "shared:Nobody", "--json"]) == 1
