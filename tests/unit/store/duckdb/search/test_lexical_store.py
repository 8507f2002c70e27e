from pathlib import Path
from typing import Any

import pytest

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE
from desktop_rag.store.duckdb.search.index_cache import condition_of
from tests.stored_rows import add, collection_id, document, ids, indexed, put


@pytest.mark.everyday
def test_what_is_attached_meanwhile_is_not_among_the_newest(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine, "a.txt", "the lamp")
    known = list(ids(engine, "lamp").values())

    def then_attach(*asked: Any) -> Any:
        made = condition_of(*asked)
        source = engine.sources.add_attached(Path("/b.txt"), collection_id(engine, "Papers"))
        add(engine, document("b.txt", source.source_id))
        engine.documents.settle([indexed(document("b.txt", source.source_id), "the gate")])
        return made

    monkeypatch.setattr("desktop_rag.store.duckdb.search.lexical_store.condition_of", then_attach)
    assert list(engine.lexical.newest(9, EVERYWHERE)) == known
