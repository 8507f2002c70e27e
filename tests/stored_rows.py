"""Stores and finds documents in tests the way the app does."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.parsed import Anchor, Chunk
from desktop_rag.core.terms import term_counts
from desktop_rag.ingest.chunking.document_chunker import content_hash
from desktop_rag.store.contract.database import fetched
from desktop_rag.store.contract.documents import DocumentStore, IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from desktop_rag.store.contract.vectors import VectorMatches

_ALL = 100_000


def document(name: str, source_id: str = "") -> Document:
    """The row of a file waiting to be read; its id is its name."""
    path = Path("/docs") / name
    stat = FileStat(10, 20, 2**63 + 5)
    return Document(name, source_id, path, name, "text", stat, "", DocumentState.WAITING)


def indexed(row: Document, *texts: str) -> IndexingOutcome:
    """The indexing outcome of a file with a chunk for each text."""
    chunks = tuple(
        Chunk(n, 10 * n, 10 * n + len(text), text, Anchor(line=n), "", content_hash("", text))
        for n, text in enumerate(texts)
    )
    done = replace(row, state=DocumentState.SEARCHABLE_BY_WORDS, chunk_count=len(chunks))
    counts = tuple(term_counts(text) for text in texts)
    return IndexingOutcome(done, " ".join(texts), chunks, counts)


def add_source(engine: Engine, name: str, collection: str = "Papers") -> str:
    """The id of a new source in the collection of this name, created if necessary."""
    known = {c.name: c for c in engine.sources.collections()}
    chosen = known.get(collection) or engine.sources.add_collection(collection)
    return engine.sources.add_source(Path("/docs") / name, chosen.collection_id).source_id


def collection_id(engine: Engine, name: str) -> str:
    return next(c.collection_id for c in engine.sources.collections() if c.name == name)


def add(engine: Engine, *rows: Document) -> None:
    """Rows of waiting files, each in a source of its own unless it names one."""
    for row in rows:
        source_id = row.source_id or add_source(engine, row.document_id)
        fresh = replace(row, source_id=source_id)
        assert engine.documents.apply_changes(source_id, [fresh], {}, [])


def put(engine: Engine, name: str, *texts: str, collection: str = "Papers") -> Document:
    """A document with these chunks, searchable by words; its row."""
    row = document(name, add_source(engine, name, collection))
    add(engine, row)
    [stored] = engine.documents.settle([indexed(row, *texts)])
    return stored


def remove(engine: Engine, *document_ids: str) -> None:
    """The effect of a scan on files that are gone."""
    for row in engine.documents.get(document_ids):
        engine.documents.apply_changes(row.source_id, [], {}, [row.document_id])


def wait_again(engine: Engine, document_id: str) -> None:
    """The effect of a scan on a changed file."""
    [now] = engine.documents.get([document_id])
    change = {document_id: lambda d: replace(d, state=DocumentState.WAITING)}
    assert engine.documents.apply_changes(now.source_id, [], change, [])


def ranked(
    engine: Engine, words: Sequence[tuple[str, ...]], limit: int = _ALL, scope: Scope = EVERYWHERE
) -> dict[str, float]:
    """Text of the chunks found by these words → score, best first."""
    passages = engine.lexical.passages(dict(engine.lexical.best(words, limit, scope)))
    return {passage.text: passage.score for passage in passages}


def found(engine: Engine, term: str, scope: Scope = EVERYWHERE) -> list[str]:
    """The texts of the chunks that hold the term, best first."""
    scores = dict(engine.lexical.best([(term,)], _ALL, scope))
    return [passage.text for passage in engine.lexical.passages(scores)]


def ids(engine: Engine, term: str) -> dict[str, int]:
    """Text → chunk id of the chunks that contain the term, in the order of ids."""
    passages = engine.lexical.passages(dict(engine.lexical.best([(term,)], _ALL)))
    return {p.text: p.chunk_id for p in sorted(passages, key=lambda p: p.chunk_id)}


def count_orphans(documents: DocumentStore) -> int:
    """The number of chunks without a document."""
    orphans = "chunks WHERE document_id NOT IN (SELECT document_id FROM documents)"
    [(count,)] = fetched(documents.database, f"SELECT count(*) FROM {orphans}")
    return int(count)


def count_inconsistent(documents: DocumentStore, finished: str = "true") -> int:
    """The number of documents with two rows, or with other chunks than their row says.

    `finished` is SQL for the chunks that count.
    """
    [(count,)] = fetched(
        documents.database,
        "SELECT count(*) FROM (SELECT document_id, count(*) AS times, sum(chunk_count) AS n"
        " FROM documents GROUP BY document_id) d LEFT JOIN (SELECT document_id, count(*)"
        " AS found, count(DISTINCT position) AS positions, min(chunk_id) AS lowest,"
        " max(chunk_id) AS highest FROM chunks"
        f" WHERE {finished} GROUP BY document_id) c USING (document_id)"
        " LEFT JOIN document_texts t USING (document_id) WHERE times > 1"
        " OR n <> coalesce(found, 0) OR found <> positions OR lowest <> first_chunk"
        " OR highest <> last_chunk OR coalesce(found, 0) <>"
        " coalesce(last_chunk - first_chunk + 1, 0)",
    )
    return int(count)


def ranking(found: VectorMatches) -> list[tuple[int, float]]:
    """(chunk id, similarity) in their order."""
    return list(zip(found.chunk_ids, found.similarities.tolist(), strict=True))
