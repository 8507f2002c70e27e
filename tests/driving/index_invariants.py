"""What must hold between documents, chunks, postings and vectors at any moment. Any thread.

For files whose every sentence has a word of their version (`versioned_text.py`): a document is
wholly old or wholly new.
"""

from collections.abc import Iterator

from desktop_rag.app import Services
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.terms import term_counts
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.driving.versioned_text import markers_in

_ALL = 100_000
_READ = {DocumentState.SEARCHABLE, DocumentState.SEARCHABLE_BY_WORDS}


def broken_invariants(services: Services) -> list[str]:
    """A line for each that does not hold; of a quiet library only."""
    broken = [str(each) for each in services.engine.inspection.discrepancies(lambda: True)]
    documents = services.engine.documents.documents()
    paths = [document.path for document in documents]
    broken += ["a path has two documents"] if len(set(paths)) < len(paths) else []
    broken += _without_vector(services)
    return [*broken, *(line for document in documents for line in _broken_in(services, document))]


def _broken_in(services: Services, document: Document) -> Iterator[str]:
    name = document.path.name
    engine = services.engine
    chunks = engine.documents.chunks(document.document_id)
    versions = [markers_in(chunk.text) for chunk in chunks]
    if len(chunks) != document.chunk_count:
        yield f"{name}: {len(chunks)} chunks, its row says {document.chunk_count}"
    if document.state in _READ and not chunks:
        yield f"{name}: {document.state.value} without a chunk"
    if not chunks:
        return
    if len(set().union(*versions)) != 1 or not all(versions):
        yield f"{name}: chunks of the versions {versions}"
        return
    [marker] = versions[0]
    if markers_in(engine.documents.text(document.document_id) or "") != {marker}:
        yield f"{name}: its text is of another version than its chunks"
    if document.state is DocumentState.GONE:
        return  # kept, but found by nothing
    [term] = term_counts(marker)
    found = dict(engine.lexical.best([(term,)], _ALL))
    if len(found) != len(chunks) or engine.lexical.documents_of(list(found)) != frozenset(
        [document.document_id]
    ):
        yield f"{name}: {len(found)} postings for {len(chunks)} chunks"


def _without_vector(services: Services) -> list[str]:
    """Documents said to be searchable by meaning that have a chunk without a vector."""
    with database_of(services.engine).read() as connection:
        models = connection.execute("SELECT model_id FROM models").fetchall()
        vectors = " UNION ALL ".join(f"SELECT content_hash FROM vectors_{n}" for (n,) in models)
        if not models:
            return []
        rows = connection.execute(
            "SELECT DISTINCT d.path FROM documents d JOIN chunks c USING (document_id)"
            f" WHERE d.state = 'searchable' AND c.content_hash NOT IN ({vectors})"
        ).fetchall()
    return [f"{path}: a chunk has no vector" for (path,) in rows]
