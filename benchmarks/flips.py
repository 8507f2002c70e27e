"""Answers of a damaged library: the same as before, or a clear message and a repair.

python benchmarks/flips.py [--flips N] [--seed N]

A library with documents, vectors and chats, once closed and once as a crash leaves it, gets one bit
flipped at random offsets of the file and of its log in turn, then each cut and loss of R-06 to
R-08, then flips in the journal; then each small file of the home gets each damage of
`tests.faults.recovery.small_files`. Whatever is told of must be told as damage, and the file kept.
In the end, repaired or not, every message that was acknowledged must be there, every word of the
files must be found, and the questions must find the same passages. Bars: 0 other data, 0 lost
messages.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from bars import at_most, reported, table

from desktop_rag.app import Services, build_services
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.features.diagnosis.repair import repair_home
from desktop_rag.store.duckdb.duckdb_engine import library_file
from tests.asking import ask
from tests.driving.versioned_text import new_marker, versioned_text
from tests.faults.recovery.damage import LIBRARY_CUTS, LOG_LOSSES, flip
from tests.faults.recovery.small_files import DAMAGES, fill

_DOCUMENTS, _SENTENCES, _CHATS, _MESSAGES = 12, 30, 6, 3
_QUESTIONS = ("The lamp of the harbour?", "Who keeps the ledger of the cargo?", "summer price")
_IDLE_S = 120.0

Facts = dict[str, object]


class Damaged:
    """The library before the damage, and what became of each damaged copy."""

    def __init__(self, scratch: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []
        self._scratch = scratch
        self._documents = scratch / "documents"
        self._markers = self._write_documents()
        self.closed, self.crashed = scratch / "closed", scratch / "crashed"
        self._fill()
        self.small = [file.relative_to(self.crashed) for file in fill(Home(self.crashed))]
        self._expected = self._facts_of(self._copy(self.closed))
        assert self._expected == self._facts_of(self._copy(self.crashed))

    def attempt(self, name: str, original: Path, damage: Callable[[Home], object]) -> None:
        """Damage a copy of the library, and see what its next start makes of it."""
        home = self._copy(original)
        try:
            damage(home)
            outcome = self._repaired(home)
            differing = {key for key, fact in self._facts_of(home).items()
                         if fact != self._expected[key]}  # fmt: skip
        except AppError as error:
            outcome, differing = "failed", {f"{error.title} {error.hint}"}
        self.outcomes[outcome] += 1
        self.faults += [f"{name}: {outcome}, other {what}" for what in sorted(differing)]

    def _repaired(self, home: Home) -> str:
        """Open and read it all, after a repair if need be; a word for what had to be done."""
        try:
            services = build_services(home)
        except AppError as error:
            return self._repair(home, error)
        restored = services.engine.restored
        try:
            services.engine.storage.verify()
        except AppError as error:
            services.close()
            return self._repair(home, error)
        services.close()
        return "restored when opened" if restored else "as before"

    def _repair(self, home: Home, error: AppError) -> str:
        before = library_file(home).read_bytes()
        report = repair_home(home).report
        if report is None:
            # Closing wrote the end of the file anew; whether it is whole is judged with its facts.
            return "whole once closed"
        if report.kept.read_bytes() != before:
            raise error
        return "repaired with its index" if report.has_index else "repaired, index built again"

    def _facts_of(self, home: Home) -> Facts:
        """What a person would see, once the library has looked at its files."""
        services = build_services(home)
        try:
            services.library.start(watch=False)
            assert services.library.indexing.wait_until_idle(_IDLE_S)
            services.engine.storage.verify()
            return {
                "messages": _messages(services),
                "sources": [str(source.path) for source in services.library.sources.all()],
                "words": {marker: _paths(services, marker) for marker in self._markers},
                "answers": [_answers(services, question) for question in _QUESTIONS],
            }
        finally:
            services.close()
            shutil.rmtree(home.root)

    def _copy(self, original: Path) -> Home:
        home = self._scratch / f"copy {self.chance.getrandbits(64):x}"
        shutil.copytree(original, home)
        return Home(home)

    def _write_documents(self) -> list[str]:
        self._documents.mkdir()
        markers = [new_marker(self.chance) for _ in range(_DOCUMENTS)]
        for n, marker in enumerate(markers):
            text = versioned_text(self.chance, marker, _SENTENCES)
            (self._documents / f"{n}.md").write_text(text)
        return markers

    def _fill(self) -> None:
        """Documents and half of the chats end up in the file, the other half in its log."""
        for half in range(2):
            services = build_services(Home(self.closed))
            try:
                if not half:
                    services.library.sources.add(self._documents)
                services.library.start(watch=False)
                assert services.library.indexing.wait_until_idle(_IDLE_S)
                for n in range(_CHATS // 2):
                    question = f"{_QUESTIONS[n % len(_QUESTIONS)]} ({half})"
                    chat = ask(services, question).conversation_id
                    for _ in range(_MESSAGES - 1):
                        ask(services, question, conversation_id=chat)
                if half:
                    shutil.copytree(self.closed, self.crashed)
            finally:
                services.close()


def main() -> int:
    """Print each fault when it is found, then the figures; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    began_at = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="desktop-rag-flips-") as scratch:
        damaged = Damaged(Path(scratch), arguments.seed)
        told = count = 0
        damages = chain(_damages(damaged, arguments.flips), _small_damages(damaged))
        for name, original, damage in damages:
            damaged.attempt(name, original, damage)
            print("\n".join([*damaged.faults[told:], ""]), end="", flush=True)
            told, count = len(damaged.faults), count + 1
    print(f"seed {arguments.seed}, {time.monotonic() - began_at:.0f} s")
    bars = [
        reported("damaged libraries", count),
        *(reported(outcome, n) for outcome, n in sorted(damaged.outcomes.items())),
        at_most("faults", 0, len(damaged.faults)),
    ]
    print("\n".join(table(bars)))
    return int(bool(damaged.faults))


