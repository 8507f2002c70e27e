"""The type and options of a connection to DuckDB. Any thread."""

import logging

import duckdb

log = logging.getLogger(__name__)

Connection = duckdb.DuckDBPyConnection
# Exceptions for a value that a column can't hold.
REFUSALS = (duckdb.ConversionException, duckdb.InvalidInputException)

# No extension is downloaded.
OPTIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def roll_back(connection: Connection) -> None:
    """Roll the transaction back, unless a commit that failed has ended it, or the connection."""
    try:
        connection.rollback()
    except (duckdb.TransactionException, duckdb.FatalException):
        log.info("nothing to roll back")


def is_usable(connection: Connection) -> bool:
    """False once it is closed or after a fatal error: the file must be opened again."""
    try:
        connection.execute("SELECT 1").fetchall()
    except duckdb.Error:
        return False
    return True
