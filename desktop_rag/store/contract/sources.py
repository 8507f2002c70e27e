"""Collections and their sources. Any thread."""

import json
import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from desktop_rag.core.domain import Collection, Source, SourceRules, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.store.contract.database import Connection, Database, Entity, fetched
from desktop_rag.store.contract.documents import DocumentContent

_SOURCE = (
    "source_id, collection_id, path, added_at, rules, links, refreshed_at, base_address, program"
)


class SourceStore:
    """Collections and their sources. Ids are created here and never used again."""

    def __init__(self, database: Database, content: DocumentContent) -> None:
        self.database = database
        self.stored_content = content

    # --- collections -----------------------------------------------------------------------

    def collections(self) -> list[Collection]:
        """All collections, the oldest first."""
        return list(self.database.cached(_collections))

    def add_collection(self, name: str) -> Collection:
        """A new collection; AppError when the name, stripped, is empty or taken in any case."""
        collection = Collection(uuid.uuid4().hex, name.strip())

        def work(con: Connection) -> None:
            _refuse_name(con, collection.name)
            _insert_collection(con, collection)

        self.database.write(work, changes=[_collection_entity(collection.collection_id)])
        return collection

    def default_collection(self, name: str) -> Collection:
        """The oldest collection; created with this name when there is none, and never twice."""
        changes: list[Entity] = []

        def work(con: Connection) -> Collection:
            known = _collections(con)
            if known:
                return known[0]
            made = Collection(uuid.uuid4().hex, name)
            _insert_collection(con, made)
            changes.append(_collection_entity(made.collection_id))
            return made

        return self.database.write(work, changes=changes)

    def rename_collection(self, collection_id: str, name: str) -> Collection:
        """Rename it; AppError when the name is empty or taken, or the collection gone."""
        name = name.strip()

        def work(con: Connection) -> Collection:
            _refuse_name(con, name, but=collection_id)
            con.execute(
                "UPDATE collections SET name = ? WHERE collection_id = ?", [name, collection_id]
            )
            return _collection(con, collection_id)

        return self.database.write(work, changes=[_collection_entity(collection_id)])

    def set_chunking(self, collection_id: str, chunking: ChunkSettings) -> Collection:
        """Set how its documents are chunked; AppError when the collection is gone."""
        return self._set_collection(collection_id, "chunking", json.dumps(asdict(chunking)))

    def set_embedder(self, collection_id: str, embedder: str) -> Collection:
        """Set the model that embeds its documents; AppError when the collection is gone."""
        return self._set_collection(collection_id, "embedder", embedder)

    def set_intranet_hosts(self, collection_id: str, hosts: Sequence[str]) -> Collection:
        """Set the hosts of the local network that its links may name; AppError when it is gone."""
        return self._set_collection(collection_id, "intranet_hosts", "\n".join(hosts))

    def _set_collection(self, collection_id: str, column: str, value: str) -> Collection:
        def work(con: Connection) -> Collection:
            con.execute(
                f"UPDATE collections SET {column} = ? WHERE collection_id = ?",
                [value, collection_id],
            )
            return _collection(con, collection_id)

        return self.database.write(work, changes=[_collection_entity(collection_id)])

    def remove_collection(self, collection_id: str) -> None:
        """Remove an empty collection; one that has sources stays."""
        self.database.write(
            lambda con: con.execute(
                "DELETE FROM collections WHERE collection_id = $id AND NOT EXISTS"
                " (SELECT 1 FROM sources WHERE collection_id = $id AND NOT is_attached)",
                {"id": collection_id},
            ),
            changes=[_collection_entity(collection_id)],
        )

    # --- sources -----------------------------------------------------------------------------

    def sources(self) -> list[Source]:
        """All sources but attached files, the oldest first. Their `state` is not stored."""
        sql = f"SELECT {_SOURCE} FROM sources WHERE NOT is_attached ORDER BY added_at"
        return [_source_from(row) for row in fetched(self.database, sql)]

    def add_source(
        self, path: Path, collection_id: str, rules: SourceRules | None = None
    ) -> Source:
        """Add a folder or file as a source of a collection."""
        source = Source(
            uuid.uuid4().hex, collection_id, path, time.time(), rules=rules or SourceRules()
        )
        return self._insert(source)

    def add_links(self, links: WebLinks, pages: Path, collection_id: str) -> Source:
        """Add web links as a source; fetched pages are stored in the folder `pages` / its id."""
        source_id = uuid.uuid4().hex
        return self._insert(
            Source(source_id, collection_id, pages / source_id, time.time(), links=links)
        )

    def add_program(self, program: str, folder: Path, collection_id: str) -> Source:
        """Add the documents that a program sends; they are stored in `folder` / the source's id."""
        source_id = uuid.uuid4().hex
        return self._insert(
            Source(source_id, collection_id, folder / source_id, time.time(), program=program)
        )

    def add_attached(self, path: Path, collection_id: str) -> Source:
        """Add a file that is attached to a chat; of the other methods only `remove_source` sees it.

        `DocumentStore` lists its documents by source or id only, and a search finds them only in a
        scope of its source. The model of the collection embeds them.
        """
        source = Source(uuid.uuid4().hex, collection_id, path, time.time())
        return self._insert(source, is_attached=True)

    def attached_ids(self) -> frozenset[str]:
        """The ids of the sources that are attached files."""
        rows = fetched(self.database, "SELECT source_id FROM sources WHERE is_attached")
        return frozenset(row[0] for row in rows)

    def set_path(self, source_id: str, path: Path) -> None:
        """Point the source at another folder or file; its documents stay as they are."""
        self._set(source_id, "path", str(path))

    def set_collection(self, source_id: str, collection_id: str) -> None:
        """Move the source, with its documents, to another collection."""

        def work(con: Connection) -> None:
            con.execute(
                "UPDATE sources SET collection_id = ? WHERE source_id = ?",
                [collection_id, source_id],
            )
            self.stored_content.follow(con, _documents_of(con, source_id))

        self.database.write(work, changes=[Entity("source", source_id)])

    def set_rules(self, source_id: str, rules: SourceRules) -> None:
        """Set what is excluded from the source from now on."""
        self._set(source_id, "rules", json.dumps(asdict(rules)))

    def set_links(self, source_id: str, links: WebLinks) -> None:
        """Set the web links of a source and their limits."""
        self._set(source_id, "links", json.dumps(asdict(links)))

    def set_base_address(self, source_id: str, address: str) -> None:
        """Set the address of the site that a folder mirrors; "" for none."""
        self._set(source_id, "base_address", address)

    def set_refreshed(self, source_id: str, at: float) -> None:
        """Set when the pages of a source were last fetched, in seconds since the epoch."""
        self._set(source_id, "refreshed_at", at)

    def set_put_away(self, source_id: str, *, is_put_away: bool) -> None:
        """Keep the source out of the library as if it were removed, or bring it back as it was.

        Its documents are found no more than those of attached files. One that is put away when the
        library opens is removed with the attached files that no chat has.
        """
        self._set(source_id, "is_attached", is_put_away)

    def remove_source(self, source_id: str) -> None:
        """Remove the source with all its documents, texts, chunks and postings, all at once.

        The files themselves are not touched; vectors stay until `ChunkStore.prune_vectors`.
        """
        self.database.write(
            lambda con: delete_source(con, source_id, self.stored_content),
            changes=[Entity("source", source_id)],
        )

    def _insert(self, source: Source, *, is_attached: bool = False) -> Source:
        row: list[Any] = [
            source.source_id, source.collection_id, str(source.path), source.added_at,
            json.dumps(asdict(source.rules)),
            json.dumps(asdict(source.links)) if source.links else "", source.refreshed_at,
            source.base_address, source.program, is_attached,
        ]  # fmt: skip
        holes = ", ".join("?" * len(row))
        sql = f"INSERT INTO sources ({_SOURCE}, is_attached) VALUES ({holes})"
        self.database.write(
            lambda con: con.execute(sql, row), changes=[Entity("source", source.source_id)]
        )
        return source

    def _set(self, source_id: str, column: str, value: str | float) -> None:
        self.database.write(
            lambda con: con.execute(
                f"UPDATE sources SET {column} = ? WHERE source_id = ?", [value, source_id]
            ),
            changes=[Entity("source", source_id)],
        )


