"""A library of the last commit before version 1 is opened as one of version 1."""

from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.values.run import QuestionSet
from desktop_rag.features.shared_library.postgres.database import server_schema
from desktop_rag.features.shared_library.postgres.database.server_connection import Own
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.store.contract.engine import Engine
from tests.engines import postgres_in
from tests.servers.postgres_server import address
from tests.stored_rows import found, put

SET = QuestionSet("s1", "Lamps", (), 0, 6.0)
# What that library had in place of the version. Its column of JSON is text now.
_BEFORE = """
ALTER TABLE library_state DROP COLUMN version;
ALTER TABLE experiments ALTER COLUMN made_of TYPE json USING made_of::json;
CREATE TABLE migrations (version integer, applied_at double precision);
GRANT SELECT ON migrations TO desktop_rag_reader;
INSERT INTO migrations SELECT number, 0 FROM generate_series(1, {steps}) AS number;
"""


def library_before(folder: Path, steps: int) -> str:
    """A library with a text and a set of questions, made as of then; the name of its schema."""
    with closing(postgres_in(folder)) as engine:
        put(engine, "a.txt", "lamp")
        engine.store(ExperimentStore).put(SET)
        schema = schema_of(engine)
    with psycopg.connect(address()) as connection:
        connection.execute(f"SET search_path TO {schema}".encode())
        connection.execute(_BEFORE.format(steps=steps).encode())
    return schema


def schema_of(engine: Engine) -> str:
    assert isinstance(engine.storage, ServerDatabase)
    return engine.storage.schema


def test_it_has_all_that_it_had(tmp_path: Path) -> None:
    schema = library_before(tmp_path, 5)
    opener = PostgresOpener(address(), schema)
    with closing(opener.open_to_read(Home(tmp_path), 256)) as engine:
        assert found(engine, "lamp") == ["lamp"]
    for _ in range(2):
        with closing(postgres_in(tmp_path)) as engine:
            assert found(engine, "lamp") == ["lamp"]
            experiments = engine.store(ExperimentStore)
            assert experiments.sets() == [SET]
            experiments.remove("none")
            experiments.put(SET)
            with engine.storage.read() as con:
                assert con.execute("SELECT version FROM library_state").fetchall() == [(1,)]
                assert con.execute("SELECT to_regclass('migrations')").fetchall() == [(None,)]


def test_an_earlier_one_is_refused(tmp_path: Path) -> None:
    library_before(tmp_path, 4)
    with pytest.raises(AppError, match="before the first release"):
        postgres_in(tmp_path)


def test_steps_to_later_versions_are_taken_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_in(tmp_path).close()

    def add_column(connection: Own) -> None:
        connection.execute("ALTER TABLE sources ADD COLUMN later integer DEFAULT 7")

    monkeypatch.setattr(server_schema, "STEPS", [add_column])
    monkeypatch.setattr(server_schema, "LATEST", 2)
    for _ in range(2):
        with closing(postgres_in(tmp_path)) as engine, engine.storage.read() as con:
            assert con.execute("SELECT version FROM library_state").fetchall() == [(2,)]
