"""Checks an open library file against its rules, and repairs its index. Any thread.

Rules are SQL. Wherever the library stores a count, it is compared with the rows. A repair removes
orphans, and has documents with wrong passages or words read again from their files; vectors are
stored by content, so that embeds little.
"""

from collections.abc import Callable, Iterator, Mapping

from desktop_rag.core.language.languages import MULTILINGUAL_MODEL
from desktop_rag.store.contract.inspection import (
    DOCUMENTS_OF_SOURCES,
    MESSAGES_OF_CHATS,
    PARTS_OF_DOCUMENTS,
    PASSAGES_OF_DOCUMENTS,
    SOURCES_OF_COLLECTIONS,
    Discrepancy,
    IndexRepair,
    Inspection,
    JournalState,
    Rule,
    broken,
    count_of,
)
from desktop_rag.store.contract.precious import kinds, kinds_of_features, nouns_of_features
from desktop_rag.store.contract.vectors import vector_table
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.postings import MERGED

# Counts of postings are capped at this, see content.py.
_MAX_COUNT = 65_535


ALL_POSTINGS = (
    "(SELECT key, chunk_id, tf FROM postings UNION ALL SELECT key, chunk_id, tf"
    " FROM recent_postings)"
)
# Sorted postings of removed chunks stay until the next merge; those of the recent table do not.
POSTINGS_OF_NOTHING = (
    "(SELECT chunk_id FROM postings ANTI JOIN dead_chunks USING (chunk_id)"
    " UNION ALL SELECT chunk_id FROM recent_postings) ANTI JOIN chunks USING (chunk_id)"
)
# Terms are counted with each run of sorted postings.
MISCOUNTED_TERMS = (
    "(SELECT key, sum(chunks) AS counted FROM terms GROUP BY key) FULL JOIN"
    " (SELECT key, count(*) AS found FROM postings GROUP BY key) USING (key)"
    " WHERE counted IS DISTINCT FROM found"
)
_CHUNKS_BY_DOCUMENT = (
    "(SELECT document_id, count(*) AS found, count(DISTINCT position) AS positions,"
    " min(chunk_id) AS lowest, max(chunk_id) AS highest FROM chunks GROUP BY document_id)"
)

INDEX_RULES = (
    Rule(
        "documents listed twice",
        "(SELECT document_id FROM documents GROUP BY document_id HAVING count(*) > 1)",
        of_documents=True,
    ),
    DOCUMENTS_OF_SOURCES,
    PARTS_OF_DOCUMENTS,
    Rule("texts without a document", "document_texts ANTI JOIN documents USING (document_id)"),
    Rule(
        "documents with two texts",
        "(SELECT document_id FROM document_texts GROUP BY document_id HAVING count(*) > 1)",
        of_documents=True,
    ),
    PASSAGES_OF_DOCUMENTS,
    Rule(
        "documents with other passages than counted",
        f"(SELECT DISTINCT document_id, chunk_count FROM documents) LEFT JOIN {_CHUNKS_BY_DOCUMENT}"
        " USING (document_id) LEFT JOIN document_texts USING (document_id)"
        " WHERE chunk_count <> coalesce(found, 0) OR found <> positions OR lowest <> first_chunk"
        " OR highest <> last_chunk"
        " OR coalesce(found, 0) <> coalesce(last_chunk - first_chunk + 1, 0)",
        of_documents=True,
    ),
    Rule(
        "passages with the number of another",
        "(SELECT document_id FROM chunks SEMI JOIN (SELECT chunk_id FROM chunks GROUP BY chunk_id"
        " HAVING count(*) > 1) USING (chunk_id))",
        of_documents=True,
    ),
    Rule(
        "passages without content",
        "chunks WHERE coalesce(text, '') = '' OR content_hash IS NULL",
        of_documents=True,
    ),
    Rule(
        "passages outside the text of their document",
        "chunks c JOIN (SELECT document_id, length(text) AS size FROM document_texts)"
        " USING (document_id) WHERE start_offset < 0 OR end_offset < start_offset"
        " OR end_offset > size",
        of_documents=True,
    ),
    Rule(
        "passages listed as removed",
        "chunks SEMI JOIN dead_chunks USING (chunk_id)",
        of_documents=True,
    ),
    Rule(
        "passages with other words than counted",
        "chunks LEFT JOIN (SELECT chunk_id, sum(tf) AS found, max(tf) AS highest FROM"
        f" {ALL_POSTINGS} GROUP BY chunk_id) USING (chunk_id)"
        f" WHERE coalesce(found, 0) <> term_count AND coalesce(highest, 0) < {_MAX_COUNT}",
        of_documents=True,
    ),
    Rule("postings without a passage", POSTINGS_OF_NOTHING),
    Rule("terms with other postings than counted", MISCOUNTED_TERMS),
)


