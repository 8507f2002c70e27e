"""A role with limited rights learns nothing of what it may not read, not even that a word occurs.

Whatever such a role is told by the app is what a library of its own collections would tell. A word
that only another collection has can't be told from a word that nobody has, by SQL either.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from desktop_rag.core.paths import Home
from desktop_rag.features.shared_library.postgres.database.server_connection import Own
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.database.server_schema import (
    READER,
    partition_names,
)
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.store.contract.database import key_of
from desktop_rag.store.contract.engine import Engine
from tests.engines import UNTESTED, duckdb_in, postgres_in
from tests.servers.postgres_server import address
from tests.stored_rows import collection_id
from tests.unit.store.contract.test_readable import everything_told, fill

pytestmark = pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", ""))
# Of the other collection only, and of none.
FOREIGN, UNHEARD = "canari", "unheard"
# What an administrator may have written by hand; the last ones show everything.
BY_HAND = {
    "collections": "collection_id = '{id}'",
    "sources": "collection_id = '{id}'",
    "documents": "state <> 'gone' AND source_id IN (SELECT source_id FROM sources)",
    "document_texts": "document_id IN (SELECT document_id FROM documents)",
    "chunks": "document_id IN (SELECT document_id FROM documents)",
    "library_state": "true",
    "models": "true",
    "terms": "true",
    "file_tags": "true",
}


@dataclass(frozen=True, slots=True)
class Limited:
    """The library as a role with limited rights opens it, and the role's own connection."""

    library: Engine
    sql: Own


def grant_by_hand(admin: Own, role: str, library: str, collection: str) -> None:
    admin.execute(f"SET search_path TO {library}, public".encode())
    admin.execute(f"GRANT USAGE ON SCHEMA {library} TO {role}".encode())
    admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {library} TO {role}".encode())
    for table, condition in BY_HAND.items():
        rule = condition.format(id=collection)
        admin.execute(
            f"CREATE POLICY {role} ON {table} FOR SELECT TO {role} USING ({rule})".encode()
        )


def grant_by_function(admin: Own, role: str, library: str, _collection: str) -> None:
    admin.execute(f"SELECT {library}.let_read('{role}', 'Papers')".encode())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A library of what may be read, and nothing else."""
    with closing(duckdb_in(tmp_path_factory.mktemp("alone"))) as engine:
        yield fill(engine, with_secrets=False)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with closing(postgres_in(tmp_path_factory.mktemp("whole"))) as engine:
        yield fill(engine, with_secrets=True)


@pytest.fixture(params=[grant_by_hand, grant_by_function])
def limited(request: pytest.FixtureRequest, whole: Engine, tmp_path: Path) -> Iterator[Limited]:
    library, role = schema_of(whole), f"anna_{uuid4().hex[:8]}"
    with psycopg.connect(address(), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN".encode())
        request.param(admin, role, library, collection_id(whole, "Papers"))
    own = make_conninfo(address(), user=role)
    opened = PostgresOpener(own, library).open_shared(Home(tmp_path), 256, 5)
    assert opened.is_limited
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {library}, public".encode())
        yield Limited(opened.library, connection)
    opened.break_off()
    with psycopg.connect(address(), autocommit=True) as admin:
        admin.execute(f"DROP OWNED BY {role}".encode())
        admin.execute(f"DROP ROLE {role}".encode())


def schema_of(engine: Engine) -> str:
    assert isinstance(engine.storage, ServerDatabase)
    return engine.storage.schema


def test_a_role_is_told_what_a_library_of_its_own_would_tell(
    alone: Engine, limited: Limited
) -> None:
    told, expected = everything_told(limited.library, None), everything_told(alone, None)
    for name, value in expected.items():
        assert told[name] == value, name


def test_a_foreign_word_is_as_unknown_as_one_that_nobody_has(limited: Limited) -> None:
    lexical = limited.library.lexical
    counts = lexical.count([(FOREIGN,), (UNHEARD,), ("lamp",)]).counts
    assert counts[FOREIGN,] == counts[UNHEARD,] == 0
    assert counts["lamp",] == 2
    for word in (FOREIGN, UNHEARD):
        assert lexical.nearest_term(word, 1) == ""
        assert lexical.terms_completing(word, 5) == ()
        assert lexical.best([(word,)], 5) == []


def test_sql_of_the_role_does_not_tell_either(limited: Limited) -> None:
    for word in (FOREIGN, UNHEARD):
        key = key_of(word) - (1 << 64 if key_of(word) >= 1 << 63 else 0)
        for table, condition in (
            ("terms", f"term = '{word}'"),
            ("postings", f"key = {key}"),
            ("chunks", f"contains(text, '{word}')"),
            ("document_texts", f"contains(text, '{word}')"),
        ):
            assert rows(limited.sql, f"{table} WHERE {condition}") == 0, table
        with psycopg.connect(address()):
            assert blocks(limited.sql, key) == 0
    assert rows(limited.sql, "terms WHERE term = 'lamp'") == 1


@pytest.mark.parametrize(
    "table", ["documents", "document_texts", "chunks", "posting_blocks", "dead_chunks", "vectors_1"]
)
def test_no_partition_shows_a_row_past_the_policies(
    whole: Engine, limited: Limited, table: str
) -> None:
    whole.models.vectors("model", 4)
    for partition in partition_names(table):
        with psycopg.connect(address(), autocommit=True) as admin:
            role, library = limited.sql.info.user, schema_of(whole)
            admin.execute(f"GRANT SELECT ON {library}.{partition} TO {role}".encode())
        assert rows(limited.sql, partition) == 0


def rows(connection: Own, table: str) -> int:
    [(count,)] = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchall()
    return count


def blocks(connection: Own, key: int) -> int:
    """The rows of the table behind the postings, which some roles may not even ask for."""
    try:
        return rows(connection, f"posting_blocks WHERE key = {key}")
    except psycopg.errors.InsufficientPrivilege:
        return 0


def test_a_role_can_not_name_other_collections(whole: Engine, limited: Limited) -> None:
    secret = collection_id(whole, "Secrets")
    limited.sql.execute(f"""SET desktop_rag.collections = '["{secret}"]'""".encode())
    limited.sql.execute("""SET desktop_rag.documents = '["lamp_secret.txt"]'""")
    assert rows(limited.sql, "collections") == 1
    assert rows(limited.sql, f"terms WHERE term = '{FOREIGN}'") == 0
    assert rows(limited.sql, "chunks WHERE contains(text, 'canary')") == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        limited.sql.execute(f"SET ROLE {READER}".encode())


@pytest.mark.parametrize("limited", [grant_by_function], indirect=True)
def test_rights_that_are_given_later_hold_at_once(whole: Engine, limited: Limited) -> None:
    role = limited.sql.info.user
    assert limited.library.lexical.count([(FOREIGN,)]).counts[FOREIGN,] == 0
    with psycopg.connect(address(), autocommit=True) as admin:
        statement = f"SELECT {schema_of(whole)}.let_read('{role}', 'Papers', 'Secrets')"
        admin.execute(statement.encode())
    assert limited.library.lexical.count([(FOREIGN,)]).counts[FOREIGN,] == 3
    with psycopg.connect(address(), autocommit=True) as admin:
        with pytest.raises(psycopg.errors.RaiseException, match="no collection “None such”"):
            admin.execute(f"SELECT {schema_of(whole)}.let_read('{role}', 'None such')".encode())
        admin.execute(f"SELECT {schema_of(whole)}.let_read('{role}')".encode())
