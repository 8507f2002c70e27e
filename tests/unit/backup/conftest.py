"""A library with one of everything that can't be made again, and a second, empty one."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.features.backup.backups import Backups
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.opening import open_engine
from tests.unit.backup.filled_library import Place, fill

OpenHome = Callable[[Home], Place]
OpenPlace = Callable[[str], Place]


class FilledLibrary:
    """A library that is filled once in a process, as that takes most of a second.

    It is always restored where it was made: its rows name folders beside it.
    """

    def __init__(self, folder: Path) -> None:
        self.good_backup = folder / "good"
        self._place, self._as_made = folder / "place", folder / "as_made"
        with closing(_opened(self._home)) as engine:
            place = _place(self._home, engine)
            fill(place)
            endpoint = EndpointSettings("https://models.example/v1", "keeper", name="Models")
            save_settings(place.home.settings, Settings(endpoint=endpoint))
            place.backups.export(self.good_backup)
        shutil.copytree(self._place, self._as_made)

    @property
    def _home(self) -> Home:
        return Home(self._place / "full")

    def restored(self) -> Home:
        """Its home as it was made."""
        shutil.rmtree(self._place)
        shutil.copytree(self._as_made, self._place)
        return self._home


def _opened(home: Home) -> Engine:
    home.create()
    return open_engine(home, Settings())


def _place(home: Home, engine: Engine) -> Place:
    return Place(home, engine, Backups(home, engine.precious, engine.sources.collections))


@pytest.fixture(scope="session")
def filled_library(tmp_path_factory: pytest.TempPathFactory) -> FilledLibrary:
    """A library with everything, prompts, a rewrite and settings, and a backup of it."""
    return FilledLibrary(tmp_path_factory.mktemp("filled"))


@pytest.fixture
def good_backup(filled_library: FilledLibrary) -> Path:
    """A backup of a library with everything."""
    return filled_library.good_backup


@pytest.fixture
def open_home() -> Iterator[OpenHome]:
    """Opens the library of a home."""
    with ExitStack() as stack:

        def opened(home: Home) -> Place:
            return _place(home, stack.enter_context(closing(_opened(home))))

        yield opened


@pytest.fixture
def open_place(open_home: OpenHome, tmp_path: Path) -> OpenPlace:
    """Opens the library of a home of this name."""
    return lambda name: open_home(Home(tmp_path / name))


@pytest.fixture
def full(filled_library: FilledLibrary, open_home: OpenHome) -> Place:
    """A library with everything, prompts, a rewrite and settings, of the test alone."""
    return open_home(filled_library.restored())


@pytest.fixture
def empty(open_place: OpenPlace) -> Place:
    """A library without anything."""
    return open_place("empty")
