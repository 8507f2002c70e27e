"""The app used at random for as long as one likes, compared with what its library must hold.

python benchmarks/soak.py [--minutes M] [--seed N] [--keep FOLDER]

Files are edited, moved and deleted, questions asked with and without a model and cancelled, chats,
sources and collections changed. One of two apps is also killed, closed and opened again; the other
runs from the beginning to the end, and its memory is measured. After quiet every file must be found
by a word that only its present content has, no word of old content may find anything, and every
acknowledged message must be in its chat and in order.

Bars: 0 differences; the memory of the lasting app grows by at most 5 % from the tenth minute (the
middle of a run under 20 minutes) to the end; the closed library takes at most 1.45 times the size
of one made anew from the same files and 16 MB more, which is where closing compacts it. With a
difference, the seed and the last operations are printed.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bars import Bar, at_most, reported, table

from desktop_rag.core.paths import Home
from tests.driving.driven_app import DrivenApp
from tests.driving.soaked_app import SoakedApp
from tests.servers.chat_server import ChatServer

_BASE_S = 600.0
_SAMPLES = 5
_ACTS_TO_CHECK = 25
_MOST_GROWTH = 0.05
_MOST_RATIO, _WASTE_BYTES = 1.45, 16_000_000
_PAUSE_S = 0.001
_ANSWER = " ".join(f"Sentence {n} tells of the lamp at the harbour [1]." for n in range(40))
_IDLE_S = 300.0
_MEGABYTE = 1e6


def main() -> int:
    """Print differences when they are found, then the figures; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="use this folder, and leave it")
    arguments = parser.parse_args()
    with _scratch(arguments.keep) as scratch, ChatServer(_ANSWER) as server:
        server.pause_s = _PAUSE_S
        soak = Soak(scratch, arguments.seed, server.base_url)
        try:
            soak.run(arguments.minutes * 60)
            return soak.report()
        finally:
            soak.end()


class Soak:
    """Two apps with a home each, and the memory of the lasting one as (seconds, bytes)."""

    def __init__(self, scratch: Path, seed: int, base_url: str) -> None:
        self._scratch = scratch
        self._seed = seed
        self._chance = random.Random(seed)
        self._apps = {
            name: SoakedApp(
                scratch / name, random.Random(f"{seed} {name}"), base_url, is_restarted=is_restarted
            )
            for name, is_restarted in (("lasting", False), ("restarted", True))
        }
        self._told = dict.fromkeys(self._apps, 0)
        self._memory: list[tuple[float, int]] = []
        self._parts: list[tuple[float, dict[str, int]]] = []
        self._lasted_s = 0.0

    def run(self, seconds: float) -> None:
        """Use both apps in turns for this long."""
        began_at = time.monotonic()
        while (now_s := time.monotonic() - began_at) < seconds:
            for _ in range(_ACTS_TO_CHECK):
                self._apps[self._chance.choice(sorted(self._apps))].act()
            for name, app in self._apps.items():
                app.check()
                self._tell(name, app)
            self._memory.append((now_s, self._apps["lasting"].rss_bytes()))
            self._parts.append((now_s, self._apps["lasting"].memory()))
        self._lasted_s = time.monotonic() - began_at
        for app in self._apps.values():
            app.close()

    def end(self) -> None:
        """Leave no process behind, whatever happened."""
        for app in self._apps.values():
            app.end()

    def report(self) -> int:
        """Print the figures; the exit code."""
        for name, app in self._apps.items():
            done = sum(app.operations.values())
            print(f"{name}: {done} operations: {dict(sorted(app.operations.items()))}")
        print(f"seed {self._seed}, {self._lasted_s / 60:.1f} minutes")
        self._print_parts()
        bars = [
            at_most("differences", 0, sum(self._told.values())),
            *self._memory_bars(),
            *(bar for name, app in self._apps.items() for bar in self._size_bars(name, app)),
        ]
        print("\n".join(table(bars)))
        return int(any(bar.is_met is False for bar in bars))

    def _print_parts(self) -> None:
        """Where the memory of the lasting app was at the base, and where it is at the end."""
        later = [parts for at_s, parts in self._parts if at_s >= self._base_s()]
        if later:
            for name in sorted(later[0] | later[-1]):
                print(f"{name}: {later[0].get(name, 0):,} → {later[-1].get(name, 0):,}")

    def _base_s(self) -> float:
        return _BASE_S if self._lasted_s >= 2 * _BASE_S else self._lasted_s / 2

    def _memory_bars(self) -> list[Bar]:
        base_s = self._base_s()
        later = [size for at_s, size in self._memory if at_s >= base_s]
        if len(later) < 2:
            return [at_most("memory growth", _MOST_GROWTH, None)]
        few = min(_SAMPLES, len(later) // 2)
        base, end = statistics.median(later[:few]), statistics.median(later[-few:])
        return [
            reported(f"memory after {base_s / 60:.1f} minutes, MB", base / _MEGABYTE),
            reported("memory at the end, MB", end / _MEGABYTE),
            at_most("memory growth", _MOST_GROWTH, end / base - 1),
        ]

    def _size_bars(self, name: str, app: SoakedApp) -> list[Bar]:
        found = _library(app.app.home).stat().st_size
        anew = self._size_anew(name, app)
        journal = sum(p.stat().st_size for p in (app.app.home.root / "journal").rglob("*"))
        bound = _MOST_RATIO * anew + _WASTE_BYTES
        return [
            reported(f"{name}: library made anew, MB", anew / _MEGABYTE),
            reported(f"{name}: journal, MB", journal / _MEGABYTE),
            at_most(f"{name}: library, MB", bound / _MEGABYTE, found / _MEGABYTE),
        ]

    def _size_anew(self, name: str, app: SoakedApp) -> int:
        fresh = DrivenApp(Home(self._scratch / f"anew {name}"))
        fresh.open()
        fresh.call("start")
        for root, collection in app.collections.items():
            fresh.call("add_source", path=str(root), collection=collection)
        count = sum(len(app.files.below(root)) for root in app.collections)
        while len(fresh.call("documents")) < count or not fresh.call("is_idle", timeout_s=_IDLE_S):
            time.sleep(0.1)
        fresh.close()
        return _library(fresh.home).stat().st_size

    def _tell(self, name: str, app: SoakedApp) -> None:
        new = app.differences[self._told[name] :]
        self._told[name] = len(app.differences)
        if new:
            latest = "\n".join(f"  {line}" for line in app.latest)
            lines = "\n".join(new)
            print(f"{name}, seed {self._seed}:\n{lines}\nafter\n{latest}", flush=True)


@contextmanager
def _scratch(kept: Path | None) -> Generator[Path]:
    if kept:
        kept.mkdir(parents=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="desktop-rag-soak-") as scratch:
        yield Path(scratch)


def _library(home: Home) -> Path:
    return home.root / "library.duckdb"


if __name__ == "__main__":
    sys.exit(main())
