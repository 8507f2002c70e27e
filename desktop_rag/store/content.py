"""The content of documents, as functions on an open transaction: text, places, chunks, postings.

Content comes and goes with its document; whoever changes rows calls these in the same transaction.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.domain import Document, FileStat
from desktop_rag.core.parsed import Chunk
from desktop_rag.store.database import Columns, Connection, insert

# What fits into the columns that count terms.
_MOST = 65_535


@dataclass(frozen=True, slots=True)
class Outcome:
    """How reading a document ended: its row, and the content that replaces what it had.

    A document that was refused has none and loses what it had, unless `keeps_content`.
    `term_counts` has one item a chunk; `places` is what chunks are cut from again beside the text.
    `taken_stat` is what the row said of the file when its reading began: a row that says otherwise
    by now was found changed again. `parts` are the documents inside this one.
    """

    document: Document
    text: str = ""
    chunks: tuple[Chunk, ...] = ()
    term_counts: tuple[Counter[str], ...] = ()
    places: str = ""
    keeps_content: bool = False
    taken_stat: FileStat | None = None
    parts: "tuple[Outcome, ...]" = ()


def delete_content(con: Connection, document_ids: Sequence[str]) -> None:
    """Remove text, chunks and postings of these documents."""
    if not document_ids:
        return
    delete_chunks(con, document_ids)
    con.execute(
        "DELETE FROM document_texts WHERE document_id IN (SELECT unnest(?))", [document_ids]
    )


def delete_chunks(con: Connection, document_ids: Sequence[str]) -> None:
    """Remove chunks and postings of these documents; their texts stay."""
    # The chunks of a document were numbered in one go, and DuckDB skips whole row groups by
    # range: this finds the postings of a document without reading the table.
    spans = con.execute(
        "SELECT min(chunk_id), max(chunk_id) FROM chunks"
        " WHERE document_id IN (SELECT unnest(?)) GROUP BY document_id",
        [document_ids],
    ).fetchall()
    for first, last in _joined(sorted(spans)):
        con.execute("DELETE FROM recent_postings WHERE chunk_id BETWEEN ? AND ?", [first, last])
        # Sorted postings stay until they are sorted again; searches leave these chunks out.
        con.execute("INSERT INTO dead_chunks SELECT range FROM range(?, ?)", [first, last + 1])
    if spans:
        con.execute("DELETE FROM chunks WHERE document_id IN (SELECT unnest(?))", [document_ids])


def insert_content(con: Connection, outcomes: Sequence[Outcome]) -> None:
    """Store text, places, chunks and postings of these outcomes."""
    columns: Columns = {
        "document_id": [item.document.document_id for item in outcomes],
        "text": [item.text for item in outcomes],
        "places": [item.places for item in outcomes],
    }
    insert(con, "document_texts", columns)
    insert_chunks(con, outcomes)


def chunks_of(con: Connection, document_id: str) -> list[Chunk]:
    """The chunks of a document in reading order."""
    rows = con.execute(
        "SELECT position, start_offset, end_offset, text, anchor, context, content_hash"
        " FROM chunks WHERE document_id = ? ORDER BY position",
        [document_id],
    ).fetchall()
    return [
        Chunk(position, start, end, text, Anchor.from_json(json.loads(anchor)), context, digest.hex)
        for position, start, end, text, anchor, context, digest in rows
    ]


def insert_chunks(con: Connection, batch: Sequence[Outcome]) -> None:
    """Store the chunks and postings of these outcomes, numbered in one go."""
    # The last chunk may have been deleted: numbers are not given twice.
    [(last,)] = con.execute(
        "SELECT greatest((SELECT coalesce(max(chunk_id), 0) FROM chunks),"
        " (SELECT coalesce(max(chunk_id), 0) FROM dead_chunks))"
    ).fetchall()
    first = last + 1
    rows = [(item.document.document_id, chunk) for item in batch for chunk in item.chunks]
    counts = [count for item in batch for count in item.term_counts]
    ids = range(first, first + len(rows))
    insert(
        con,
        "chunks",
        {
            "chunk_id": list(ids),
            "document_id": [document_id for document_id, _ in rows],
            "position": [chunk.position for _, chunk in rows],
            "start_offset": [chunk.start for _, chunk in rows],
            "end_offset": [chunk.end for _, chunk in rows],
            "text": [chunk.text for _, chunk in rows],
            "context": [chunk.context for _, chunk in rows],
            "anchor": [json.dumps(chunk.anchor.to_json()) for _, chunk in rows],
            "content_hash": [chunk.content_hash for _, chunk in rows],
            "term_count": [count.total() for count in counts],
        },
    )
    postings = [(t, i, n) for i, count in zip(ids, counts, strict=True) for t, n in count.items()]
    lengths = [min(count.total(), _MOST) for count in counts for _ in count]
    insert(
        con,
        "recent_postings",
        {
            "term": [term for term, _, _ in postings],
            "chunk_id": [chunk_id for _, chunk_id, _ in postings],
            "tf": [min(tf, _MOST) for _, _, tf in postings],
            "term_count": lengths,
        },
    )


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, last in spans:
        if joined and first == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined
