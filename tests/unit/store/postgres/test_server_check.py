"""The test of a shared library says in plain words what is wrong, on a real server."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.store_settings import Encryption, SharedLibrarySettings
from desktop_rag.features.shared_library.services import check_shared_library
from tests.engines import UNTESTED
from tests.unit.store.postgres.team_library import PASSWORD, SharedLibrary, shared_library

pytestmark = pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", ""))


@pytest.fixture
def shared(tmp_path: Path) -> SharedLibrary:
    return shared_library(tmp_path)


def fault(settings: SharedLibrarySettings, password: str = PASSWORD) -> str:
    with pytest.raises(AppError) as raised:
        check_shared_library(settings, password)
    assert raised.value.hint, "every fault has a way out"
    assert PASSWORD not in f"{raised.value.title}{raised.value.hint}"
    return raised.value.title


def test_a_library_that_can_be_read_is_described(shared: SharedLibrary) -> None:
    report = check_shared_library(shared.settings, PASSWORD)
    assert report.collections == ("Team",)
    assert int(report.server_version.split(".")[0]) >= 17
    assert report.size_bytes > 0
    assert not report.passages
    assert report.slow is None, "the server of the tests has no pg_stat_statements"


def test_a_wrong_password_and_none(shared: SharedLibrary) -> None:
    assert fault(shared.settings, "wrong") == "The role or the password is wrong."
    assert fault(shared.settings, "") == "The server asks for a password."


@pytest.mark.slow
def test_what_is_not_there(shared: SharedLibrary) -> None:
    settings = shared.settings
    no_database = fault(replace(settings, role="postgres", database="none_such"))
    assert no_database == "There is no database of that name on the server."
    no_role = fault(replace(settings, role="none_such"))
    assert no_role == "There is no such role on the server."
    no_library = fault(replace(settings, library="none_such"))
    assert no_library == "There is no library of that name in the database."
    unreachable = fault(replace(settings, host="127.0.0.1", port=1))
    assert unreachable == "The server can't be reached."


def test_a_role_without_rights(shared: SharedLibrary) -> None:
    import psycopg

    settings = shared.settings
    with psycopg.connect(shared.admin, autocommit=True) as admin:
        admin.execute(f"REVOKE SELECT ON {settings.library}.chunks FROM {settings.role}".encode())
    assert fault(settings) == "The role has no right to read the library."


def test_a_role_that_row_level_security_shows_nothing(shared: SharedLibrary) -> None:
    import psycopg

    with psycopg.connect(shared.admin, autocommit=True) as admin:
        admin.execute(f"ALTER ROLE {shared.settings.role} NOBYPASSRLS".encode())
    assert fault(shared.settings) == "The role sees nothing of the library."


def test_a_role_that_was_let_read_a_part(shared: SharedLibrary) -> None:
    import psycopg

    settings = replace(shared.settings, role=f"{shared.settings.role}_part")
    with psycopg.connect(shared.admin, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {settings.role} LOGIN".encode())
        with pytest.raises(AppError) as raised:
            check_shared_library(settings, "")
        assert f"\"{settings.library}\".let_read('{settings.role}'" in raised.value.hint
        admin.execute(f"SELECT {settings.library}.let_read('{settings.role}', 'Team')".encode())
        assert check_shared_library(settings, "").collections == ("Team",)
        admin.execute(f"SELECT {settings.library}.let_read('{settings.role}')".encode())
    assert fault(settings, "") == "The role sees nothing of the library."


def test_a_database_without_pgvector(shared: SharedLibrary) -> None:
    in_template = replace(shared.settings, database="template1", role="postgres")
    assert fault(in_template) == "The database has no pgvector."


@contextmanager
def server_that_answers(reply: bytes) -> Iterator[int]:
    """A server that gives this reply to the request for encryption, then hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with listening.accept()[0] as connection:
                connection.recv(8)
                connection.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


def test_a_server_without_encryption(shared: SharedLibrary) -> None:
    with server_that_answers(b"N") as port:
        settings = replace(
            shared.settings, host="127.0.0.1", port=port, encryption=Encryption.UNVERIFIED
        )
        assert fault(settings) == "The server offers no encryption."


def test_a_certificate_file_that_is_gone(shared: SharedLibrary, tmp_path: Path) -> None:
    gone = replace(
        shared.settings, encryption=Encryption.VERIFIED, certificate=str(tmp_path / "ca.pem")
    )
    assert fault(gone) == "The file with the certificate is not there."
