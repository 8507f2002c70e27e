"""W-15: the fair share of indexing and search: both at once, against each of them alone.

Through the real library, one machine, one run. Small text files wait to be read; a tenth of them,
at most 1,000, have vectors already. Rounds alternate between searches while indexing is paused,
indexing without searches, and indexing with one search a second: first while files are read, then
while passages get their vectors. Bars, for both: indexing keeps half of its quiet speed; the 95th
percentile of searches is at most twice the quiet one.

    python benchmarks/fair_share.py [--files N] [--rounds N] [--seconds S]
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bars import Bar, at_least, at_most, reported, table

from desktop_rag.app import Services, build_services
from desktop_rag.core.library_events import Stage
from desktop_rag.core.paths import Home
from desktop_rag.features.evaluation.measures.metrics import percentile

_LEAST_SHARE = 0.5
_MOST_TIMES_QUIET = 2.0
_FOLDERS = 500
_MOST_KNOWN = 1_000
_WORDS = 60
_VOCABULARY = 20_000
_SEARCH_EVERY_S = 1.0
_QUIET_SEARCHES = 20
_LOOK_EVERY_S = 0.02
_WAIT_S = 7200.0
# So few files end before the rounds do when these take longer.
_FILES_A_SECOND = 800
_MOST_SECONDS = 20.0


def main() -> int:
    """Print the figures with their bars; 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, help="of indexing, twice a round")
    arguments = parser.parse_args()
    seconds = arguments.seconds or min(_MOST_SECONDS, arguments.files / _FILES_A_SECOND)
    with tempfile.TemporaryDirectory(prefix="desktop-rag-fair-share-") as scratch:
        services = build_services(Home(Path(scratch) / "home"))
        try:
            queue_files(services, Path(scratch), arguments.files)
            indexing = services.library.indexing
            bars: list[Bar] = []
            for stage, count in (
                (Stage.READING, lambda: indexing.progress().files_done),
                (Stage.EMBEDDING, lambda: indexing.embedded_chunks),
            ):
                wait_for(services, stage)
                bars += measure(services, arguments.rounds, seconds, Work(stage, count)).bars(stage)
        finally:
            services.close()
    print("\n".join(table(bars)))
    return int(any(bar.is_met is False for bar in bars))


@dataclass(frozen=True)
class Work:
    """A stage of indexing, and the number of files or passages that it has done."""

    stage: Stage
    done: Callable[[], int]


# --- the files -------------------------------------------------------------------------------


