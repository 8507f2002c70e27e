"""Libraries in which all files of a folder are already searchable."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from desktop_rag.app import Services

_WAIT_S = 120
Texts = Mapping[str, str]
OpenIndexed = Callable[[Texts], Services]


def index(services: Services, folder: Path) -> Services:
    """Add the folder and wait until everything is indexed; returns the services."""
    services.library.sources.add(folder)
    return start(services)


def start(services: Services) -> Services:
    """Start without watching, and wait until everything is indexed; returns the services."""
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(_WAIT_S)
    return services


def index_texts(services: Services, folder: Path, texts: Texts) -> Services:
    """Create a folder from texts by file name, and index it."""
    _write(folder, texts)
    return index(services, folder)


def add_texts(services: Services, folder: Path, texts: Texts) -> None:
    """The same in a library that has started already."""
    _write(folder, texts)
    services.library.sources.add(folder)
    assert services.library.indexing.wait_until_idle(_WAIT_S)


def _write(folder: Path, texts: Texts) -> None:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)


class GoldenLibraries:
    """Libraries that are indexed once in a process, found by their texts, and copied for each test.

    All copies have the same folder as their source, so no test may change what is in it.
    """

    def __init__(
        self, folder: Path, services_over: Callable[[Path], AbstractContextManager[Services]]
    ) -> None:
        self._folder = folder
        self._services_over = services_over
        self._made: dict[frozenset[tuple[str, str]], Path] = {}

    def copy(self, texts: Texts, home: Path) -> None:
        """Fill a home that is still empty with the library of these texts."""
        key = frozenset(texts.items())
        if key not in self._made:
            self._made[key] = self._make(texts)
        papers = self._made[key] / "papers"
        found = {path.name: path.read_text() for path in papers.iterdir()}
        assert found == dict(texts), "a test changed the files of a golden library"
        shutil.copytree(self._made[key] / "home", home)

    def _make(self, texts: Texts) -> Path:
        folder = self._folder / str(len(self._made))
        folder.mkdir()
        with self._services_over(folder) as services:
            index_texts(services, folder / "papers", texts)
        return folder