def vector_rules(models: Mapping[int, int]) -> list[Rule]:
    """The rules for the vectors of these models: dimensions by number; each has a table."""
    rules: list[Rule] = []
    for number, dimensions in models.items():
        table = vector_table(number)
        rules += [
            Rule(
                "contents with two vectors",
                f"(SELECT content_hash FROM {table} GROUP BY content_hash HAVING count(*) > 1)",
            ),
            Rule(
                "vectors of a wrong size",
                f"{table} WHERE content_hash IS NULL OR vector IS NULL"
                f" OR octet_length(vector) <> {dimensions:d}",
            ),
        ]
    return [*rules, _without_vectors(models)]


# Documents in other languages need no vector; they may have one of a model that somebody chose.
_READ = ", ".join(f"'{code}'" for code in sorted(MULTILINGUAL_MODEL))


def contents_without_vector(models: Mapping[int, int]) -> str:
    """SQL that follows FROM: the chunks that lack a vector of any model."""
    joins = "".join(f" ANTI JOIN {vector_table(n)} USING (content_hash)" for n in models)
    read = f"(SELECT document_id FROM documents WHERE language IN ({_READ}))"
    return f"chunks{joins} SEMI JOIN {read} USING (document_id)"


def _without_vectors(models: Mapping[int, int]) -> Rule:
    return Rule(
        "passages that lack their vector",
        f"(FROM {contents_without_vector(models)}) SEMI JOIN"
        " (SELECT document_id FROM documents WHERE state = 'searchable') USING (document_id)",
    )


def models_with_table(con: Connection) -> dict[int, int]:
    """The models that have a table of vectors: their dimensions by number."""
    tables = _vector_tables(con)
    rows = con.execute("SELECT model_id, dimensions FROM models").fetchall()
    return {number: dimensions for number, dimensions in rows if vector_table(number) in tables}


def stray_tables(con: Connection) -> int:
    """The number of models without a table, and of tables without a model."""
    named = {vector_table(n) for (n,) in con.execute("SELECT model_id FROM models").fetchall()}
    return len(named ^ _vector_tables(con))


def _vector_tables(con: Connection) -> set[str]:
    rows = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'vectors\\_%' ESCAPE '\\'"
    ).fetchall()
    return {name for (name,) in rows}


# Table, unique key and noun of the precious things.
_LISTED_ONCE = (
    ("collections", "collection_id", "collections"),
    ("sources", "source_id", "folders and links"),
    ("file_tags", "path", "tagged files"),
    ("conversations", "conversation_id", "chats"),
    ("messages", "message_id", "messages"),
    ("assistants", "assistant_id", "assistants"),
    ("interactions", "interaction_id", "remembered answers"),
    ("attached_images", "attachment_id", "attached images"),
)


def _listed_twice(table: str, key: str, word: str) -> Rule:
    return Rule(
        f"{word} listed twice",
        f"(SELECT {key} FROM {table} GROUP BY {key} HAVING count(*) > 1)",
        is_precious=True,
    )


PERSONAL_RULES = (
    *(_listed_twice(*listed) for listed in _LISTED_ONCE),
    SOURCES_OF_COLLECTIONS,
    MESSAGES_OF_CHATS,
    Rule(
        "citations without a message",
        "citations ANTI JOIN messages USING (message_id)",
        is_precious=True,
    ),
    Rule(
        "remembered answers without a chat",
        "(FROM interactions WHERE conversation_id <> '')"
        " ANTI JOIN conversations USING (conversation_id)",
        is_precious=True,
    ),
)


