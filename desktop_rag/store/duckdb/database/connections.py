"""The type and options of a connection to DuckDB. Any thread."""

import duckdb

Connection = duckdb.DuckDBPyConnection
# Exceptions for a value that a column can't hold.
REFUSALS = (duckdb.ConversionException, duckdb.InvalidInputException)

# No extension is downloaded.
OPTIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
