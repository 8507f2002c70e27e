"""Fixtures for all tests: a home of their own, real services, no stray warnings or threads."""

import copy
import functools
import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker

from desktop_rag import app, registry
from desktop_rag.core.paths import HOME_VARIABLE, Home
from desktop_rag.ingest import library_documents
from desktop_rag.ingest.scanning.scanner import RecheckTimes
from desktop_rag.ingest.watching.watcher import WatchTimes
from desktop_rag.models.embedding import joined_embedding
from desktop_rag.models.embedding.joined_embedding import OnnxEmbedder, bundled_folders
from desktop_rag.models.ports import Vectors
from desktop_rag.store.duckdb.database import schema
from tests.indexed import GoldenLibraries, OpenIndexed, Texts, index_texts, start
from tests.shared_parser import belongs_to_the_pool, shared_parser_processes

pytest_plugins = ["tests.tiers"]

DEMO = Path(__file__).parent.parent / "resources" / "demo"
FAST_TIMES = WatchTimes(
    quiet_s=0.05, storm_s=0.5, recheck=RecheckTimes(missing_s=0.05, settle_s=0.0)
)
SHARED = Path(__file__).parents[2] / "shared"
BUNDLED = bundled_folders()[joined_embedding.BUNDLED]

# A busy computer is not a bug: examples have no deadline.
hypothesis.settings.register_profile("quick", max_examples=30, deadline=None)
hypothesis.settings.register_profile("deep", max_examples=300, deadline=None)
hypothesis.settings.load_profile("quick")


_PATIENCE_MS = 20_000
_LONGEST_PAUSE_MS = 40
# Fixtures of an app that all tests of a file share.
SHARED_APPS = {"one_library", "one_window"}
# What a test says of a feature that is not there.
_ABSENT = tuple(
    f"{prefix}{name}"
    for name in registry.known_wings()
    if name not in registry.wings()
    for prefix in ("desktop_rag.features.", "tests.unit.")
)

_ROOT = Path(__file__).parents[1]
# What a module imports when it is imported.
_IMPORTED = re.compile(
    r"^(?:from|import) ((?:desktop_rag\.features|tests|benchmarks)\.[\w.]+)", re.MULTILINE
)


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run the tests marked `deep`, too: whole measuring sets"
    parser.addoption("--deep", action="store_true", help=text)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of features that are not there; see `test_absent_wings.py`.

    Those are files that name one, and files and folders that stand on a module that imports one.
    """
    if not _ABSENT:
        return None
    if collection_path.is_dir():
        return _needs_absent(collection_path / "conftest.py") or None
    if collection_path.suffix != ".py":
        return None
    text = collection_path.read_text("utf-8")
    return any(name in text for name in _ABSENT) or _needs_absent(collection_path) or None


def _needs_absent(module: Path) -> bool:
    """True when a module of the tests imports a feature that is not there, itself or by another."""
    known, waiting = set[Path](), [module]
    while waiting:
        if (path := waiting.pop()) not in known:
            known.add(path)
            waiting += _files_of(_imported(path))
    names = {f"{name}." for path in known for name in _imported(path)}
    return any(name.startswith(f"{absent}.") for name in names for absent in _ABSENT)


@functools.cache
def _imported(module: Path) -> tuple[str, ...]:
    return tuple(_IMPORTED.findall(module.read_text("utf-8"))) if module.is_file() else ()


def _files_of(names: tuple[str, ...]) -> list[Path]:
    return [_ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in names]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_deep = config.getoption("--deep")
    left_out = [
        item
        for item in items
        if _absent_wings_of(item) or (item.get_closest_marker("deep") and not is_deep)
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _absent_wings_of(item: pytest.Item) -> set[str]:
    """The features that a test needs and that are not there; a mark without names is for all."""
    if not (mark := item.get_closest_marker("needs_wings")):
        return set()
    return set(mark.args or registry.known_wings()) - set(registry.wings())


class PatientQtBot(QtBot):
    """Waits longer than the five seconds of pytest-qt: a busy computer is not a bug.

    It looks less often the longer it waits: a look at a window takes milliseconds.
    """

    def waitUntil(  # noqa: N802
        self, callback: Callable[[], bool | None], *, timeout: int = _PATIENCE_MS
    ) -> None:
        began = time.monotonic()

        def look() -> bool | None:
            is_so = callback()
            if is_so is False:
                self.wait(min(_LONGEST_PAUSE_MS, round((time.monotonic() - began) * 100)))
            return is_so

        super().waitUntil(look, timeout=timeout)

    def waitSignal(  # noqa: N802
        self, signal: Any, *, timeout: int = _PATIENCE_MS, **options: Any
    ) -> SignalBlocker:
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """The window's driver, with patience."""
    return PatientQtBot(request)


class RememberingEmbedder(OnnxEmbedder):
    """A bundled model with one thread; a text that many tests index is embedded once."""

    remembers = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, threads=1)  # other workers need the other cores
        self._vectors_of_rows: dict[tuple[int, ...], Vectors] = {}

    def _embed(self, row: list[int]) -> Vectors:
        key = tuple(row)
        if key not in self._vectors_of_rows or not self.remembers:
            self._vectors_of_rows[key] = super()._embed(row)
        return self._vectors_of_rows[key].copy()

    def set_threads(self, threads: int) -> None:
        """No effect, since the session is shared."""


@functools.cache
def bundled_embedder(folder: Path = BUNDLED) -> OnnxEmbedder:
    """A bundled model, loaded once per process."""
    return RememberingEmbedder(folder)


