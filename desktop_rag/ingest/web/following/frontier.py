"""The links that were found and are to be followed, nearest first. Used by one thread.

Traps are bounded here, so that a site without end neither fills memory nor uses up the pages of its
other parts: addresses that differ in their numbers only are of one shape, and no shape gets more
than half of all pages.
"""

from collections import Counter, deque
from dataclasses import dataclass

from desktop_rag.ingest.web.following.link_scope import LinkScope, page_identity, shape_of

_LEAST_OF_A_SHAPE = 25
_WAITING_PER_PAGE = 10
_LEAST_WAITING = 1_000


@dataclass(frozen=True, slots=True)
class Step:
    """An address to visit: how many links lead to it, and where its own may lead.

    With `is_canonical` another page named it as the right one, so it names none itself.
    """

    url: str
    depth: int
    scope: LinkScope
    is_canonical: bool = False


class Frontier:
    """A queue that takes each address once."""

    def __init__(self, page_limit: int) -> None:
        self.is_cut_off = False
        self._most_of_a_shape = max(_LEAST_OF_A_SHAPE, page_limit // 2)
        self._most_waiting = max(_LEAST_WAITING, _WAITING_PER_PAGE * page_limit)
        self._steps: deque[Step] = deque()
        self._seen: set[str] = set()
        self._shapes: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """The number of addresses not visited yet."""
        return len(self._steps)

    def see(self, url: str) -> None:
        """Take note of an address that is being visited without having been in the queue."""
        self._seen.add(page_identity(url))

    def add(self, step: Step) -> None:
        """Queue an address, unless it was seen, or is one too many of its kind."""
        if step.url in self._seen:
            return
        shape = shape_of(step.url)
        is_full = len(self._steps) >= self._most_waiting
        if is_full or self._shapes[shape] >= self._most_of_a_shape:
            self.is_cut_off = True
            return
        self._shapes[shape] += 1
        self._seen.add(step.url)
        self._steps.append(step)

    def next(self) -> Step | None:
        """The next address; those of fewer steps come first."""
        return self._steps.popleft() if self._steps else None
