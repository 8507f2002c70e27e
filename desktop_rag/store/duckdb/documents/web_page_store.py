"""The cache validators of web pages, so that an unchanged page is not transferred again.

Any thread may call; writes take the lane.
"""

from collections.abc import Sequence

from desktop_rag.store.contract.sources import WebPage
from desktop_rag.store.duckdb.database.database import Connection, Database


class WebPageStore:
    """One row per document that came from the web."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, document_ids: Sequence[str]) -> dict[str, WebPage]:
        """The validators of these documents; absent for documents without any."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT document_id, etag, last_modified, fetched_at FROM web_pages"
                " WHERE document_id IN (SELECT unnest(?))",
                [list(document_ids)],
            ).fetchall()
        return {document_id: WebPage(*known) for document_id, *known in rows}

    def put(self, document_id: str, page: WebPage) -> None:
        """Store the validators of a document in place of earlier ones."""

        def work(con: Connection) -> None:
            con.execute("DELETE FROM web_pages WHERE document_id = ?", [document_id])
            con.execute(
                "INSERT INTO web_pages (document_id, etag, last_modified, fetched_at)"
                " VALUES (?, ?, ?, ?)",
                [document_id, page.etag, page.last_modified, page.fetched_at],
            )

        self._database.write(work)

    def purge(self) -> None:
        """Remove the rows of documents that no longer exist."""
        self._database.write(
            lambda con: con.execute(
                "DELETE FROM web_pages WHERE document_id NOT IN (SELECT document_id FROM documents)"
            )
        )
