"""Checks the rules of a library on a server. Any thread; writes only in `repair`."""

from collections.abc import Callable
from dataclasses import dataclass

from desktop_rag.store.contract.inspection import Discrepancy, IndexRepair, JournalState
from desktop_rag.store.postgres.database.server_connection import ServerConnection
from desktop_rag.store.postgres.database.server_database import ServerDatabase
from desktop_rag.store.postgres.documents.collection_vectors import vector_table
from desktop_rag.store.postgres.documents.server_content import ServerContent
from desktop_rag.store.sql.documents.row_values import waiting_pictures


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule; `what` are those that break it, each a row of `broken`: SQL that follows FROM."""

    what: str
    broken: str
    is_precious: bool = False


# In another collection than the source, or with a text that is.
_ELSEWHERE = (
    "SELECT document_id FROM documents d JOIN sources s USING (source_id)"
    " WHERE d.collection_id <> s.collection_id"
    " UNION SELECT document_id FROM document_texts t JOIN documents d USING (document_id)"
    " WHERE t.collection_id <> d.collection_id"
)
_RULES = (
    _Rule(
        "documents without a source",
        "documents d WHERE NOT EXISTS (SELECT 1 FROM sources s WHERE s.source_id = d.source_id)",
    ),
    _Rule(
        "documents inside one that does not exist",
        "documents d WHERE parent_id <> '' AND NOT EXISTS"
        " (SELECT 1 FROM documents p WHERE p.document_id = d.parent_id)",
    ),
    _Rule(
        "passages without a document",
        "chunks c WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.document_id = c.document_id)",
    ),
    _Rule(
        "documents with other passages than counted",
        "documents d LEFT JOIN (SELECT document_id, collection_id, count(*) AS found FROM chunks"
        " GROUP BY document_id, collection_id) c USING (document_id, collection_id)"
        " WHERE chunk_count <> coalesce(found, 0)",
    ),
    _Rule(
        "postings without a passage",
        "(SELECT DISTINCT chunk_id FROM postings) p WHERE NOT EXISTS"
        " (SELECT 1 FROM chunks c WHERE c.chunk_id = p.chunk_id)",
    ),
    _Rule("documents outside the collection of their folder", f"({_ELSEWHERE}) m"),
    _Rule(
        "folders and links without a collection",
        "sources s WHERE NOT EXISTS"
        " (SELECT 1 FROM collections k WHERE k.collection_id = s.collection_id)",
        is_precious=True,
    ),
    _Rule(
        "messages without a chat",
        "messages m WHERE NOT EXISTS"
        " (SELECT 1 FROM conversations c WHERE c.conversation_id = m.conversation_id)",
        is_precious=True,
    ),
)


class ServerInspection:
    """The rules of one library."""

    def __init__(self, database: ServerDatabase, content: ServerContent) -> None:
        self._database = database
        self._content = content

    def discrepancies(self, may_go_on: Callable[[], bool]) -> list[Discrepancy]:
        """The rules that are broken in one snapshot."""
        with self._database.snapshot(of_primary=True) as snapshot:
            found = [
                Discrepancy(rule.what, _count(snapshot.con, rule.broken), rule.is_precious)
                for rule in _RULES
                if may_go_on()
            ]
        return [each for each in found if each.count]

    def waiting_contents(self) -> int:
        """The number of distinct contents without a vector of any model."""
        with self._database.snapshot(of_primary=True) as snapshot:
            con = snapshot.con
            models = con.execute("SELECT model_id FROM models").fetchall()
            lacking = "".join(
                f" AND NOT EXISTS (SELECT 1 FROM {vector_table(number)} v"
                " WHERE v.content_hash = chunks.content_hash)"
                for (number,) in models
            )
            return _count(con, f"(SELECT DISTINCT content_hash FROM chunks WHERE true{lacking}) c")

    def waiting_pictures(self) -> int:
        """The number of pictures and scanned pages that wait to be read."""
        with self._database.read() as con:
            return waiting_pictures(con)

    def journal(self) -> JournalState:
        """The number of the last change; the server keeps the journal itself."""
        with self._database.read() as con:
            [(number,)] = con.execute("SELECT generation FROM library_state").fetchall()
        return JournalState(int(number), None)

    def repair(self) -> IndexRepair:
        """Remove what belongs to nothing, queue documents with other passages than counted."""

        def work(con: ServerConnection) -> IndexRepair:
            removed = con.execute(
                "DELETE FROM documents WHERE source_id NOT IN (SELECT source_id FROM sources)"
                " OR parent_id <> '' AND parent_id NOT IN (SELECT document_id FROM documents)"
            ).rowcount
            removed += self._content.purge_orphans(con)
            moved = [row[0] for row in con.execute(_ELSEWHERE).fetchall()]
            self._content.follow(con, moved)
            wrong = con.execute(
                f"SELECT coalesce(nullif(parent_id, ''), document_id) FROM {_RULES[3].broken}"
            ).fetchall()
            ids = sorted({document_id for (document_id,) in wrong})
            self._content.delete(con, ids)
            # Those that are in no range of the document, or in another collection.
            con.execute("DELETE FROM chunks WHERE document_id = ANY (?::text[])", [ids])
            con.execute(
                "UPDATE documents SET state = 'waiting', chunk_count = 0"
                " WHERE document_id = ANY (?::text[])",
                [ids],
            )
            return IndexRepair(removed, len(ids))

        return self._database.write(work)


def _count(con: ServerConnection, rows: str) -> int:
    [(count,)] = con.execute(f"SELECT count(*) FROM {rows}").fetchall()
    return int(count)
