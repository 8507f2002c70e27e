"""PostgreSQL's failures as AppErrors: a server that is away or full, missing rights. Any thread."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from desktop_rag.core.errors import AppError, DiskFullError

# Another process may bring the schema up to date while this one has the library open.
_ANOTHER_SCHEMA = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
)


def closed_error() -> AppError:
    """The error of every call after closing."""
    return AppError("The library is closed.", "Start the app again.")


@contextmanager
def mapping_server_errors() -> Generator[None]:
    """Turn failures of the server and of the way to it into AppError; others stay bugs."""
    try:
        yield
    except PoolClosed as exc:
        raise closed_error() from exc
    except (PoolTimeout, psycopg.OperationalError, psycopg.InterfaceError) as exc:
        raise _app_error(exc) from exc
    except _ANOTHER_SCHEMA as exc:
        raise AppError(
            "The library on the server was changed by another version of the app.",
            f"{_first_line(exc)} Update this app, or start it again.",
        ) from exc
    except psycopg.errors.InsufficientPrivilege as exc:
        raise AppError(
            "The database does not allow that.",
            f"{_first_line(exc)} Ask whoever runs the server for the rights of the library's role.",
        ) from exc


def _app_error(exc: Exception) -> AppError:
    if isinstance(exc, psycopg.errors.DiskFull):
        return DiskFullError("The disk of the database server is full.")
    if isinstance(exc, psycopg.errors.ReadOnlySqlTransaction):
        return AppError("The library is open for reading only.", "Start the app to change it.")
    return AppError(
        "The database server does not answer.",
        f"{_first_line(exc)} Check that it runs and that its address is right; then try again.",
    )


def _first_line(exc: Exception) -> str:
    lines = str(exc).splitlines()
    return lines[0] if lines else type(exc).__name__
