"""A library of each earlier version is brought up to date with all that is in it."""

import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from desktop_rag.core.paths import Home
from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database import server_migrations
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.duckdb.tables.table_queries import TableQueries
from desktop_rag.store.sql.documents.document_store import DOCUMENT
from tests.engines import postgres_in
from tests.servers.postgres_server import address
from tests.stored_rows import (
    add,
    add_source,
    collection_id,
    document,
    found,
    indexed,
    put,
    ranked,
    remove,
)
from tests.unit.store.postgres.database.test_limited_roles import grant_by_hand

COUNT = 500


@pytest.mark.usefixtures("engine")
def test_postings_in_rows_become_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    with monkeypatch.context() as before:
        before.setattr(server_migrations, "STEPS", server_migrations.STEPS[:1])
        before.setattr(server_migrations, "LATEST", 1)
        old = postgres_in(folder)
    schema = schema_of(old)
    old.close()
    with psycopg.connect(address()) as connection:
        connection.execute(f"SET search_path TO {schema}".encode())
        connection.execute(
            "INSERT INTO postings SELECT 7, 3 * n, 1 + n %% 9, 70000 FROM generate_series(1, %s) n",
            [COUNT],
        )
        connection.execute("INSERT INTO documents (document_id, source_id) VALUES ('d', '')")
        connection.execute("INSERT INTO document_texts VALUES ('d', '', '', 1, %s)", [3 * COUNT])
    opened = postgres_in(folder)
    assert isinstance(opened.storage, ServerDatabase)
    with opened.storage.read() as con:
        kept = con.execute(
            "SELECT chunk_id, tf, term_count FROM postings WHERE key = 7 ORDER BY 1"
        ).fetchall()
        blocks = con.execute("SELECT postings FROM posting_blocks ORDER BY 1").fetchall()
    assert kept == [(3 * n, 1 + n % 9, 65_535) for n in range(1, COUNT + 1)]
    assert blocks == [(20,), (240,), (240,)]
    put(opened, "a.txt", "lamp")
    assert found(opened, "lamp") == ["lamp"]
    opened.close()


