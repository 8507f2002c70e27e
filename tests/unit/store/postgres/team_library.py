"""A library on the tests' PostgreSQL server, with a role that needs a password. Once per test."""

from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from desktop_rag.core.store_settings import Encryption, SharedLibrarySettings
from tests.engines import postgres_in

PASSWORD = "a-password-of-a-test"


@dataclass(frozen=True, slots=True)
class SharedLibrary:
    """How to reach it, and the administrator's address."""

    settings: SharedLibrarySettings
    admin: str


def shared_library(folder: Path) -> SharedLibrary:
    """A library with the collection “Team”, and a role that may read it."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    from tests.servers.postgres_server import address

    engine = postgres_in(folder)
    engine.sources.add_collection("Team")
    engine.close()
    role = f"reader_{uuid4().hex[:12]}"
    with psycopg.connect(address(), autocommit=True) as connection:
        [(library,)] = connection.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'library_%' ORDER BY oid DESC"
            " LIMIT 1"
        ).fetchall()
        for statement in (
            f"CREATE ROLE {role} LOGIN BYPASSRLS PASSWORD '{PASSWORD}'",
            f"GRANT USAGE ON SCHEMA {library} TO {role}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {library} TO {role}",
        ):
            connection.execute(statement.encode())
        [(rules,)] = connection.execute("SHOW hba_file").fetchall()
        asks = f"local all {role} scram-sha-256\n"
        Path(rules).write_text(asks + Path(rules).read_text(), encoding="utf-8")
        connection.execute("SELECT pg_reload_conf()")
    host = str(conninfo_to_dict(address())["host"])
    settings = SharedLibrarySettings(host, 5432, "postgres", role, str(library), Encryption.NONE)
    _wait_for_rules(settings)
    return SharedLibrary(settings, address())


def _wait_for_rules(settings: SharedLibrarySettings) -> None:
    """Until the server, which reads its rules in its own time, asks this role for a password."""
    import psycopg

    while True:
        try:
            psycopg.connect(
                host=settings.host, dbname=settings.database, user=settings.role, password="wrong"
            ).close()
        except psycopg.OperationalError:
            return
