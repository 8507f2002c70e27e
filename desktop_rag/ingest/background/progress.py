"""Counts what indexing has done and estimates what is left. Any thread; snapshots are cheap.

Everything that shows progress shows this: the window, the tray and the command line.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from desktop_rag.core.library_events import IndexProgress, Stage, StepProgress

# A run that has not ended shows at most this share as done.
_MOST = 0.999
# After less work than this its pace is too uncertain to promise a time.
_LEAST_S = 10.0
# After this much work older measurements count half, so that the pace follows the work.
_RECENT_S = 30.0


class RunShare:
    """The share of a run that is done; it never falls when more work is found.

    Each step takes the part of the remaining bar that it was of the remaining work. While no work
    is added, this is the share of the whole.
    """

    def __init__(self) -> None:
        self._share = 0.0

    @property
    def share(self) -> float:
        """0 at the beginning; below 1 until the run ends."""
        return self._share

    def advance(self, done_s: float, left_s: float) -> None:
        """Count `done_s` seconds of work done since the last call, with `left_s` left."""
        if done_s > 0:
            grown = self._share + (1 - self._share) * done_s / (done_s + left_s)
            self._share = max(self._share, min(grown, _MOST))


class Pace:
    """Seconds that a unit of work takes: assumed at first, measured later."""

    def __init__(self, assumed_s: float) -> None:
        self._assumed_s = assumed_s
        self._seconds = 0.0
        self._units = 0.0

    @property
    def is_measured(self) -> bool:
        """True once enough work was measured."""
        return self._seconds >= _LEAST_S and self._units > 0

    @property
    def seconds(self) -> float:
        """Seconds per unit."""
        return self._seconds / self._units if self.is_measured else self._assumed_s

    def add(self, units: int, seconds: float) -> None:
        """Add a measurement."""
        if self._seconds > _RECENT_S:
            self._seconds /= 2
            self._units /= 2
        self._seconds += seconds
        self._units += units


# Assumed until they are measured: seconds to read a file, to make the vectors of a passage and of
# its windows, and to read a picture; passages of a file.
_FILE_S = 0.02
_PASSAGE_S = 0.02
_WINDOWS_S = 0.03
_PICTURE_S = 3.0
_PASSAGES_A_FILE = 5.0
# An estimate that is longer by less than this stays as it was told.
_LONGER = 1.25


class _Run:
    """The counters of one run. `to_mean` and `to_refine` are passages."""

    def __init__(self) -> None:
        self.share = RunShare()
        self.files_left = self.files_done = 0
        self.passages_read = 0
        self.to_mean = self.to_refine = 0
        self.meant = self.refined = 0
        # Files that are searchable by words only.
        self.meaning_left = self.meaning_total = 0
        self.pictures_left = self.pictures_done = 0
        self.current_file = ""
        # The least time left that was told, for a step with so many files and pictures.
        self.least_s, self.told_of = math.inf, (Stage.IDLE, 0)


class ProgressMeter:
    """One run lasts from the first file that waits until nothing is left to do.

    Its steps are reading, the vectors of passages, those of their windows, and pictures.
    """

    def __init__(self, *, has_embedder: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._has_embedder = has_embedder
        self._refines = True
        self._companion_work = 0
        self._clock = clock
        self._files = self._unread = 0
        self._run: _Run | None = None
        self._embedded_ever = 0
        self._paces = {
            Stage.READING: Pace(_FILE_S),
            Stage.EMBEDDING: Pace(_PASSAGE_S),
            Stage.REFINING: Pace(_WINDOWS_S),
            Stage.PICTURES: Pace(_PICTURE_S),
        }
        self._measured_at = clock()
        # Called when a run begins.
        self.began: Callable[[], None] = lambda: None

    # --- figures -------------------------------------------------------------------------------

    def snapshot(self) -> IndexProgress:
        """The current figures."""
        with self._lock:
            if (run := self._run) is None:
                files, unread = self._files, self._unread
                return IndexProgress(files_total=files, files_done=files, files_unread=unread)
            steps = self._steps(run)
            if not steps:
                # Its files went away before one was read.
                return IndexProgress(Stage.READING, fraction=run.share.share)
            at = next((n for n, step in enumerate(steps) if not step.is_done), -1)
            now = steps[at] = self._told(run, steps[at])
            left = [step.seconds_left for step in steps]
            known = [seconds for seconds in left if seconds is not None]
            return IndexProgress(
                now.stage, now.files_total, now.files_done, run.current_file, run.share.share,
                sum(known) if len(known) == len(left) else None, tuple(steps),
            )  # fmt: skip

    @property
    def embedded_ever(self) -> int:
        """Passages embedded since the app started."""
        return self._embedded_ever

    @property
    def is_running(self) -> bool:
        """True between the begin of a run and `end_run`."""
        return self._run is not None

    def _steps(self, run: _Run) -> list[StepProgress]:
        files = run.files_done + run.files_left
        to_mean, to_refine = self._passages_left(run)
        is_read = not run.files_left
        steps = [
            self._step(Stage.READING, run.files_left, files, run.files_done)
        ] if files else []  # fmt: skip
        if self._has_embedder and (to_mean or run.meant):
            total, left = run.meaning_total, run.meaning_left
            steps.append(
                self._step(Stage.EMBEDDING, to_mean, total, total - left, is_counted=is_read)
            )
        if self._has_embedder and self._refines and (to_refine or run.refined):
            steps.append(self._step(Stage.REFINING, to_refine, 0, 0, is_counted=is_read))
        if pictures := run.pictures_left + run.pictures_done:
            done = run.pictures_done
            steps.append(self._step(Stage.PICTURES, run.pictures_left, pictures, done))
        return steps

    def _step(
        self, stage: Stage, left: float, files: int, files_done: int, *, is_counted: bool = True
    ) -> StepProgress:
        """Without a time while it could only be guessed."""
        pace = self._paces[stage]
        is_known = not left or (is_counted and pace.is_measured)
        seconds = left * pace.seconds if is_known else None
        return StepProgress(stage, left == 0, files, files_done, seconds)

    def _told(self, run: _Run, now: StepProgress) -> StepProgress:
        """The step under way. Its time only falls: none is told while it is known to be longer."""
        known = run.files_done + run.files_left + run.pictures_done + run.pictures_left
        if (now.stage, known) != run.told_of:
            run.least_s, run.told_of = math.inf, (now.stage, known)
        if now.seconds_left is None or now.seconds_left > _LONGER * run.least_s:
            return replace(now, seconds_left=None)
        run.least_s = min(run.least_s, now.seconds_left)
        return replace(now, seconds_left=run.least_s)

    def _passages_left(self, run: _Run) -> tuple[float, float]:
        """Passages that lack vectors, and that lack windows, with those not read yet."""
        a_file = _PASSAGES_A_FILE
        if run.files_done:
            a_file = run.passages_read / run.files_done
        unread = a_file * run.files_left
        to_mean = run.to_mean + unread
        return to_mean, run.to_refine + to_mean + self._companion_work * unread

    def _work_left_s(self, run: _Run) -> float:
        to_mean, to_refine = self._passages_left(run) if self._has_embedder else (0.0, 0.0)
        if not self._refines:
            to_refine = 0.0
        return (
            run.files_left * self._paces[Stage.READING].seconds
            + to_mean * self._paces[Stage.EMBEDDING].seconds
            + to_refine * self._paces[Stage.REFINING].seconds
            + run.pictures_left * self._paces[Stage.PICTURES].seconds
        )

    # --- reading ---------------------------------------------------------------------------------

    def set_files_left(self, count: int) -> None:
        """Set the number of files that wait or are being read; the first begins a run."""
        with self._lock:
            if run := self._running(count):
                run.files_left = count
                if not count:
                    run.current_file = ""

    def start_file(self, name: str) -> None:
        """Set the file that is being read."""
        with self._lock:
            if self._run:
                self._run.current_file = name

    def add_read(self, files: int, passages: int, left: int) -> None:
        """Count files that were read or can't be; `left` files still wait."""
        with self._lock:
            run = self._running(files)
            if run is None:
                return
            run.files_done += files
            run.files_left = left
            run.passages_read += passages
            if self._has_embedder:
                run.to_mean += passages
                run.to_refine += self._companion_work * passages
            if not left:
                run.current_file = ""
            self._advance(run, Stage.READING, files)

    # --- vectors ---------------------------------------------------------------------------------

    def set_passages_left(self, to_mean: int, to_refine: int) -> None:
        """Set the passages without vectors, which begin a run, and those without windows."""
        with self._lock:
            if run := self._running(to_mean):
                run.to_mean, run.to_refine = to_mean, to_refine

    def set_companion_work(self, count: int) -> None:
        """Set how many vectors of a second model each passage needs besides its windows."""
        with self._lock:
            self._companion_work = count

    def begin_refining(self, to_refine: int) -> None:
        """Set the passages, of all models, that get the vectors of their windows now."""
        with self._lock:
            if run := self._running(to_refine):
                run.to_refine = to_refine

    def set_files_without_meaning(self, count: int) -> None:
        """Set the number of files that are searchable by words only."""
        with self._lock:
            if run := self._run:
                run.meaning_total += max(0, count - run.meaning_left)
                run.meaning_left = count

    def add_embedded(self, count: int) -> None:
        """Count passages that got vectors."""
        with self._lock:
            self._embedded_ever += count
            if run := self._run:
                run.meant += count
                run.to_mean = max(0, run.to_mean - count)
                run.to_refine += count
                self._advance(run, Stage.EMBEDDING, count)

    def add_refined(self, count: int) -> None:
        """Count passages that got the vectors of their windows."""
        with self._lock:
            if run := self._run:
                run.refined += count
                run.to_refine = max(0, run.to_refine - count)
                self._advance(run, Stage.REFINING, count)

    def set_refines(self, is_wanted: bool) -> None:
        """Set whether windows get vectors."""
        with self._lock:
            self._refines = is_wanted

    # --- pictures --------------------------------------------------------------------------------

    @property
    def picture_s(self) -> float:
        """Seconds to read a picture: measured, or assumed."""
        return self._paces[Stage.PICTURES].seconds

    @property
    def knows_pictures(self) -> bool:
        """True once `picture_s` is measured."""
        return self._paces[Stage.PICTURES].is_measured

    def set_pictures_left(self, count: int) -> None:
        """Set the number of pictures that wait and may be read; the first begins a run."""
        with self._lock:
            if run := self._running(count):
                run.pictures_left = count

    def add_pictures(self, count: int, *, is_measured: bool) -> None:
        """Count pictures that were read; `is_measured` if nothing else took the time."""
        with self._lock:
            if run := self._running(count):
                run.pictures_done += count
                run.pictures_left = max(0, run.pictures_left - count)
                if not is_measured:
                    self._measured_at = self._clock()
                self._advance(run, Stage.PICTURES, count if is_measured else 0)

    # --- runs ------------------------------------------------------------------------------------

    def set_files(self, count: int, unread: int = 0) -> None:
        """Set the number of files in the library, and how many of them were not read."""
        with self._lock:
            self._files, self._unread = count, unread

    def end_run(self) -> None:
        """End the run, if nothing is left; the next one begins at 0."""
        with self._lock:
            # A file may have been found since.
            if self._run and not self._run.files_left and not self._run.pictures_left:
                self._run = None

    def forget_time(self) -> None:
        """Leave the time since the last work out of its pace: indexing was paused."""
        with self._lock:
            self._measured_at = self._clock()

    def _running(self, work: int) -> _Run | None:
        """The run under way; a new one when there is work."""
        if self._run is None and work:
            self._run = _Run()
            self._measured_at = self._clock()
            self.began()
        return self._run

    def _advance(self, run: _Run, stage: Stage, units: int) -> None:
        now = self._clock()
        pace = self._paces[stage]
        pace.add(units, now - self._measured_at)
        self._measured_at = now
        run.share.advance(units * pace.seconds, self._work_left_s(run))
