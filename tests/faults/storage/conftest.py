"""A small disk for each test, and a home on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.paths import HOME_VARIABLE, Home
from tests.faults.storage.small_disk import SmallDisk, mounted, unmount


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of 64 MB."""
    found = mounted(tmp_path / "disk", 64)
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
