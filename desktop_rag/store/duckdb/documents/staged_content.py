"""Writes the chunks and postings of large documents in slices, before they replace the old ones.

A single transaction would hold all of them in memory, several times over. Until the transaction
that stores the document, the ids of its chunks are in `unfinished_content` and searches skip them:
the document is wholly old or wholly new. Opening the file removes what a crash left. On the
caller's thread; only the transactions are on the write lane.
"""

import json
import logging
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

import numpy as np

from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Chunk
from desktop_rag.store.contract.database import fetched, key_of
from desktop_rag.store.contract.documents import (
    CHUNK,
    DocumentContent,
    Family,
    IndexingOutcome,
    StagedOutcomes,
    chunk_from,
    chunk_rows,
)
from desktop_rag.store.duckdb.database.connections import Columns, Connection, insert
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.postings import MERGED, sort_recent

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


log = logging.getLogger(__name__)

# A document with more chunks, its parts included, is written in slices of this size.
SLICE = 2_000


@dataclass
class Staged(StagedOutcomes):
    """Outcomes to be stored, and the chunk ids of those whose chunks are stored already."""

    numbers: ChunkNumbers
    ids: dict[str, range] = field(default_factory=dict[str, range])

    def insert(self, con: Connection, families: Sequence[Family]) -> None:
        small = [f for f in families if f[0].document.document_id not in self.ids]
        insert_content(con, [o for family in small for o in family if o.chunks], self.numbers)
        for family in families:
            if ids := self.ids.get(family[0].document.document_id):
                _finish(con, family, ids)


class StagedContent(DocumentContent):
    """Writes the chunks of large documents in advance. One per open file."""

    def __init__(self, database: Database) -> None:
        """Removes what an earlier process left unfinished."""
        super().__init__(database)
        self._database = database
        self._numbers = ChunkNumbers()
        with database.read() as con:
            is_left = bool(con.execute("FROM unfinished_content LIMIT 1").fetchall())
        if is_left:
            database.write(lambda lane: _remove(lane, "true"))

    def delete(self, con: Connection, document_ids: Sequence[str]) -> None:
        if not document_ids:
            return
        which, ids = self._database.with_ids(document_ids)
        # Without RETURNING, which would read the texts too.
        spans = con.execute(
            f"SELECT first_chunk, last_chunk FROM document_texts WHERE {which}", ids
        ).fetchall()
        con.execute(f"DELETE FROM document_texts WHERE {which}", ids)
        remove_chunks(con, spans)
        self._database.holds_deleted_text |= bool(spans)

    def follow(self, con: Connection, document_ids: Sequence[str]) -> None:
        """No effect: content has one place, whatever the source."""

    def chunks_of(self, con: Connection, document_id: str) -> list[Chunk]:
        which, ids = self._database.with_ids([document_id])
        spans = con.execute(
            f"SELECT first_chunk, last_chunk FROM document_texts WHERE {which}", ids
        ).fetchall()
        if not spans:
            return []
        rows = con.execute(
            f"SELECT {CHUNK} FROM chunks WHERE chunk_id BETWEEN ? AND ? ORDER BY position", spans[0]
        ).fetchall()
        return list(map(chunk_from, rows))

    @contextmanager
    def staged(self, outcomes: Sequence[IndexingOutcome]) -> Generator[Staged]:
        """Write large outcomes; what the block doesn't `insert` is removed after it."""
        staged = Staged([], self._numbers)
        try:
            for outcome in outcomes:
                is_large = sum(len(o.chunks) for o in (outcome, *outcome.parts)) > SLICE
                staged.outcomes.append(self._written(outcome, staged) if is_large else outcome)
            yield staged
        except BaseException:
            try:
                self._discard(staged)
            except AppError as error:
                log.info("unfinished chunks stay until the next start: %s", error.title)
            raise
        self._discard(staged)

    def _written(self, outcome: IndexingOutcome, staged: Staged) -> IndexingOutcome:
        """Write the chunks of the outcome and its parts, which keep known ids."""
        outcome = self._with_known_parts(outcome)
        document_id = outcome.document.document_id
        family = (outcome, *outcome.parts)
        count = sum(len(o.chunks) for o in family)

        def reserve(con: Connection) -> range:
            ids = self._numbers.take(con, count)
            con.execute(
                "INSERT INTO unfinished_content VALUES (?, ?, ?)",
                [document_id, ids.start, ids.stop - 1],
            )
            return ids

        ids = staged.ids[document_id] = self._database.write(reserve)
        rows, first = chunk_rows(family), ids.start
        while part := list(islice(rows, SLICE)):
            slice_ids = range(first, first + len(part))
            self._database.write(partial(insert_chunks, rows=part, ids=slice_ids))
            first += len(part)
        return outcome

    def _with_known_parts(self, outcome: IndexingOutcome) -> IndexingOutcome:
        if not outcome.parts:
            return outcome
        sql = "SELECT part, document_id FROM documents WHERE parent_id = ?"
        known = dict(fetched(self._database, sql, [outcome.document.document_id]))
        parts = [
            replace(p, document=replace(p.document, document_id=known[p.document.part]))
            if p.document.part in known
            else p
            for p in outcome.parts
        ]
        return replace(outcome, parts=tuple(parts))

    def _discard(self, staged: Staged) -> None:
        if staged.ids:
            firsts = ", ".join(f"{ids.start:d}" for ids in staged.ids.values())
            self._database.write(lambda con: _remove(con, f"first_chunk IN ({firsts})"))


def _finish(con: Connection, family: Family, ids: range) -> None:
    """Make the chunks of a stored document visible."""
    with_chunks = [outcome for outcome in family if outcome.chunks]
    insert_texts(con, with_chunks, ids.start)
    con.execute("DELETE FROM unfinished_content WHERE first_chunk = ?", [ids.start])
    # Chunks with higher ids may be in memory already: as after a merge, all are read again.
    con.execute("INSERT INTO posting_runs VALUES (?)", [MERGED])


def _remove(con: Connection, which: str) -> None:
    spans = con.execute(
        f"SELECT first_chunk, last_chunk FROM unfinished_content WHERE {which}"
    ).fetchall()
    remove_chunks(con, spans)
    con.execute(f"DELETE FROM unfinished_content WHERE {which}")