def rules_of_features() -> Iterator[Rule]:
    """The rules of what features keep."""
    for name, kind in kinds_of_features().items():
        _, word = nouns_of_features()[name]
        [(table, key)] = kind.tables.items()
        yield _listed_twice(table, key, word)
        if kind.owner:
            column, owner = kind.owner
            [(owners, own_key)] = kinds()[owner].tables.items()
            yield Rule(
                f"{word} without what they belong to",
                f"(SELECT {column} AS {own_key} FROM {table} WHERE {column} <> '')"
                f" ANTI JOIN {owners} USING ({own_key})",
                is_precious=True,
            )


# Files attached to chats are not read again by themselves.
_OF_LIBRARY = "source_id NOT IN (SELECT source_id FROM sources WHERE is_attached)"
_WAS_READ = "state IN ('searchable', 'searchable by words') AND (url = '' OR content_hash <> '')"


def repair_index(con: Connection, models: Mapping[int, int]) -> IndexRepair:
    """Repair the index, in a transaction; `models` are those with a table: dimensions by number."""
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
        table = vector_table(number)
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
    """Queue the documents whose content breaks a rule, and remove their texts."""
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
    return count_of(con, "wrong")


def _remove_content(con: Connection) -> int:
    """Remove texts and chunks that belong to no document, or to one that is read again."""
    gone = "document_id IN (FROM wrong) OR document_id NOT IN (SELECT document_id FROM documents)"
    orphans = "document_id NOT IN (SELECT document_id FROM documents)"
    removed = count_of(con, f"chunks WHERE {orphans}")
    removed += _deleted(con, f"document_texts WHERE {orphans}")
    ids = f"(SELECT chunk_id FROM chunks WHERE {gone})"
    con.execute(f"DELETE FROM recent_postings WHERE chunk_id IN {ids}")
    con.execute(f"INSERT INTO dead_chunks {ids} EXCEPT FROM dead_chunks")
    con.execute(f"DELETE FROM chunks WHERE {gone}")
    return removed


def _remove_postings(con: Connection) -> int:
    """Hide postings without a chunk from searches; the next merge removes them."""
    count = count_of(con, POSTINGS_OF_NOTHING)
    con.execute("DELETE FROM recent_postings WHERE chunk_id NOT IN (SELECT chunk_id FROM chunks)")
    con.execute(f"INSERT INTO dead_chunks SELECT DISTINCT chunk_id FROM {POSTINGS_OF_NOTHING}")
    return count


def _count_terms(con: Connection) -> None:
    """Recount the terms of the sorted postings if a count is wrong."""
    if not count_of(con, MISCOUNTED_TERMS):
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


class LibraryInspection(Inspection):
    """The rules of one library file."""

    def __init__(self, database: Database, cache: IndexCache) -> None:
        super().__init__(database)
        self._database = database
        self._cache = cache

    def discrepancies(self, may_go_on: Callable[[], bool]) -> list[Discrepancy]:
        with self._database.snapshot() as snapshot:
            con = snapshot.con
            models = models_with_table(con)
            rules = [*INDEX_RULES, *vector_rules(models), *PERSONAL_RULES, *rules_of_features()]
            stray = Discrepancy("models without a table, or the reverse", stray_tables(con))
            return [*([stray] if stray.count else []), *broken(con, rules, may_go_on)]

    def waiting_contents(self) -> int:
        with self._database.snapshot() as snapshot:
            chunks = contents_without_vector(models_with_table(snapshot.con))
            return count_of(snapshot.con, f"(SELECT DISTINCT content_hash FROM {chunks})")

    def journal(self) -> JournalState:
        return JournalState(*self._database.journal_numbers(), self._database.unreadable_lines())

    def repair(self) -> IndexRepair:
        with self._database.read() as con:
            models = models_with_table(con)
        done = self._database.write(lambda lane: repair_index(lane, models))
        if self._database.unreadable_lines():
            self._database.rewrite_journal()
        for number in models:
            self._cache.clear_signs(number)
        return done
