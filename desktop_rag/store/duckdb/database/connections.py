"""What a connection to DuckDB is opened with. Any thread."""

import duckdb

Connection = duckdb.DuckDBPyConnection

# Nothing is fetched from anywhere.
OPTIONS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
