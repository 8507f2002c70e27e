"""Is every file with text searchable before the first picture is read?

    python benchmarks/pictures/pictures_last.py [--shared ../shared] [--files 60] [--seed 1]
        [--pictures 20]

A sample of real files, with every picture among them and the PDFs of which nobody knows what they
are before they are read, is indexed as in the app, with OCR. It ends once so many pictures were
read. Prints one `name: figure (bar …)` a line and ends with exit code 1 when a bar is missed:

- order: files that could still be read for text when the first picture was begun (bar 0), and
  files with text that were not searchable by then;
- time: until the last file with text was searchable by words, and until the first picture began;
- pace: seconds a picture, wall and processor time.
"""

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from desktop_rag import app
from desktop_rag.core.domain import Document
from desktop_rag.core.library_events import ProgressChanged, Stage
from desktop_rag.core.paths import Home

_SHARED = Path(__file__).parents[3] / "shared"
_PICTURES = {".png", ".jpg", ".jpeg", ".tif", ".tiff"}
_PDF_SHARE = 0.5
_MOST_BYTES = 8_000_000
_TIMEOUT_S = 3000.0


@dataclass
class Seen:
    """What the events tell: when the first picture began, and the rows at that moment."""

    services: app.Services
    most: int
    texts_at: float = 0.0
    first_at: float = 0.0
    rows: list[Document] = field(default_factory=list)
    done: int = 0
    last_at: float = 0.0
    enough: threading.Event = field(default_factory=threading.Event)

    def listen(self, event: ProgressChanged) -> None:
        """Note what the progress says; called on the library's threads."""
        if event.progress.stage is not Stage.PICTURES:
            return
        now = time.monotonic()
        if not self.first_at:
            self.first_at = now
            self.texts_at = self.services.library.indexing.searchable_at
            self.rows = self.services.library.documents.all()
        step = event.progress.step
        if step and step.files_done > self.done:
            self.done, self.last_at = step.files_done, now
        if self.done >= self.most:
            self.enough.set()


def main() -> int:
    """Parse the arguments, index, judge; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=_SHARED)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pictures", type=int, default=20, help="end after so many")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, home = Path(scratch) / "files", Home(Path(scratch) / "home")
        folder.mkdir()
        _copy_sample(arguments.shared / "files", folder, arguments.files, arguments.seed)
        services = app.build_services(home)
        try:
            return _judge(services, folder, arguments.pictures)
        finally:
            services.close()


def _copy_sample(files: Path, folder: Path, count: int, seed: int) -> None:
    """All pictures, PDFs for half of the rest, and others; the same for each seed."""
    found = sorted(
        path
        for path in files.glob("*/files/**/*")
        if path.is_file() and path.stat().st_size < _MOST_BYTES
    )
    chance = random.Random(seed)
    chance.shuffle(found)
    pictures = [path for path in found if path.suffix.lower() in _PICTURES]
    rest = [path for path in found if path not in set(pictures)]
    pdfs = [path for path in rest if path.suffix.lower() == ".pdf"]
    others = [path for path in rest if path.suffix.lower() != ".pdf"]
    left = max(0, count - len(pictures))
    chosen = [*pictures, *pdfs[: int(left * _PDF_SHARE)]]
    chosen += others[: count - len(chosen)]
    for number, path in enumerate(chosen):
        shutil.copy(path, folder / f"{number:03}-{path.name}")


def _judge(services: app.Services, folder: Path, most: int) -> int:
    seen = Seen(services, most)
    services.changes.hear(ProgressChanged, seen.listen)
    services.library.sources.add(folder)
    began_at = time.monotonic()
    services.library.start(watch=False)
    ended = threading.Thread(target=_wait, args=(seen,), daemon=True)
    ended.start()
    before = _processor_s()
    while not seen.first_at and not seen.enough.wait(0.2):
        before = _processor_s()
    seen.enough.wait(_TIMEOUT_S)
    spent = _processor_s() - before
    files = [row for row in seen.rows if not row.parent_id]
    unread = [row for row in files if row.is_to_be_read]
    texts = [row for row in files if row.chunk_count]
    late = [row for row in texts if not row.state.is_searchable]
    waits = [row for row in files if row.pictures_waiting]
    both = [row for row in waits if row.chunk_count]
    print(f"files: {len(files)}, {len(texts)} with text, {len(waits)} with pictures that wait")
    print(f"files with both, searchable by their text: {len(both)}")
    print(f"pictures and scanned pages that wait: {sum(r.pictures_waiting for r in waits)}")
    print(f"files still to be read when the first picture began: {len(unread)} (bar 0)")
    print(f"files with text not searchable by then: {len(late)} (bar 0)")
    print(f"last file with text searchable: {seen.texts_at - began_at:.1f} s")
    print(f"first picture begun: {seen.first_at - began_at:.1f} s")
    if seen.done:
        wall = (seen.last_at - seen.first_at) / seen.done
        print(f"pictures read: {seen.done}, {wall:.1f} s each, {spent / seen.done:.1f} s processor")
    return 1 if unread or late or not files else 0


def _wait(seen: Seen) -> None:
    seen.services.library.indexing.wait_until_idle(_TIMEOUT_S)
    seen.enough.set()


def _processor_s() -> float:
    """Processor time of this process and those it started, in seconds."""
    total = 0.0
    me = psutil.Process()
    for process in (me, *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


if __name__ == "__main__":
    sys.exit(main())