class Words:
    """Made-up words; like in real texts, few of them are most of a text."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def some(self, count: int) -> str:
        """So many words in a row."""
        shares = (self._random.random() for _ in range(count))
        return " ".join(f"word{int(_VOCABULARY**share)}" for share in shares)


def queue_files(services: Services, scratch: Path, count: int) -> None:
    """Index some of the files, and have the others wait while indexing is paused."""
    known = min(_MOST_KNOWN, count // 10)
    write_files(scratch / "known", known, Words(1))
    write_files(scratch / "waiting", count - known, Words(2))
    library = services.library
    library.start(watch=False)
    library.sources.add(scratch / "known")
    if not library.indexing.wait_until_idle(_WAIT_S):
        raise SystemExit("indexing did not come to an end")
    library.sources.add(scratch / "waiting")
    while library.indexing.progress().files_total < count - known:
        time.sleep(_LOOK_EVERY_S)
    library.indexing.pause()


def write_files(folder: Path, count: int, words: Words) -> None:
    """Files of a passage each, spread over folders."""
    for number in range(min(_FOLDERS, count)):
        (folder / f"folder {number:03d}").mkdir(parents=True)
    for number in range(count):
        path = folder / f"folder {number % _FOLDERS:03d}" / f"note {number:05d}.txt"
        path.write_text(f"Note {number}. {words.some(_WORDS)}.")


# --- the figures -----------------------------------------------------------------------------


@dataclass
class Figures:
    """Units of work a second, and seconds of each search; `alone` without the other."""

    rates_alone: list[float] = field(default_factory=list[float])
    rates_shared: list[float] = field(default_factory=list[float])
    searches_alone: list[float] = field(default_factory=list[float])
    searches_shared: list[float] = field(default_factory=list[float])

    def bars(self, stage: Stage) -> list[Bar]:
        """The figures of all rounds together."""
        alone, shared = statistics.mean(self.rates_alone), statistics.mean(self.rates_shared)
        p95 = 1000 * percentile(self.searches_alone, 0.95)
        p95_shared = 1000 * percentile(self.searches_shared, 0.95)
        return [
            reported(f"{stage}: a second, quiet", alone),
            reported(f"{stage}: a second, with searches", shared),
            at_least(f"{stage}: share of the quiet speed", _LEAST_SHARE, shared / alone),
            reported(f"{stage}: search p95 in ms, quiet", p95),
            reported(f"{stage}: search p95 in ms, while indexing", p95_shared),
            at_most(f"{stage}: search p95 to quiet", _MOST_TIMES_QUIET, p95_shared / p95),
        ]


def measure(services: Services, rounds: int, seconds: float, work: Work) -> Figures:
    """Alternate between the three, so that a busy computer affects all of them alike."""
    figures, words = Figures(), Words(3)
    search(services, words)  # loads the models
    for number in range(rounds):
        services.library.indexing.pause()
        wait_for_pause(work)
        alone = [search(services, words) for _ in range(_QUIET_SEARCHES)]
        services.library.indexing.resume()
        rate_alone, _ = pace(services, seconds, work, None)
        rate_shared, shared = pace(services, seconds, work, words)
        figures.searches_alone += alone
        figures.searches_shared += shared
        figures.rates_alone.append(rate_alone)
        figures.rates_shared.append(rate_shared)
        print(
            f"{work.stage}, round {number + 1}: {rate_alone:.1f} a second, {rate_shared:.1f} with"
            f" {len(shared)} searches; a search takes {1000 * statistics.median(alone):.0f} ms,"
            f" {1000 * statistics.median(shared):.0f} ms while indexing",
            flush=True,
        )
    return figures


def wait_for(services: Services, stage: Stage) -> None:
    """Let indexing reach a stage."""
    indexing = services.library.indexing
    indexing.resume()
    give_up_at = time.monotonic() + _WAIT_S
    while indexing.progress().stage is not stage:
        if time.monotonic() > give_up_at or indexing.progress().stage is Stage.IDLE:
            raise SystemExit(f"indexing did not reach {stage}")
        time.sleep(_LOOK_EVERY_S)


def wait_for_pause(work: Work) -> None:
    """Wait until the file or the batch in work is done: nothing is counted for a while."""
    done = -1
    while done != (now := work.done()):
        done = now
        time.sleep(_SEARCH_EVERY_S)


def pace(
    services: Services, seconds: float, work: Work, words: Words | None
) -> tuple[float, list[float]]:
    """Work done a second over so many seconds, and the seconds of each search in them, if any."""
    searches: list[float] = []
    before, began_at = work.done(), time.perf_counter()
    while (elapsed := time.perf_counter() - began_at) < seconds:
        if words and elapsed >= len(searches) * _SEARCH_EVERY_S:
            searches.append(search(services, words))
        else:
            time.sleep(_LOOK_EVERY_S)
    if services.library.indexing.progress().stage is not work.stage:
        raise SystemExit("the work ended too early: take more files, or fewer seconds")
    return (work.done() - before) / (time.perf_counter() - began_at), searches


def search(services: Services, words: Words) -> float:
    """The seconds that a search takes, for other words than before and one of every file name."""
    began_at = time.perf_counter()
    services.chat.search(f"the note about {words.some(5)}")
    return time.perf_counter() - began_at


if __name__ == "__main__":
    sys.exit(main())
