"""R-13: the tables of the index disagree. It is reported, never answered from silently."""

from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.features.diagnosis.repair import repair_open
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.command_line import run
from tests.indexed import index_texts

_TEXTS = {"lamp.md": "The lamp is lit at dusk.", "fog.md": "The horn is for fog."}
_DISAGREEMENTS = {
    "a chunk is gone": "DELETE FROM chunks WHERE text LIKE '%lamp%'",
    "a chunk is there twice": "INSERT INTO chunks SELECT * FROM chunks WHERE text LIKE '%lamp%'",
    "a row is there twice": "INSERT INTO documents SELECT * FROM documents WHERE path LIKE '%fog%'",
    "a row counts wrongly": "UPDATE documents SET chunk_count = 7 WHERE path LIKE '%fog%'",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", _DISAGREEMENTS)
def test_r13_documents_that_disagree_with_their_chunks_are_reported(
    build_services: Callable[[], Services], tmp_path: Path, kind: str
) -> None:
    services = index_texts(build_services(), tmp_path / "docs", _TEXTS)
    inspection = services.engine.inspection
    assert inspection.discrepancies(lambda: True) == []
    database_of(services.engine).write(lambda con: con.execute(_DISAGREEMENTS[kind]))
    assert inspection.discrepancies(lambda: True) != []
    services.close()
    done = run("doctor", "--json")
    assert done.returncode != 0


@pytest.mark.everyday
def test_r13_chunks_without_a_document_are_reported_and_removed(
    build_services: Callable[[], Services], tmp_path: Path
) -> None:
    services = index_texts(build_services(), tmp_path / "docs", _TEXTS)
    delete = "DELETE FROM documents WHERE path LIKE '%lamp%'"
    database_of(services.engine).write(lambda con: con.execute(delete))
    inspection = services.engine.inspection
    assert inspection.discrepancies(lambda: True) != []
    assert repair_open(services).index.removed > 0
    assert inspection.discrepancies(lambda: True) == []
    assert services.chat.search("lamp", mode="lexical") == []
    # The next scan misses the file and reads it again.
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(30)
    assert services.library.indexing.wait_until_searchable(30)