@pytest.mark.usefixtures("engine")
def test_a_library_without_partitions_keeps_all_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(filled(folder_in(tmp_path, "new"))) as new:
        old = folder_in(tmp_path, "old")
        library = library_of_version_4(old, schema_of(new), monkeypatch)
        role = f"anna_{uuid4().hex[:8]}"
        with psycopg.connect(address(), autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {role} LOGIN".encode())
            admin.execute(f"SET search_path TO {library}, public".encode())
            grant_by_hand(admin, role, library, collection_id(new, "A"))
        with closing(opened_by_two(old)) as migrated:
            assert told(migrated) == told(new)
            assert rows_by_collection(migrated) == rows_by_collection(new)
            [(dead,)] = rows(migrated, "SELECT count(*) FROM dead_chunks")
            assert dead == 0
            own = make_conninfo(address(), user=role)
            opener = PostgresOpener(own, library, TableQueries())
            limited = opener.open_shared(Home(tmp_path), 256, 5)
            assert sorted(found(limited.library, "lamp")) == ["lamp of A", "lamp of both"]
            assert limited.library.lexical.nearest_term("kell", 1) == ""
            limited.break_off()
            remove(migrated, "A.txt")
            put(migrated, "later.txt", "lamp later", collection="B")
            assert sorted(found(migrated, "lamp")) == [
                "lamp later", "lamp of B", "lamp of both", "lamp of mail",
            ]  # fmt: skip
    with psycopg.connect(address(), autocommit=True) as admin:
        admin.execute(f"DROP OWNED BY {role}".encode())
        admin.execute(f"DROP ROLE {role}".encode())


# What a library of version 4 had of each table, out of one of now; postings of all collections
# shared their blocks, and those of deleted chunks were still in them.
_FORMER = """
INSERT INTO collections OVERRIDING SYSTEM VALUE SELECT * FROM {new}.collections;
INSERT INTO sources OVERRIDING SYSTEM VALUE SELECT * FROM {new}.sources;
INSERT INTO terms SELECT * FROM {new}.terms;
INSERT INTO models SELECT * FROM {new}.models;
INSERT INTO documents ({documents}) SELECT {documents} FROM {new}.documents;
INSERT INTO document_texts SELECT document_id, text, places, first_chunk, last_chunk
    FROM {new}.document_texts;
INSERT INTO chunks ({chunks}) SELECT {chunks} FROM {new}.chunks;
INSERT INTO posting_blocks SELECT key, min(chunk_id), max(chunk_id), count(*),
    array_agg(((chunk_id - first) << 32) | (tf::bigint << 16) | term_count ORDER BY chunk_id)
    FROM (SELECT *, min(chunk_id) OVER (PARTITION BY key) AS first FROM (
        SELECT key, chunk_id, tf, term_count FROM {new}.postings
        UNION SELECT 5, 999, 1, 2 UNION SELECT 6, 999, 1, 2) p) q GROUP BY key;
INSERT INTO dead_chunks VALUES (999, 1000);
SELECT setval('chunk_numbers', 2000);
CREATE TABLE vectors_1 (content_hash uuid PRIMARY KEY, vector halfvec(8) STORAGE PLAIN,
    windows bytea STORAGE EXTERNAL);
INSERT INTO vectors_1 SELECT DISTINCT ON (content_hash) content_hash, vector, windows
    FROM {new}.vectors_1;
ALTER TABLE vectors_1 ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON vectors_1 FOR SELECT TO desktop_rag_reader USING (
    EXISTS (SELECT 1 FROM chunks c WHERE c.content_hash = vectors_1.content_hash));
GRANT SELECT ON vectors_1 TO desktop_rag_reader;
"""
_CHUNKS = (
    "chunk_id, document_id, position, start_offset, end_offset, text, context, anchor,"
    " content_hash, term_count"
)
QUERY = np.array([1.0, *[0.0] * 7], np.float32)


def folder_in(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def filled(folder: Path) -> Engine:
    """A library with contents in several collections, their vectors and windows, and a mail."""
    engine = postgres_in(folder)
    for name in ("A", "B", "C"):
        texts = ("lamp of both", f"lamp of {name}") if name != "C" else ("keel",)
        put(engine, f"{name}.txt", *texts, collection=name)
    row = document("mail.eml", add_source(engine, "mail", "B"))
    add(engine, row)
    inside = replace(document("part"), part="notes.txt", parent_id="mail.eml")
    engine.documents.settle(
        [replace(indexed(row, "lamp of mail"), parts=(indexed(inside, "reef"),))]
    )
    store = engine.models.vectors("model", 8)
    made = np.eye(8, dtype=np.float32)
    missing = sorted(engine.chunks.without_vectors(store.model_id, 99), key=lambda row: row[2])
    store.add([row[0] for row in missing], made[: len(missing)])
    store.add_windows([row[0] for row in missing[:2]], [made[:2]] * 2)
    return engine


def library_of_version_4(folder: Path, new: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same content as in another library, as version 4 kept it; the name of its schema."""
    with monkeypatch.context() as before:
        before.setattr(server_migrations, "STEPS", server_migrations.STEPS[:4])
        before.setattr(server_migrations, "LATEST", 4)
        old = postgres_in(folder)
    schema = schema_of(old)
    old.close()
    with psycopg.connect(address()) as connection:
        connection.execute(f"SET search_path TO {schema}, public".encode())
        filling = _FORMER.format(new=new, documents=DOCUMENT, chunks=_CHUNKS)
        connection.execute(filling.encode())
    return schema


def opened_by_two(folder: Path) -> Engine:
    """Opened by two at once: one of them brings it up to date, the other waits."""
    both: list[Engine] = []
    threads = [threading.Thread(target=lambda: both.append(postgres_in(folder))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one, other = both
    other.close()
    return one


def told(engine: Engine) -> list[object]:
    """What searches find, by words and by meaning, in all collections and in each."""
    store = engine.models.vectors("model", 8)
    search = engine.models.search(store.model_id)
    result: list[object] = [ranked(engine, [("lamp",), ("keel",)]), engine.sources.collections()]
    for name in ("A", "B", "C"):
        own = collection_id(engine, name)
        for scope in (Scope((own,)), Scope(readable=Readable((own,)))):
            result.append(ranked(engine, [("lamp",), ("keel",)], scope=scope))
            near = search.nearest(QUERY, 9, scope)
            windows = np.nan_to_num(near.window_similarities, nan=-2.0)
            result.append((near.ranking(), windows.tolist()))
    return [*result, engine.documents.documents(), engine.documents.content("mail.eml")]


def rows_by_collection(engine: Engine) -> list[object]:
    """How many rows each collection has of what is partitioned; postings one by one."""
    return [
        rows(engine, f"SELECT collection_id, count(*) FROM {table} GROUP BY 1 ORDER BY 1")
        for table in ("documents", "document_texts", "chunks", "postings", "vectors_1")
    ]


def rows(engine: Engine, statement: str) -> list[tuple[object, ...]]:
    assert isinstance(engine.storage, ServerDatabase)
    with engine.storage.read() as con:
        return con.execute(statement).fetchall()


def schema_of(engine: Engine) -> str:
    assert isinstance(engine.storage, ServerDatabase)
    return engine.storage.schema
