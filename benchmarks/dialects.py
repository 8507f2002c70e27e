"""Plays every dialect and failure of the tests to the client, and shows what a person is told.

python benchmarks/dialects.py [--only WORDS]

A server on this computer sends exactly the bytes of each row of `tests/dialects`. Prints a table:
the dialect, what was told, whether the text was kept, whether the advice was right. On the last
line JSON; exit code 1 when a bar is missed.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bars import Bar, at_most, reported, table

from tests.dialects.player import Outcome, play
from tests.dialects.row import Row
from tests.dialects.table import ROWS

_LONGEST_SILENCE_S = 35.0
_NAME_CHARS, _TOLD_CHARS = 52, 58


@dataclass(frozen=True, slots=True)
class Played:
    """A row, what came of it, and how long it took."""

    row: Row
    got: Outcome
    seconds: float

    @property
    def is_silent_cut(self) -> bool:
        """True when the person takes a part for the whole."""
        return bool(self.row.told) and not self.got.title and bool(self.got.text)

    @property
    def is_lost(self) -> bool:
        """True when words that had arrived are not shown."""
        return any("kept" in wrong for wrong in self.got.wrongs(self.row))

    @property
    def has_wrong_advice(self) -> bool:
        """True for any other difference from the row."""
        return any("kept" not in wrong for wrong in self.got.wrongs(self.row))


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows whose names have these words")
    only = parser.parse_args().only
    played = [_played(row) for row in ROWS if only in row.name]
    print("\n".join(_lines(played)))
    bars = bars_of(played)
    print("\n".join(["", *table(bars)]))
    missed = [bar.name for bar in bars if bar.is_met is False]
    print(json.dumps({"bars": [bar.to_json() for bar in bars], "missed": missed}))
    sys.exit(bool(missed))


def bars_of(played: Sequence[Played]) -> list[Bar]:
    """The figures with their limits."""
    return [
        reported("dialects and failures", len(played)),
        at_most("silent cuts", 0, sum(one.is_silent_cut for one in played)),
        at_most("lost answers", 0, sum(one.is_lost for one in played)),
        at_most("wrong advice", 0, sum(one.has_wrong_advice for one in played)),
        at_most("slowest without a word, s", _LONGEST_SILENCE_S,
                max((one.seconds for one in played), default=0.0)),
    ]  # fmt: skip


def _played(row: Row) -> Played:
    began = time.monotonic()
    got = play(row)
    return Played(row, got, time.monotonic() - began)


def _lines(played: Sequence[Played]) -> list[str]:
    head = f"{'dialect':<{_NAME_CHARS}}  {'told':<{_TOLD_CHARS}}  text    advice"
    lines = [head]
    for one in played:
        told = one.got.title or " ".join(one.got.notices[:1]) or "(the answer)"
        kept = "lost" if one.is_lost else "kept" if one.got.text else "none"
        advice = "WRONG" if one.has_wrong_advice else "right"
        name, told = one.row.name[:_NAME_CHARS], told[:_TOLD_CHARS]
        lines.append(f"{name:<{_NAME_CHARS}}  {told:<{_TOLD_CHARS}}  {kept:<6}  {advice}")
        lines += [f"    {wrong}" for wrong in one.got.wrongs(one.row)]
    return lines


if __name__ == "__main__":
    main()
