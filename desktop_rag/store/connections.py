"""What a connection to DuckDB is opened with. Any thread."""

import duckdb

Connection = duckdb.DuckDBPyConnection

# Nothing is fetched from anywhere. In a new file blocks are a quarter as large as DuckDB makes
# them: a search takes hundreds of rows from all over the file and reads the block around each.
OPTIONS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "default_block_size": "65536",
}
