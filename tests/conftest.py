"""What all tests share: a home of their own, real services, and no stray warnings or threads."""

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag import app
from desktop_rag.core.paths import HOME_VARIABLE, Home
from desktop_rag.ingest.scanning.recheck_schedule import RecheckTimes
from desktop_rag.ingest.watching.watcher import WatchTimes

DEMO = Path(__file__).parent.parent / "resources" / "demo"
FAST_TIMES = WatchTimes(quiet_s=0.05, storm_s=0.5, looks=RecheckTimes(missing_s=0.05, settle_s=0.0))
SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home folder, also for processes the test starts."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("DESKTOP_RAG_API_KEY", raising=False)
    return Home(tmp_path / "home")


@pytest.fixture
def build_services(home: Home) -> Iterator[Callable[[], app.Services]]:
    """Builds real services over the home, as often as the app is started; closes what is open."""
    built: list[app.Services] = []

    def build() -> app.Services:
        services = app.build_services(home, times=FAST_TIMES)
        built.append(services)
        return services

    yield build
    for services in built:
        services.close()


@pytest.fixture
def services(build_services: Callable[[], app.Services]) -> app.Services:
    """Real services over an empty home; `library.start()` is left to the test."""
    return build_services()


@pytest.fixture(autouse=True)
def no_warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A test fails on a record of WARNING or worse."""
    yield
    records = [*caplog.get_records("setup"), *caplog.get_records("call")]
    wrong = [record.getMessage() for record in records if record.levelno >= logging.WARNING]
    assert not wrong, wrong


@pytest.fixture(autouse=True)
def no_stray_threads() -> Iterator[None]:
    """A test fails when a thread of ours outlives it."""
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before and t.is_alive()]
    for thread in left:
        thread.join(2.0)
    names = [t.name for t in left if t.is_alive()]
    assert not names, names