def delete_source(con: Connection, source_id: str, content: DocumentContent) -> None:
    """Remove a source with its documents, inside a transaction."""
    content.delete(con, _documents_of(con, source_id))
    con.execute("DELETE FROM documents WHERE source_id = ?", [source_id])
    con.execute("DELETE FROM sources WHERE source_id = ?", [source_id])


def _documents_of(con: Connection, source_id: str) -> list[str]:
    rows = con.execute(
        "SELECT document_id FROM documents WHERE source_id = ?", [source_id]
    ).fetchall()
    return [row[0] for row in rows]


def _collection_entity(collection_id: str) -> Entity:
    return Entity("collection", collection_id)


def _collections(con: Connection) -> list[Collection]:
    rows = con.execute(
        "SELECT collection_id, name, chunking, embedder, intranet_hosts FROM collections"
        " ORDER BY created_at"
    ).fetchall()
    return [
        Collection(
            i, name, ChunkSettings(**json.loads(chunking)), embedder, tuple(hosts.splitlines())
        )
        for i, name, chunking, embedder, hosts in rows
    ]


def _collection(con: Connection, collection_id: str) -> Collection:
    found = next((c for c in _collections(con) if c.collection_id == collection_id), None)
    if found is None:
        raise AppError("The collection no longer exists.", "It was removed in the meantime.")
    return found


def _insert_collection(con: Connection, collection: Collection) -> None:
    con.execute(
        "INSERT INTO collections (collection_id, name, created_at) VALUES (?, ?, ?)",
        [collection.collection_id, collection.name, time.time()],
    )


def _refuse_name(con: Connection, name: str, but: str = "") -> None:
    taken = con.execute(
        "SELECT 1 FROM collections WHERE lower(name) = lower(?) AND collection_id <> ?", [name, but]
    ).fetchall()
    if taken or not name:
        raise AppError(f"A collection can't be called “{name}”.",
                       "Choose a name that is not empty and not in use.")  # fmt: skip


def _source_from(row: Sequence[Any]) -> Source:
    source_id, collection_id, path, added_at, rules, links, refreshed_at, base, program = row
    source = Source(
        source_id, collection_id, Path(path), added_at, refreshed_at=refreshed_at,
        base_address=base, program=program,
    )  # fmt: skip
    read_rules = json.loads(rules)
    if read_rules:
        for name in ("excluded", "excluded_files"):
            read_rules[name] = tuple(read_rules.get(name, ()))
        source = replace(source, rules=SourceRules(**read_rules))
    if links:
        read_links: dict[str, Any] = json.loads(links)
        urls, chosen = tuple(read_links.pop("urls")), tuple(read_links.pop("chosen", ()))
        source = replace(source, links=WebLinks(urls, **read_links, chosen=chosen))
    return source
