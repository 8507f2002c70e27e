"""Waiting for a library in a terminal: messages are shown, and the wait always ends."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import Document
from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.waiting import Waiting
from tests.servers.embedding_server import EmbeddingServer

_TOLD_S, _FILES = 0.01, 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk by the keeper.")
    return made


@pytest.mark.slow
@pytest.mark.usefixtures("slow_embedding")
def test_how_far_it_is_is_told(services: Services, folder: Path) -> None:
    said: list[str] = []
    for number in range(1, _FILES):
        (folder / f"{number}.md").write_text(f"# Lamp {number}\n\nKeeper {number} lit it at dusk.")
    services.library.sources.add(folder)
    with Waiting(services.library, said.append, report_s=_TOLD_S) as waiting:
        services.library.start(watch=False)
        waiting.until_idle()
    assert any(f"of {_FILES} files" in line and "overall" in line for line in said)
    assert all(line != after for line, after in pairwise(said)), "nothing is said twice"
    assert services.library.documents.counts().total == _FILES


@pytest.mark.everyday
def test_a_notice_is_said_once(services: Services, folder: Path) -> None:
    said: list[str] = []
    services.library.sources.add(folder)
    [collection] = services.library.collections.all()
    with EmbeddingServer() as server:
        services.library.collections.set_embedder(collection.collection_id, server.address)
        server.mode = "close"
        with Waiting(services.library, said.append) as waiting:
            services.library.start(watch=False)
            waiting.until_idle()
            waiting.tell()
    assert len([line for line in said if "closed the connection" in line]) == 1


@pytest.mark.everyday
def test_when_indexing_stops_the_wait_is_over_with_the_reason(
    services: Services, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(outcomes: Sequence[IndexingOutcome]) -> list[Document]:
        raise AppError("A change could not be saved.", "Check that the disk has free space.")

    monkeypatch.setattr(services.engine.documents, "settle", full)
    said: list[str] = []
    services.library.sources.add(folder)
    with Waiting(services.library, said.append) as waiting:
        services.library.start(watch=False)
        with pytest.raises(AppError, match=r"could not be saved\..* free space\."):
            waiting.until_idle()
    assert not any("could not be saved" in line for line in said)
