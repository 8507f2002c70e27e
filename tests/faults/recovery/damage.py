"""Damage to the files of a closed or crashed library, for tests and `benchmarks/flips.py`."""

import os
import random
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path], object]


def flip(path: Path, chance: random.Random) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def _cut(share: float, fewer_bytes: int = 0) -> Damage:
    return lambda path: os.truncate(path, int(path.stat().st_size * share) - fewer_bytes)


#
LIBRARY_CUTS: dict[str, Damage] = {
    "empty": _cut(0),
    "100 bytes": lambda path: os.truncate(path, 100),
    "4096 bytes": lambda path: os.truncate(path, 4096),
    "half": _cut(0.5),
    "1 byte less": _cut(1, 1),
}
#
LOG_LOSSES: dict[str, Damage] = {
    "random": lambda path: path.write_bytes(random.Random(1).randbytes(5000)),
    "gone": lambda path: path.unlink(),
    "7 bytes less": _cut(1, 7),
    "half": _cut(0.5),
    "empty": _cut(0),
}
