"""R-02, R-03, R-04, R-09: the store killed at checkpoints and migrations, out of space, with a
long log.
"""

import random
import re
import shutil
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.precious import SCHEMA
from desktop_rag.store.duckdb.database.schema import version_of
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.engines import duckdb_in
from tests.library_before import unpacked
from tests.stored_rows import count_inconsistent, count_orphans

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and resource limits"),
    pytest.mark.timeout(180),
]

_MEGABYTE = 1 << 20
_SMALL_MB = 32
_OPEN = """
import sys
from pathlib import Path
from desktop_rag.core.paths import Home
from desktop_rag.store.duckdb.duckdb_engine import DuckdbOpener
print("loaded", flush=True)
DuckdbOpener().open(Home(Path(sys.argv[1])), memory_mb=int(sys.argv[2]))
print("open", flush=True)
sys.stdin.read()
"""


def started(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def writer(
    folder: Path, *, log_bytes: int = 16_000_000, most_bytes: int = 0, chars: int = 2000
) -> "subprocess.Popen[str]":
    return started("-m", "tests.driving.store_writer", folder, log_bytes, most_bytes, chars)


def first_lines(process: "subprocess.Popen[str]", count: int) -> list[str]:
    assert process.stdout
    return [process.stdout.readline().strip() for _ in range(count)]


def rest_of(process: "subprocess.Popen[str]") -> list[str]:
    """Kill it; what it had said until then."""
    process.kill()
    said, _ = process.communicate()
    return [line for line in said.splitlines(keepends=True) if line.endswith("\n")]


def stored(engine: Engine) -> set[str]:
    chats = engine.conversations.all()
    return {m.text[:32] for c in chats for m in engine.conversations.messages(c.conversation_id)}


def assert_sound(engine: Engine) -> None:
    engine.storage.verify()
    assert (count_orphans(engine.documents), count_inconsistent(engine.documents)) == (0, 0)


def test_r02_a_kill_at_a_checkpoint_loses_nothing(tmp_path: Path) -> None:
    chance, said = random.Random(2), set[str]()
    for _ in range(3):
        with writer(tmp_path, log_bytes=64_000, chars=20_000) as process:
            opened, *lines = first_lines(process, chance.randint(10, 30))
            said |= {*lines, *(line.strip() for line in rest_of(process))}
        assert opened == "open"
        with closing(duckdb_in(tmp_path)) as engine:
            # The journal is ahead by the one message that was under way, at most.
            assert engine.restored <= 1
            found = stored(engine)
            assert said <= found
            assert len(found - said) <= 1
            assert_sound(engine)
            said = found


def test_r03_a_kill_during_a_migration_leaves_one_version_or_the_other(tmp_path: Path) -> None:
    old, chance = unpacked(tmp_path / "old").root, random.Random(3)
    for attempt in range(5):
        home = tmp_path / str(attempt)
        shutil.copytree(old, home)
        with started("-c", _OPEN, home, 256) as process:
            assert first_lines(process, 1) == ["loaded"]
            threading.Event().wait(chance.uniform(0, 0.3))
            rest_of(process)
        with closing(duckdb_in(home)) as engine:
            with database_of(engine).read() as connection:
                assert version_of(connection) == SCHEMA
            assert len(engine.lexical.best([("lighthous",)], 9)) == 1
            assert [source.path for source in engine.sources.sources()] == [Path("/documents")]
            engine.storage.verify()


@pytest.mark.parametrize("megabytes", [0.01, 0.4, 0.8, 2, 4])
def test_r04_a_disk_that_takes_no_more_keeps_what_it_has(tmp_path: Path, megabytes: float) -> None:
    with writer(tmp_path, most_bytes=int(megabytes * _MEGABYTE), chars=200_000) as process:
        out, _ = process.communicate()
    assert process.returncode == 0
    *lines, last = out.splitlines()
    refusal = re.fullmatch(r"refused: (.+) (\d+)", last)
    assert refusal, last
    said = set(lines) - {"open"}
    # What was stored can still be read while the disk is full.
    assert int(refusal[2]) >= len(said)
    with closing(duckdb_in(tmp_path)) as engine:
        assert said <= stored(engine)
        assert_sound(engine)


def test_r09_a_log_longer_than_the_memory_limit_is_replayed(tmp_path: Path) -> None:
    with writer(tmp_path, log_bytes=10**12, chars=1_000_000) as process:
        first_lines(process, 1)
        said = set(first_lines(process, 40))
        rest_of(process)
    assert (tmp_path / "library.duckdb.wal").stat().st_size > _SMALL_MB * _MEGABYTE
    with started("-c", _OPEN, tmp_path, _SMALL_MB) as process:
        assert first_lines(process, 2) == ["loaded", "open"]
        rest_of(process)
    with closing(duckdb_in(tmp_path)) as engine:
        assert engine.restored <= 1
        assert said <= stored(engine)
        assert_sound(engine)
