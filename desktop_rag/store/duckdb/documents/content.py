"""Stores and removes the content of documents: text, places, chunks, postings.

Functions run in the transaction that changes the rows of the documents.
"""

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np

from desktop_rag.core.parsed import Chunk
from desktop_rag.store.contract.documents import IndexingOutcome, chunk_rows
from desktop_rag.store.duckdb.database.bulk_rows import Columns, insert
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.search.postings import sort_recent
from desktop_rag.store.sql.scope_filters import key_of

# A chunk of a document, and its terms.
ChunkRow = tuple[str, Chunk, Counter[str]]

# The maximum of the columns for counts of terms.
_MAX_COUNT = 65_535
# The recent postings are counted once per this many chunks.
_CHECK_INTERVAL = 1_000


class ChunkNumbers:
    """Allocates unique chunk ids. One per open file, on the write lane.

    The last one is cached: reading it takes one of the few milliseconds that storing a document
    takes. The ids of a failed transaction are never used.
    """

    def __init__(self) -> None:
        self._last: int | None = None

    def take(self, con: Connection, count: int) -> range:
        """The next `count` ids."""
        first = (_last_chunk_id(con) if self._last is None else self._last) + 1
        self._last = first + count - 1
        return range(first, first + count)


def _last_chunk_id(con: Connection) -> int:
    # The chunk with the last id may have been deleted.
    [(last,)] = con.execute(
        "SELECT coalesce(max(last), 0) FROM (SELECT max(last_chunk) AS last FROM document_texts"
        " UNION ALL SELECT max(chunk_id) FROM dead_chunks)"
    ).fetchall()
    return int(last)


def remove_chunks(con: Connection, spans: Sequence[tuple[int, int]]) -> None:
    """Remove the chunks and postings with ids from the first to the last of each span."""
    # By range, DuckDB skips whole row groups: only those with the document's chunks are read.
    for first, last in _merged_spans(sorted(spans)):
        for table in ("chunks", "recent_postings"):
            con.execute(f"DELETE FROM {table} WHERE chunk_id BETWEEN ? AND ?", [first, last])
        # Sorted postings stay until the next merge; searches leave these chunks out.
        con.execute("INSERT INTO dead_chunks SELECT range FROM range(?, ?)", [first, last + 1])


def insert_content(
    con: Connection, outcomes: Sequence[IndexingOutcome], numbers: ChunkNumbers
) -> None:
    """Store text, places, chunks and postings of these outcomes, with consecutive chunk ids."""
    taken = numbers.take(con, sum(len(item.chunks) for item in outcomes))
    insert_texts(con, outcomes, taken.start)
    insert_chunks(con, list(chunk_rows(outcomes)), taken)


def insert_texts(con: Connection, outcomes: Sequence[IndexingOutcome], first_chunk: int) -> None:
    """Store text and places of these outcomes, whose chunks have consecutive ids."""
    ends = np.cumsum([first_chunk - 1, *(len(item.chunks) for item in outcomes)]).tolist()
    ids = [item.document.document_id for item in outcomes]
    columns: Columns = {
        "key": list(map(key_of, ids)),
        "document_id": ids,
        "text": [item.text for item in outcomes],
        "places": [item.places for item in outcomes],
        "first_chunk": [end + 1 for end in ends[:-1]],
        "last_chunk": ends[1:],
    }
    insert(con, "document_texts", columns)


def insert_chunks(con: Connection, rows: Sequence[ChunkRow], ids: range) -> None:
    """Store chunks and their postings."""
    chunks = [chunk for _, chunk, _ in rows]
    insert(
        con,
        "chunks",
        {
            "chunk_id": list(ids),
            "document_id": [document_id for document_id, _, _ in rows],
            "position": [chunk.position for chunk in chunks],
            "start_offset": [chunk.start for chunk in chunks],
            "end_offset": [chunk.end for chunk in chunks],
            "text": [chunk.text for chunk in chunks],
            "context": [chunk.context for chunk in chunks],
            "anchor": [json.dumps(chunk.anchor.to_json()) for chunk in chunks],
            "content_hash": [chunk.content_hash for chunk in chunks],
            "term_count": [count.total() for _, _, count in rows],
        },
    )
    _insert_postings(con, ids, [count for _, _, count in rows])


def _insert_postings(con: Connection, ids: range, counts: Sequence[Counter[str]]) -> None:
    sizes = [len(count) for count in counts]
    tf = np.array([n for count in counts for n in count.values()], np.int64)
    lengths = np.array([count.total() for count in counts], np.int64)
    columns: Columns = {
        "key": np.array([key_of(term) for count in counts for term in count], np.uint64),
        "term": [term for count in counts for term in count],
        "chunk_id": np.repeat(np.arange(ids.start, ids.stop), sizes),
        "tf": np.minimum(tf, _MAX_COUNT),
        "term_count": np.minimum(np.repeat(lengths, sizes), _MAX_COUNT),
    }
    insert(con, "recent_postings", columns)
    # Counting the rows takes time, so it is not done for every document.
    if ids.start // _CHECK_INTERVAL != ids.stop // _CHECK_INTERVAL:
        sort_recent(con)


def _merged_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in spans:
        if merged and first == merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged
