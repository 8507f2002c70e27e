"""The journal of remotes in the library: what was fetched, and how far the listings came.

It can be made again by fetching, so backups leave it out. A row is written after its document, so
that a killed round fetches nothing twice but the item under way.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from desktop_rag.features.remote_sources.remote import Item
from desktop_rag.store.contract.database import Connection, Database, fetched


@dataclass(frozen=True, slots=True)
class Kept:
    """An item that was fetched or left out, its part, and its document."""

    item: Item
    part: str
    document_id: str


class Journal:
    """The rows of all remotes. Any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def items(self, source_id: str) -> list[Kept]:
        """All that is kept of a source."""
        rows = fetched(
            self._database,
            "SELECT item_id, path, version, size, page, readers, part, document_id"
            " FROM remote_items WHERE source_id = ?",
            [source_id],
        )
        return [
            Kept(Item(*said, page=page, readers=tuple(json.loads(readers))), part, document_id)
            for *said, page, readers, part, document_id in rows
        ]

    def tokens(self, source_id: str) -> dict[str, str]:
        """The tokens of the parts, as of the last whole round."""
        sql = "SELECT part, token FROM remote_parts WHERE source_id = ?"
        return dict(fetched(self._database, sql, [source_id]))

    def pages(self, document_ids: Sequence[str]) -> dict[str, str]:
        """The addresses of the server's pages for documents that have one."""
        rows = fetched(
            self._database,
            "SELECT document_id, page FROM remote_items WHERE page <> ''"
            " AND document_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(document_ids)],
        )
        return dict(rows)

    def put(self, source_id: str, kept: Iterable[Kept], gone: Iterable[str] = ()) -> None:
        """Store items in place of what is known of their documents, and drop those of `gone`."""
        rows = [
            [source_id, k.item.item_id, k.item.path, k.part, k.item.version, k.item.size,
             k.document_id, k.item.page, json.dumps(k.item.readers)]
            for k in kept
        ]  # fmt: skip
        ids = [*gone, *(row[6] for row in rows)]

        def work(con: Connection) -> None:
            con.execute(
                "DELETE FROM remote_items WHERE source_id = ?"
                " AND document_id IN (SELECT unnest(?::VARCHAR[]))",
                [source_id, ids],
            )
            for row in rows:
                con.execute("INSERT INTO remote_items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

        if ids:
            self._database.write_uncached(work)

    def put_tokens(self, source_id: str, tokens: Mapping[str, str]) -> None:
        """Store the tokens of a round that is done, in place of all earlier ones."""

        def work(con: Connection) -> None:
            con.execute("DELETE FROM remote_parts WHERE source_id = ?", [source_id])
            for part, token in tokens.items():
                con.execute("INSERT INTO remote_parts VALUES (?, ?, ?)", [source_id, part, token])

        if self.tokens(source_id) != tokens:
            self._database.write_uncached(work)

    def purge(self) -> None:
        """Remove the rows of sources that no longer exist, and of documents that are gone."""
        others = "source_id NOT IN (SELECT source_id FROM sources)"

        def work(con: Connection) -> None:
            con.execute(f"DELETE FROM remote_parts WHERE {others}")
            con.execute(
                f"DELETE FROM remote_items WHERE {others}"
                " OR document_id NOT IN (SELECT document_id FROM documents)"
            )

        self._database.write_uncached(work)
