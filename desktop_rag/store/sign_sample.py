"""Some of the vectors' sign bits, in memory: from them it is told how near the nearest are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


def distances(bits: NDArray[np.int64], query: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many signs of each row differ from those of the query; both as `sign_bits` makes them."""
    return np.bitwise_count((bits ^ query).view(np.uint64)).sum(axis=1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class SignSample:
    """Rows of sign bits drawn at random from `count` vectors, shape (rows, words)."""

    ROWS: ClassVar[int] = 4096

    count: int
    bits: NDArray[np.int64]

    def still_fits(self, count: int) -> bool:
        """Whether it tells something of so many vectors."""
        return self.count / 2 <= count <= 2 * self.count

    def reach(self, query: NDArray[np.int64], share: float) -> int:
        """Of how many signs a share of all vectors, and hardly ever less, differs at most."""
        expected = share * len(self.bits)
        # By chance a sample may hold too many of the nearest: three deviations more of them.
        place = min(int(expected + 3 * expected**0.5) + 1, len(self.bits) - 1)
        return int(np.partition(distances(self.bits, query), place)[place])