def _damages(damaged: Damaged, flips: int) -> Iterator[tuple[str, Path, Callable[[Home], object]]]:
    chance = damaged.chance
    for n in range(flips):
        if n % 2:
            yield f"flip {n} in the log", damaged.crashed, lambda home: flip(_log(home), chance)
        else:
            name = f"flip {n} in the library"
            yield name, damaged.closed, lambda home: flip(library_file(home), chance)
    for name, cut in LIBRARY_CUTS.items():
        for original in (damaged.closed, damaged.crashed):
            title = f"library cut ({name}) of {original.name}"
            yield title, original, lambda home, cut=cut: cut(library_file(home))
    for name, loss in LOG_LOSSES.items():
        yield f"log lost ({name})", damaged.crashed, lambda home, loss=loss: loss(_log(home))
    for n in range(flips // 10):
        yield (
            f"flip {n} in the journal",
            damaged.crashed,
            lambda home: flip(
                chance.choice(sorted(p for p in (home.root / "journal").rglob("*") if p.is_file())),
                chance,
            ),
        )


def _small_damages(damaged: Damaged) -> Iterator[tuple[str, Path, Callable[[Home], object]]]:
    for file in damaged.small:
        for name, damage in DAMAGES.items():
            yield (
                f"{name} in {file}",
                damaged.crashed,
                lambda home, file=file, damage=damage: damage(home.root / file),
            )


def _log(home: Home) -> Path:
    return home.root / "library.duckdb.wal"


def _messages(services: Services) -> list[list[str]]:
    stored = services.engine.conversations
    return sorted([m.text for m in stored.messages(c.conversation_id)] for c in stored.all())


def _paths(services: Services, word: str) -> list[str]:
    return sorted({str(p.path) for p in services.chat.search(word, mode="lexical")})


def _answers(services: Services, question: str) -> list[str]:
    return sorted(passage.text for passage in services.chat.search(question, limit=5))


if __name__ == "__main__":
    sys.exit(main())
