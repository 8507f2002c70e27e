"""Counts what indexing has done and estimates what is left. Any thread; snapshots are cheap."""

import threading
import time
from dataclasses import replace

from desktop_rag.core.library_events import IndexProgress, Stage

# Reading takes about this share of a full run; only the bar's smoothness depends on it.
_READING_SHARE = 0.15
# Below this much of the work the rate says too little to promise a time.
_LEAST_FRACTION = 0.01
_LEAST_S = 2.0


class ProgressMeter:
    """One run lasts from the first file that waits until nothing is left to do."""

    def __init__(self, *, has_embedder: bool) -> None:
        self._lock = threading.Lock()
        self._has_embedder = has_embedder
        self._progress = IndexProgress()
        self._embedded_before = 0
        self._embedded_ever = 0
        self._read_before = 0
        self._stage_began_at = time.monotonic()

    def snapshot(self) -> IndexProgress:
        """The current figures."""
        with self._lock:
            return replace(
                self._progress, fraction=self._fraction(), seconds_left=self._seconds_left()
            )

    @property
    def embedded_ever(self) -> int:
        """Passages embedded since the app started."""
        return self._embedded_ever

    @property
    def is_running(self) -> bool:
        """A run has begun that `end_run` has not ended."""
        return self._progress.stage is not Stage.IDLE

    def end_run(self, files: int) -> None:
        """End the run: all files of the library are done. The next run starts at zero."""
        with self._lock:
            self._progress = IndexProgress(files_total=files, files_read=files)

    def set_stage(self, stage: Stage) -> None:
        """Enter a stage of a run; `end_run` ends it."""
        with self._lock:
            if stage is self._progress.stage:
                return
            self._progress = replace(self._progress, stage=stage, current_file="")
            self._stage_began_at = time.monotonic()
            self._embedded_before = self._progress.chunks_embedded
            self._read_before = self._progress.files_read

    def add_files(self, count: int) -> None:
        """More files wait (or, negative, no longer do)."""
        with self._lock:
            if self._progress.stage is Stage.IDLE and count:
                self._progress = replace(
                    self._progress, stage=Stage.READING, files_total=0, files_read=0
                )
            total = max(self._progress.files_read, self._progress.files_total + count)
            self._progress = replace(self._progress, files_total=total)

    def start_file(self, name: str) -> None:
        """This file is in work now."""
        with self._lock:
            self._progress = replace(self._progress, current_file=name)

    def finish_file(self) -> None:
        """The file in work is done, one way or the other."""
        with self._lock:
            read = self._progress.files_read + 1
            total = max(read, self._progress.files_total)
            self._progress = replace(
                self._progress, files_read=read, files_total=total, current_file=""
            )

    def put_back(self, count: int) -> None:
        """This number of files was counted as read but not stored, and waits again."""
        with self._lock:
            read = max(0, self._progress.files_read - count)
            self._progress = replace(self._progress, files_read=read)

    def set_chunks(self, total: int, embedded: int) -> None:
        """Set the number of distinct passages and of those with vectors."""
        with self._lock:
            self._progress = replace(self._progress, chunks_total=total, chunks_embedded=embedded)
            self._embedded_before = min(self._embedded_before, embedded)

    def add_refined(self, count: int) -> None:
        """More passages have the vectors of their windows."""
        with self._lock:
            refined = min(self._progress.chunks_embedded + count, self._progress.chunks_total)
            self._progress = replace(self._progress, chunks_embedded=refined)

    def add_embedded(self, count: int) -> None:
        """More passages have vectors."""
        with self._lock:
            self._embedded_ever += count
            embedded = min(self._progress.chunks_embedded + count, self._progress.chunks_total)
            self._progress = replace(self._progress, chunks_embedded=embedded)

    def _fraction(self) -> float:
        p = self._progress
        if p.stage is Stage.IDLE:
            return 1.0
        read = p.files_read / p.files_total if p.files_total else 1.0
        if not self._has_embedder:
            return read
        if p.files_read < p.files_total and p.stage is not Stage.REFINING:
            return _READING_SHARE * read
        embedded = p.chunks_embedded / p.chunks_total if p.chunks_total else 1.0
        if p.stage is Stage.REFINING:
            return embedded
        return _READING_SHARE + (1 - _READING_SHARE) * embedded

    def _seconds_left(self) -> float | None:
        p = self._progress
        seconds = time.monotonic() - self._stage_began_at
        if p.stage in (Stage.EMBEDDING, Stage.REFINING):
            done = p.chunks_embedded - self._embedded_before
            left = p.chunks_total - p.chunks_embedded
        elif p.stage is Stage.READING and not self._has_embedder:
            done, left = p.files_read - self._read_before, p.files_total - p.files_read
        else:
            return None
        if seconds < _LEAST_S or done < max(1, _LEAST_FRACTION * left):
            return None
        return seconds / done * left
