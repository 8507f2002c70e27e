"""A person adds the library of their team: questions are answered from both, with or without it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit

from desktop_rag import app
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.store_settings import StoreSettings
from tests.conftest import FAST_TIMES
from tests.engines import UNTESTED
from tests.stories.conftest import Person
from tests.unit.store.joined.team_server import LIBRARY, TeamServer, team_server

pytestmark = [
    pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", "")),
    pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR"),
    pytest.mark.timeout(180),
]
BOILER = "The boiler of the office is serviced in March by Hanna Weber of the building team."
WAIT_S = 120.0


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    """A server whose library has a document of the team, read as the app reads it."""
    root = tmp_path_factory.mktemp("team")
    folder = root / "of the team"
    folder.mkdir()
    (folder / "boiler.md").write_text(f"# Boiler\n\n{BOILER}")
    with team_server() as server:
        home = Home(root / "home of the server")
        home.create()
        store = StoreSettings(engine="postgres", address=server.address, library=LIBRARY)
        save_settings(home.settings, Settings(store=store))
        services = app.build_services(home, times=FAST_TIMES)
        try:
            collection = services.library.collections.add("Team")
            services.library.sources.add(folder, collection.collection_id)
            services.library.start()
            assert services.library.indexing.wait_until_idle(WAIT_S)
        finally:
            services.close()
        yield server


def connects(person: Person, team: TeamServer) -> None:
    person.opens_settings("Shared library")
    values = {
        "Address": team.settings.host,
        "Database": team.settings.database,
        "Library": team.settings.library,
        "Role": team.settings.role,
    }
    for name, value in values.items():
        field = person.field(name)
        assert isinstance(field, QLineEdit)
        field.setText(value)
    encryption = person.field("Encryption")
    assert isinstance(encryption, QComboBox)
    encryption.setCurrentText("No encryption")
    person.clicks("Connect")
    person.sees("Online since")


def test_a_question_is_answered_from_both_libraries(
    person: Person, team: TeamServer, papers: Path
) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    connects(person, team)
    person.sees("Collections: Team")
    person.presses("Ctrl+2")
    person.sees("Shared: Team")

    asks(person, "Who services the boiler of the office?")
    person.sees(BOILER)
    person.sees("From the shared library")
    person.clicks("Read source 1")
    person.sees("From the shared library: its file is on another computer.")
    asks(person, "When is the lamp lit?")
    person.sees("The lamp is lit at dusk by the keeper.")


def test_the_server_goes_away_and_comes_back(
    person: Person, team: TeamServer, papers: Path, caplog: pytest.LogCaptureFixture
) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    connects(person, team)
    team.stop()
    try:
        asks(person, "When is the lamp lit?")
        person.sees("The lamp is lit at dusk by the keeper.")
        person.sees("The shared library is offline, so it was not searched.")
        person.opens_settings("Shared library")
        person.sees("Offline since")
    finally:
        team.start()
    person.clicks("Try now")
    person.sees("Online since")
    asks(person, "Who services the boiler of the office?")
    person.sees(BOILER)
    caplog.clear()  # the pool reports connections that are gone


def asks(person: Person, question: str) -> None:
    """Ask in a new chat, and wait for the whole answer."""
    person.presses("Ctrl+1")
    person.presses("Ctrl+N")
    person.asks(question)
    person.sees("Excerpts from your documents")
