"""Who may read a part of the library gets what a library with nothing else would give."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.question import Readable
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from tests.engines import Open
from tests.stored_rows import add_source, collection_id, document, put, ranked, remove

OPEN = {
    "lamp_report.txt": ("the lamp is lit at dusk by the keeper", "the keeper trims its wick"),
    "gate_report.txt": ("the gate is shut by the porter at dusk",),
    "lamps.txt": ("lamp and lens, lamp and wick",),
}
SECRET = {
    "lamp_secret.txt": ("lamp lamp lamp canary", "the keeper of the canary", "keepers dusks"),
    "gate_secret.txt": ("the canary sings at the gate",) * 1,
    "kanarien.txt": ("der Kanarienvogel und die Lampe sind geheim",),
}
WORDS = [("lamp",), ("keeper",), ("dusk",), ("canari",), ("gate",), ("unheard",)]


def fill(engine: Engine, *, with_secrets: bool) -> Engine:
    secrets = list(SECRET.items())
    for name, texts in OPEN.items():
        if with_secrets and secrets:
            put(engine, *_named(secrets.pop()), collection="Secrets")
        put(engine, name, *texts)
    if with_secrets:
        row = document("unread_secret.txt", add_source(engine, "more", "Secrets"))
        failed = replace(row, state=DocumentState.FAILED, reason="It is damaged.")
        engine.documents.apply_changes(row.source_id, [failed], {}, [])
        put(engine, "removed.txt", "the lamp of the past", collection="Secrets")
        remove(engine, "removed.txt")
    return engine


def _named(item: tuple[str, tuple[str, ...]]) -> tuple[str, ...]:
    return (item[0], *item[1])


@pytest.fixture(scope="module")
def alone(open_engine: Open, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A library of what may be read, and nothing else."""
    with closing(open_engine(tmp_path_factory.mktemp("alone"))) as engine:
        yield fill(engine, with_secrets=False)


@pytest.fixture(scope="module")
def shared(open_engine: Open, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The same, among documents that may not be read."""
    with closing(open_engine(tmp_path_factory.mktemp("shared"))) as engine:
        yield fill(engine, with_secrets=True)


@pytest.fixture(params=["collection", "documents"])
def readable(request: pytest.FixtureRequest, shared: Engine) -> Readable:
    """The open documents, named in both ways."""
    if request.param == "collection":
        return Readable((collection_id(shared, "Papers"),))
    return Readable((), tuple(OPEN))


def everything_told(engine: Engine, readable: Readable | None) -> dict[str, Any]:
    """All that the store says to whoever may read this."""
    lexical, names, scope = engine.lexical, engine.names, Scope(readable=readable)
    weights = lexical.weigh(WORDS, readable)
    near = lexical.best(WORDS, 3, scope)
    matched, total = names.matching(["lamp", "canary"], ["lamp"], ["secret"], scope, 5)
    documents = engine.documents
    return {
        "weights": weights,
        "best": ranked(engine, WORDS, scope=scope),
        "of three": [score for _, score in near],
        "neighbours": sorted(lexical.scores(weights, [i for i, _ in near]).values()),
        "languages": lexical.languages(readable),
        "spelling": [lexical.nearest_term(t, 2, readable) for t in ("lapm", "canarj", "keepr")],
        "endings": [lexical.terms_completing(t, 5, readable) for t in ("lam", "can", "keepers")],
        "names": (sorted((sorted(g.parts), g.document_ids) for g in matched), total),
        "spelled": names.spelled_in("lamp report and lamp secret", scope, 5),
        "like": names.spelled_like("lamp_secrat.txt", scope, 5),
        "folders": names.folders(scope),
        "newest": len(lexical.newest(99, scope)),
        "rows": [row.name for row in documents.documents(readable=readable)],
        "counts": documents.counts(readable=readable),
    }


@pytest.mark.slow
def test_nothing_that_is_told_depends_on_what_may_not_be_read(
    alone: Engine, shared: Engine, readable: Readable
) -> None:
    told, expected = everything_told(shared, readable), everything_told(alone, None)
    for name, value in expected.items():
        assert told[name] == value, name
    assert everything_told(shared, None) != expected


def test_somebody_who_may_read_nothing_finds_nothing(shared: Engine) -> None:
    told = everything_told(shared, Readable())
    assert told["weights"].counts == (0,) * len(WORDS)
    for name in ("best", "of three", "languages", "spelled", "like", "folders", "rows"):
        assert not told[name], name
    assert told["counts"].total == 0


@pytest.mark.slow
def test_what_may_be_read_follows_the_library(open_engine: Open, tmp_path: Any) -> None:
    with closing(open_engine(tmp_path)) as engine:
        readable = Readable((), ("one", "two"))
        put(engine, "one", "lamp")
        assert engine.lexical.weigh([("lamp",)], readable).counts == (1,)
        put(engine, "two", "lamp")
        put(engine, "three", "lamp")
        assert engine.lexical.weigh([("lamp",)], readable).counts == (2,)
        remove(engine, "one")
        assert engine.lexical.weigh([("lamp",)], readable).counts == (1,)
        assert list(ranked(engine, [("lamp",)], scope=Scope(readable=readable))) == ["lamp"]


def test_a_search_by_meaning_reads_nothing_else(shared: Engine, readable: Readable) -> None:
    store = shared.models.vectors("test", 8)
    rows = [c for name in (*OPEN, *SECRET) for c in shared.documents.chunks(name)]
    hashes = sorted({chunk.content_hash for chunk in rows})
    missing = store.missing(hashes)
    vectors = np.eye(8, dtype=np.float32)[np.arange(len(missing)) % 8]
    store.add(sorted(missing), vectors)
    found = shared.models.search(store.model_id).nearest(
        np.eye(8, dtype=np.float32)[0], 100, Scope(readable=readable)
    )
    inside = {p.document_id for p in shared.lexical.passages(dict.fromkeys(found.chunk_ids, 1.0))}
    assert inside == set(OPEN)
