"""The cost of checking known files: a restart, a moved subtree, a burst of events.

Through the real library, one machine, one run. The 50,000 small files of the first part are stored
without being read; the time is taken from the request for a scan until its result, beside a bare
walk with `os.scandir` and `stat` over the same tree. Bars: 3 times the walk at most; 0 passages
embedded for 1,000 files in a renamed folder.

python benchmarks/changes/reconcile.py [--files N]
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

from desktop_rag.app import Services, build_services
from desktop_rag.core.domain import Document, DocumentState, FileStat, Source
from desktop_rag.core.library_events import ChangeSummary, SourceScanned
from desktop_rag.core.paths import Home
from desktop_rag.ingest.indexing.indexer import READERS
from desktop_rag.ingest.library import Library
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.watching.watcher import FolderWatcher
from desktop_rag.store.duckdb.duckdb_engine import database_of

_FOLDERS = 500
_MOVED = 1_000
_ROUNDS = 5
_MOST_TIMES_THE_WALK = 3.0
_WAIT_S = 600.0


def main() -> int:
    """Print the figures as one JSON document; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    count = parser.parse_args().files
    with tempfile.TemporaryDirectory(prefix="desktop-rag-reconcile-") as scratch:
        figures = reconcile(Path(scratch) / "many", count)
        figures |= move(Path(scratch) / "moved")
        figures |= burst(Path(scratch) / "burst", count)
    print(json.dumps(figures, indent=1))
    is_fast = figures["restart_to_walk"] <= _MOST_TIMES_THE_WALK
    return int(not (is_fast and figures["embedded_after_the_move"] == 0))


# --- a restart over known files --------------------------------------------------------------


def reconcile(scratch: Path, count: int) -> dict[str, float]:
    """Time scans of an unchanged tree, each right after a bare walk."""
    folder = scratch / "documents"
    write_tree(folder, count)
    services = build_services(Home(scratch / "home"))
    remember(services, services.library.sources.add(folder))
    services.close()
    walk(folder)
    walks_s: list[float] = []
    restarts: list[float] = []
    scans: list[float] = []
    for _ in range(_ROUNDS):
        services = build_services(Home(scratch / "home"))
        library = services.library
        try:
            for ratios, ask in (
                (restarts, partial(library.start, watch=False)),
                (scans, library.sources.rescan),
            ):
                walks_s.append(timed(partial(walk, folder)))
                ratios.append(timed(partial(look, library, ask, count)) / walks_s[-1])
        finally:
            services.close()
    return {
        "files": count,
        "walk_s": round(statistics.median(walks_s), 3),
        "restart_to_walk": round(statistics.median(restarts), 2),
        "scan_to_walk": round(statistics.median(scans), 2),
    }


def write_tree(folder: Path, count: int) -> None:
    """Files of a few words, spread over 500 folders."""
    for number in range(min(_FOLDERS, count)):
        (folder / f"folder {number:03d}").mkdir(parents=True)
    for number in range(count):
        path = folder / f"folder {number % _FOLDERS:03d}" / f"note {number:05d}.md"
        path.write_text(f"Note {number} is about a lamp.")


def remember(services: Services, source: Source) -> None:
    """Rows as if every file had been read."""
    with database_of(services.engine).read() as connection:
        assert not connection.execute("SELECT 1 FROM documents").fetchall()
    rows = [
        row_of(Path(entry.path), source.source_id)
        for folder in os.scandir(source.path)
        for entry in os.scandir(folder)
    ]
    services.engine.documents.apply_changes(source.source_id, rows, {}, [])


def row_of(path: Path, source_id: str) -> Document:
    """A row that says the file is searchable, as it is on disk now."""
    status = path.stat()
    return Document(
        uuid.uuid4().hex, source_id, path, path.stem, "md",
        FileStat(status.st_size, status.st_mtime_ns, status.st_ino), uuid.uuid4().hex,
        DocumentState.SEARCHABLE, readers=READERS,
    )  # fmt: skip


def walk(folder: Path) -> int:
    """The bare walk: list every folder and stat every file."""
    found = 0
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    found += 1
    return found


def look(library: Library, ask: Callable[[], object], count: int) -> None:
    """Request a scan and wait until it reports no changes."""
    told: list[ChangeSummary] = []
    is_told = threading.Event()

    def listen(event: SourceScanned) -> None:
        told.append(event.summary)
        is_told.set()

    stop_hearing = library.changes.hear(SourceScanned, listen)
    ask()
    assert is_told.wait(_WAIT_S), "no look was told of"
    stop_hearing()
    assert told[0] == ChangeSummary(unchanged=count), told


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    began_at = time.perf_counter()
    work()
    return time.perf_counter() - began_at


# --- a moved subtree -------------------------------------------------------------------------


def move(scratch: Path) -> dict[str, float]:
    """Index 1,000 small files, rename their folder, and count the embedded passages."""
    folder = scratch / "documents"
    (folder / "before").mkdir(parents=True)
    for number in range(_MOVED):
        path = folder / "before" / f"{number}.md"
        path.write_text(f"# Note {number}\n\nThe lamp number {number} stands at the harbour.")
    services = build_services(Home(scratch / "home"))
    try:
        library = services.library
        library.sources.add(folder)
        library.start()
        assert library.indexing.wait_until_idle(_WAIT_S)
        embedded = library.indexing.embedded_chunks
        (folder / "before").rename(folder / "after")
        began_at = time.perf_counter()
        library.sources.rescan()
        assert library.indexing.wait_until_idle(_WAIT_S)
        moved_s = time.perf_counter() - began_at
        paths = {d.path.parent.name for d in library.documents.all()}
        assert paths == {"after"}, paths
        return {
            "moved_files": _MOVED,
            "move_s": round(moved_s, 2),
            "embedded_before_the_move": embedded,
            "embedded_after_the_move": library.indexing.embedded_chunks - embedded,
        }
    finally:
        services.close()


# --- a burst of events -----------------------------------------------------------------------


def burst(root: Path, count: int) -> dict[str, float]:
    """Write files below a watched folder and time until the watcher has reported all of them.

    The watcher's last report is a scan of everything, or of every file at the end of the burst.
    """
    root.mkdir()
    told = threading.Condition()
    whole_at: list[float] = []

    def on_dirty(_root: Path, places: frozenset[Path]) -> None:
        with told:
            if root in places or root / "the end.md" in places:
                whole_at.append(time.perf_counter())
                told.notify_all()

    rules = IgnoreRules(lambda _name: True, 1 << 20)
    watcher = FolderWatcher(on_dirty, lambda _root, _reason: None, rules)
    try:
        watcher.watch(root)
        began_at = time.perf_counter()
        write_tree(root, count)
        (root / "the end.md").write_text("x")
        written_at = time.perf_counter()
        with told:
            is_told = told.wait_for(lambda: bool(whole_at and whole_at[-1] > written_at), _WAIT_S)
        assert is_told, "the burst was not told of"
    finally:
        watcher.close()
    return {
        "burst_files": count,
        "burst_written_s": round(written_at - began_at, 2),
        "burst_told_after_s": round(whole_at[-1] - written_at, 2),
    }


if __name__ == "__main__":
    sys.exit(main())
