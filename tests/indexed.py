"""Libraries in which all files of a folder are already searchable."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from desktop_rag.app import Services

_WAIT_S = 120
# Texts, or other content, by the path of their file within the folder.
Texts = Mapping[str, str | bytes]
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
    """Create a folder from texts, and index it."""
    write(folder, texts)
    return index(services, folder)


def add_texts(services: Services, folder: Path, texts: Texts) -> None:
    """The same in a library that has started already."""
    write(folder, texts)
    services.library.sources.add(folder)
    assert services.library.indexing.wait_until_idle(_WAIT_S)


def write(folder: Path, texts: Texts) -> None:
    """Write texts to files of a folder."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_bytes_of(text))


def _bytes_of(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


class GoldenLibraries:
    """Libraries that are indexed once in a process, found by their texts, and copied for each test.

    All copies have the same folder as their source. A file that a test changed is put back before
    the next one, whose start reads it again.
    """

    def __init__(
        self, folder: Path, services_over: Callable[[Path], AbstractContextManager[Services]]
    ) -> None:
        self._folder = folder
        self._services_over = services_over
        self._made: dict[frozenset[tuple[str, str | bytes]], Path] = {}

    def copy(self, texts: Texts, home: Path) -> None:
        """Fill a home that is still empty with the library of these texts."""
        key = frozenset(texts.items())
        if key not in self._made:
            self._made[key] = self._make(texts)
        _put_back(self._made[key] / "papers", texts)
        shutil.copytree(self._made[key] / "home", home)

    def _make(self, texts: Texts) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        with self._services_over(folder) as services:
            index_texts(services, folder / "papers", texts)
        return folder


def _put_back(folder: Path, texts: Texts) -> None:
    """Leave what is as it was made alone: a file that is written anew is read again."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        text = texts.get(path.relative_to(folder).as_posix())
        if text is None or path.read_bytes() != _bytes_of(text):
            path.unlink()
    write(folder, {name: text for name, text in texts.items() if not (folder / name).exists()})
