"""The type and options of a connection to DuckDB. Any thread."""

import duckdb

Connection = duckdb.DuckDBPyConnection

# No extension is downloaded.
OPTIONS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
