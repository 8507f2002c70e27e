"""A library in which all files of a folder are already searchable."""

from collections.abc import Mapping
from pathlib import Path

from desktop_rag.app import Services

_WAIT_S = 30


def index(services: Services, folder: Path) -> Services:
    """Add the folder and wait until everything is indexed; returns the services."""
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(_WAIT_S)
    return services


def index_texts(services: Services, folder: Path, texts: Mapping[str, str]) -> Services:
    """Create a folder from texts by file name, and index it."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    return index(services, folder)
