"""A library with one of everything that can't be made again, and a second, empty one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from desktop_rag.backup.backups import Backups
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.store.opening import open_engine
from tests.unit.backup.filled_library import Place, fill

OpenPlace = Callable[[str], Place]


@pytest.fixture
def open_place(tmp_path: Path) -> Iterator[OpenPlace]:
    """Opens the library of a home of this name."""
    with ExitStack() as stack:

        def opened(name: str) -> Place:
            home = Home(tmp_path / name)
            home.create()
            engine = open_engine(home, Settings())
            stack.callback(engine.close)
            return Place(home, engine, Backups(home, engine.precious, engine.sources.collections))

        yield opened


@pytest.fixture
def full(open_place: OpenPlace) -> Place:
    """A library with everything, prompts, a rewrite and settings."""
    place = open_place("full")
    fill(place)
    endpoint = EndpointSettings("https://models.example/v1", "keeper", name="Models")
    save_settings(place.home.settings, Settings(endpoint=endpoint))
    return place


@pytest.fixture
def empty(open_place: OpenPlace) -> Place:
    """A library without anything."""
    return open_place("empty")