@pytest.fixture(scope="session", autouse=True)
def bundled_models_are_loaded_once() -> Iterator[None]:
    """Gives every library its own embedders over the shared sessions of the bundled models."""

    def load(folder: Path, *, threads: int = 0, loads_at_once: bool = True) -> OnnxEmbedder:
        if folder in bundled_folders().values():
            return copy.copy(bundled_embedder(folder))
        return OnnxEmbedder(folder, threads=threads, loads_at_once=loads_at_once)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_embedding, "OnnxEmbedder", load)
        yield


@pytest.fixture
def slow_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embeds every text each time, for a test that watches the progress."""
    monkeypatch.setattr(RememberingEmbedder, "remembers", False)


@pytest.fixture(scope="session", autouse=True)
def empty_library_is_built_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Gives every new library a copy of one empty file; making it takes a tenth of a second."""
    built = tmp_path_factory.mktemp("empty") / "library.duckdb"
    schema.build_empty(built)

    def copy_empty(path: Path) -> None:
        shutil.copyfile(built, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "build_empty", copy_empty)
        yield


@pytest.fixture(scope="session", autouse=True)
def parser_processes_are_shared() -> Iterator[None]:
    """Gives every library a parser process that may have read files of other tests."""
    with shared_parser_processes():
        yield


@pytest.fixture(scope="session", autouse=True)
def the_end_of_indexing_is_seen_at_once() -> Iterator[None]:
    """Publishes progress ten times as often as for a person, as most tests wait for its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library_documents, "_PROGRESS_S", 0.02)
        yield


@contextmanager
def home_in(folder: Path) -> Iterator[Home]:
    """An empty home folder, also for child processes; nothing that runs over it may outlive it."""
    with pytest.MonkeyPatch.context() as patch, no_thread_is_left():
        patch.setenv(HOME_VARIABLE, str(folder / "home"))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        patch.delenv("DESKTOP_RAG_API_KEY", raising=False)
        yield Home(folder / "home")


@contextmanager
def services_over(folder: Path) -> Iterator[app.Services]:
    """Real services over a home in this folder, for a library shared by read-only tests."""
    with home_in(folder) as home, closing(app.build_services(home, times=FAST_TIMES)) as services:
        yield services


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home folder, also for child processes."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("DESKTOP_RAG_API_KEY", raising=False)
    return Home(tmp_path / "home")


@pytest.fixture
def build_services(home: Home) -> Iterator[Callable[[], app.Services]]:
    """Builds real services over the home, once per simulated start of the app, and closes them."""
    built: list[app.Services] = []

    def build() -> app.Services:
        services = app.build_services(home, times=FAST_TIMES)
        built.append(services)
        return services

    yield build
    for services in built:
        services.close()


@pytest.fixture
def own_services(build_services: Callable[[], app.Services]) -> app.Services:
    """The services of the test."""
    return build_services()


@pytest.fixture
def services(own_services: app.Services) -> app.Services:
    """Real services over an empty home; `library.start()` is left to the test.

    A file whose tests all begin with the same documents has them from `open_indexed` instead.
    """
    return own_services


@pytest.fixture(scope="session")
def golden_libraries(tmp_path_factory: pytest.TempPathFactory) -> GoldenLibraries:
    """Libraries that several tests start with."""
    return GoldenLibraries(tmp_path_factory.mktemp("golden"), services_over)


@pytest.fixture
def open_indexed(
    home: Home, golden_libraries: GoldenLibraries, tmp_path: Path, request: pytest.FixtureRequest
) -> OpenIndexed:
    """Opens the library of a test with these texts in it, as `services`."""

    def open_with(texts: Texts) -> app.Services:
        if home.root.exists():  # the test has started the app already
            return index_texts(request.getfixturevalue("own_services"), tmp_path / "papers", texts)
        golden_libraries.copy(texts, home.root)
        return start(request.getfixturevalue("own_services"))

    return open_with


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Undoes what a test did to the loggers, as the start of the app does."""
    loggers = [logging.getLogger(), logging.getLogger("desktop_rag")]
    before = [(logger.level, list(logger.handlers)) for logger in loggers]
    yield
    for logger, (level, handlers) in zip(loggers, before, strict=True):
        logger.setLevel(level)
        for handler in [h for h in logger.handlers if h not in handlers]:
            logger.removeHandler(handler)
            handler.close()


@pytest.fixture(autouse=True)
def mask_as_before() -> Iterator[None]:
    """Undoes what the command line did to the mask of new files, which other tests need not have.

    A server that runs as another user could not read the files of a later test.
    """
    mask = os.umask(0o077)
    os.umask(mask)
    yield
    os.umask(mask)


@pytest.fixture(autouse=True)
def no_warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test on a log record of WARNING or worse."""
    yield
    records = [*caplog.get_records("setup"), *caplog.get_records("call")]
    wrong = [record.getMessage() for record in records if record.levelno >= logging.WARNING]
    assert not wrong, wrong


@contextmanager
def no_thread_is_left() -> Iterator[None]:
    """Fails when one of the app's threads that began within it runs on."""
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before and t.is_alive()]
    left = [t for t in left if not belongs_to_the_pool(t)]
    for thread in left:
        thread.join(2.0)
    names = [t.name for t in left if t.is_alive()]
    assert not names, names


@pytest.fixture(autouse=True)
def no_stray_threads(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that leaves a thread running; what the tests of a file share sees to its own."""
    with nullcontext() if SHARED_APPS & {*request.fixturenames} else no_thread_is_left():
        yield
