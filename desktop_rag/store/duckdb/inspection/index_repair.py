"""Mends the index of a library inside a transaction: what belongs to nothing goes, documents whose
passages or words are wrong are read again from their files. Vectors are kept by content, so reading
again embeds little. On the write lane.
"""

from collections.abc import Mapping

from desktop_rag.store.contract.inspection import IndexRepair
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.inspection.rules import (
    INDEX_RULES,
    MISCOUNTED_TERMS,
    POSTINGS_OF_NOTHING,
)
from desktop_rag.store.duckdb.inspection.vector_rules import contents_without_vector
from desktop_rag.store.duckdb.search.postings import MERGED
from desktop_rag.store.duckdb.search.vector_table import table_name

# Files attached to chats are not read again by themselves.
_OF_LIBRARY = "source_id NOT IN (SELECT source_id FROM sources WHERE is_attached)"
_WAS_READ = "state IN ('searchable', 'searchable by words') AND (url = '' OR content_hash <> '')"


def repair_index(con: Connection, models: Mapping[int, int]) -> IndexRepair:
    """Repair; `models` are those with a table, with their dimensions."""
    removed = _remove_vectors(con, models) + _remove_documents(con)
    read_again = _queue(con)
    removed += _remove_content(con) + _remove_postings(con)
    _count_terms(con)
    # A new version of the postings: nothing read before is used any more.
    con.execute("INSERT INTO posting_runs VALUES (?)", [MERGED])
    con.execute(
        "UPDATE documents SET state = 'searchable by words' WHERE state = 'searchable'"
        f" AND document_id IN (SELECT document_id FROM {contents_without_vector(models)})"
    )
    return IndexRepair(removed, read_again)


def _remove_vectors(con: Connection, models: Mapping[int, int]) -> int:
    removed = 0
    for number, dimensions in models.items():
        table = table_name(number)
        removed += _deleted(
            con,
            f"{table} WHERE content_hash IS NULL OR vector IS NULL"
            f" OR octet_length(vector) <> {dimensions:d}",
        )
        removed += _deleted(
            con,
            f"{table} WHERE rowid NOT IN (SELECT min(rowid) FROM {table} GROUP BY content_hash)",
        )
    return removed


def _remove_documents(con: Connection) -> int:
    removed = _deleted(con, "documents WHERE source_id NOT IN (SELECT source_id FROM sources)")
    removed += _deleted(
        con,
        "documents WHERE parent_id <> '' AND parent_id NOT IN (SELECT document_id FROM documents)",
    )
    latest = "SELECT max(rowid) FROM documents GROUP BY document_id"
    con.execute(
        "CREATE OR REPLACE TEMP TABLE doubled AS SELECT document_id FROM documents"
        " GROUP BY document_id HAVING count(*) > 1"
    )
    return removed + _deleted(con, f"documents WHERE rowid NOT IN ({latest})")


def _queue(con: Connection) -> int:
    """Let the documents wait whose content breaks a rule, without that content."""
    affected = " UNION ".join(
        f"SELECT document_id FROM {rule.broken}" for rule in INDEX_RULES if rule.of_documents
    )
    unnamed = (
        "SELECT document_id FROM chunks WHERE chunk_id IN (SELECT chunk_id FROM postings WHERE key"
        " NOT IN (SELECT key FROM terms UNION SELECT key FROM recent_postings))"
    )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE wrong AS SELECT DISTINCT"
        " coalesce(nullif(parent_id, ''), document_id) AS document_id FROM documents"
        f" WHERE {_OF_LIBRARY} AND document_id IN"
        f" ({affected} UNION {unnamed} UNION FROM doubled)"
    )
    # What is inside a document is found again with it.
    con.execute("DELETE FROM documents WHERE parent_id IN (FROM wrong)")
    con.execute("DELETE FROM document_texts WHERE document_id IN (FROM wrong)")
    con.execute(
        "UPDATE documents SET chunk_count = 0,"
        f" state = CASE WHEN {_WAS_READ} THEN 'waiting' ELSE state END"
        " WHERE document_id IN (FROM wrong)"
    )
    [(count,)] = con.execute("SELECT count(*) FROM wrong").fetchall()
    return int(count)


def _remove_content(con: Connection) -> int:
    """Remove texts and chunks that belong to no document, or to one that is read again."""
    gone = "document_id IN (FROM wrong) OR document_id NOT IN (SELECT document_id FROM documents)"
    orphans = "document_id NOT IN (SELECT document_id FROM documents)"
    [(removed,)] = con.execute(f"SELECT count(*) FROM chunks WHERE {orphans}").fetchall()
    removed += _deleted(con, f"document_texts WHERE {orphans}")
    ids = f"(SELECT chunk_id FROM chunks WHERE {gone})"
    con.execute(f"DELETE FROM recent_postings WHERE chunk_id IN {ids}")
    con.execute(f"INSERT INTO dead_chunks {ids} EXCEPT FROM dead_chunks")
    con.execute(f"DELETE FROM chunks WHERE {gone}")
    return int(removed)


def _remove_postings(con: Connection) -> int:
    """Leave postings without a chunk out of every search; the next merge removes them."""
    [(count,)] = con.execute(f"SELECT count(*) FROM {POSTINGS_OF_NOTHING}").fetchall()
    con.execute("DELETE FROM recent_postings WHERE chunk_id NOT IN (SELECT chunk_id FROM chunks)")
    con.execute(f"INSERT INTO dead_chunks SELECT DISTINCT chunk_id FROM {POSTINGS_OF_NOTHING}")
    return int(count)


def _count_terms(con: Connection) -> None:
    """Count the terms of the sorted postings again, when a count is wrong."""
    [(wrong,)] = con.execute(f"SELECT count(*) FROM {MISCOUNTED_TERMS}").fetchall()
    if not wrong:
        return
    con.execute(
        "CREATE OR REPLACE TABLE terms AS SELECT key, term, chunks FROM"
        " (SELECT key, count(*) AS chunks FROM postings GROUP BY key) JOIN"
        " (SELECT key, any_value(term) AS term FROM (SELECT key, term FROM terms"
        " UNION ALL SELECT key, term FROM recent_postings) GROUP BY key) USING (key) ORDER BY key"
    )
    # Their documents are read again.
    con.execute("DELETE FROM postings WHERE key NOT IN (SELECT key FROM terms)")


def _deleted(con: Connection, which: str) -> int:
    [(count,)] = con.execute(f"DELETE FROM {which}").fetchall()
    return int(count)
