"""A small disk for each test, and a home on it."""

import dataclasses
from collections.abc import Callable, Iterator

import pytest

from desktop_rag import app
from desktop_rag.core.paths import HOME_VARIABLE, Home
from desktop_rag.ingest.background.indexing_pauses import RetryTimes
from tests.conftest import FAST_TIMES
from tests.faults.storage.small_disk import SmallDisk, mounted, unmount


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    """A disk of 64 MB."""
    found = mounted(64)
    if found is None:
        pytest.skip("this user may not mount a disk")
    yield found
    unmount(found)


@pytest.fixture
def home(disk: SmallDisk, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home folder on the small disk, in place of the usual one."""
    monkeypatch.setenv(HOME_VARIABLE, str(disk.root / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("DESKTOP_RAG_API_KEY", raising=False)
    return Home(disk.root / "home")


@pytest.fixture
def build_services(home: Home) -> Iterator[Callable[[], app.Services]]:
    """Builds real services over the home, which look at its disk often."""
    built: list[app.Services] = []
    retry = RetryTimes(look_s=0.05, first_s=1.0, more_bytes=1_000_000)
    times = dataclasses.replace(FAST_TIMES, retry=retry)

    def build() -> app.Services:
        built.append(app.build_services(home, times=times))
        return built[-1]

    yield build
    for services in built:
        services.close()
