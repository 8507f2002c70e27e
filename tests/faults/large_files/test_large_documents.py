"""R-01, R-16: a large document is wholly old or new after kill −9; the memory for it is bounded."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.documents.staged_content import SLICE
from desktop_rag.store.duckdb.duckdb_engine import database_of
from desktop_rag.store.opening import open_engine
from tests.stored_rows import count_inconsistent, count_orphans, put, ranked, wait_again

pytestmark = pytest.mark.slow


MEASURED_CHUNKS = 20_000
MOST_MB = 190
CHUNKS = 3 * SLICE + 7
# Counts of terms kill their process where a slice of chunks is written.
_KILLED_WHILE_STORING = """
import os, signal, sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.opening import open_engine
from tests.stored_rows import indexed

class Deadly(Sequence):
    def __init__(self, counts, at):
        self._counts, self._at = counts, at
    def __len__(self):
        return len(self._counts)
    def __getitem__(self, index):
        if index == self._at:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._counts[index]

home, chunks, at = Home(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
engine = open_engine(home, Settings())
[row] = engine.documents.get(["log.txt"])
outcome = indexed(row, *(f"harbour number{n}" for n in range(chunks)))
engine.documents.settle([replace(outcome, term_counts=Deadly(outcome.term_counts, at))])
os.kill(os.getpid(), signal.SIGKILL)
"""
# The growth of the peak while a document of many chunks is stored.
_MEASURED = """
import sys
from dataclasses import replace
from pathlib import Path
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.chunking.document_chunker import TermCounts
from desktop_rag.store.opening import open_engine
from tests.stored_rows import add, document, indexed, put

def peak_mb():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

engine = open_engine(Home(Path(sys.argv[1])), Settings())
put(engine, "small.txt", "harbour")
row = document("log.txt")
add(engine, row)
count = int(sys.argv[2])
outcome = indexed(row, *(
    f"harbour number{n} " + " ".join(f"word{(n * 31 + k * 7) % 5003}" for k in range(70))
    for n in range(count)
))
outcome = replace(outcome, term_counts=TermCounts(outcome.chunks, "en"))
Path("/proc/self/clear_refs").write_text("5")
before_mb = peak_mb()
engine.documents.settle([outcome])
print(len(outcome.text) / 1e6, peak_mb() - before_mb)
assert len(engine.lexical.best([("harbour",)], count + 9)) == count + 1
engine.close()
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def found(engine: Engine, word: str) -> int:
    return len(ranked(engine, [(word,)]))


@pytest.mark.parametrize("at", [0, SLICE, 3 * SLICE, CHUNKS, CHUNKS + 1])
def test_r01_a_document_stored_in_slices_is_wholly_old_or_new_after_a_kill(
    home: Home, at: int
) -> None:
    home.create()
    with closing(open_engine(home, Settings())) as engine:
        wait_again(engine, put(engine, "log.txt", "lamp", "lamp oil").document_id)
    killed = run(_KILLED_WHILE_STORING, str(home.root), str(CHUNKS), str(at))
    assert killed.returncode == -9, killed.stderr
    with closing(open_engine(home, Settings())) as engine:
        is_new = at > CHUNKS
        assert (found(engine, "lamp"), found(engine, "harbour")) == (
            (0, CHUNKS) if is_new else (2, 0)
        )
        assert len(engine.documents.chunks("log.txt")) == (CHUNKS if is_new else 2)
        assert count_inconsistent(engine.documents) == count_orphans(engine.documents) == 0
        with database_of(engine).read() as con:
            assert not con.execute("FROM unfinished_content").fetchall()
            [(postings,)] = con.execute("SELECT count(*) FROM recent_postings").fetchall()
        assert postings == (2 * CHUNKS if is_new else 3)
        [row] = engine.documents.get(["log.txt"])
        assert row.state is (DocumentState.SEARCHABLE_BY_WORDS if is_new else DocumentState.WAITING)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_r16_storing_a_large_document_takes_memory_for_its_text_and_a_slice(home: Home) -> None:
    home.create()
    measured = run(_MEASURED, str(home.root), str(MEASURED_CHUNKS))
    assert measured.returncode == 0, measured.stderr
    text_mb, growth_mb = map(float, measured.stdout.split())
    assert text_mb > 10
    assert growth_mb < MOST_MB
