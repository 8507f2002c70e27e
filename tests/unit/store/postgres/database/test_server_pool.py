"""The pool of connections to a server that has no more of them, or ends one."""

import threading
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from desktop_rag.features.shared_library.postgres.database.server_connection import ServerPool
from tests.servers.postgres_server import address
from tests.waiting import until


@pytest.fixture
def limited() -> Iterator[str]:
    """The address of a role that may have one connection."""
    role = f"role_{uuid4().hex[:12]}"
    with psycopg.connect(address(), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 1".encode())
        yield make_conninfo(address(), user=role)
        admin.execute(f"DROP ROLE {role}".encode())


@pytest.fixture
def pool(limited: str) -> Iterator[ServerPool]:
    made = ServerPool(limited, 5, lambda _connection: None)
    yield made
    made.close()


def number(pool: ServerPool) -> int:
    with pool.connection() as own:
        [(found,)] = own.execute("SELECT pg_backend_pid()").fetchall()
    return found


def test_a_server_without_more_connections_is_not_away(
    pool: ServerPool, caplog: pytest.LogCaptureFixture
) -> None:
    numbers = list[int]()
    with pool.connection() as own:
        [(first,)] = own.execute("SELECT pg_backend_pid()").fetchall()
        waiting = threading.Thread(target=lambda: numbers.append(number(pool)))
        waiting.start()
        until(lambda: "too many connections" in caplog.text)
    waiting.join(30)
    caplog.clear()  # the pool reports what it could not connect
    assert numbers == [first]


def test_an_ended_connection_is_replaced(
    pool: ServerPool, caplog: pytest.LogCaptureFixture
) -> None:
    first = number(pool)
    with psycopg.connect(address(), autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(%s)", [first])
    with pytest.raises(psycopg.OperationalError):
        number(pool)

    def is_replaced() -> bool:
        try:
            return number(pool) != first
        except psycopg.OperationalError:
            return False

    until(is_replaced)
    caplog.clear()
