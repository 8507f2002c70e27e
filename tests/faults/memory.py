"""A limit on the memory of a code block."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

MOST_MEMORY_BYTES = 64 << 20


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Fails when the block allocates more than this."""
    tracemalloc.start()
    try:
        yield
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < MOST_MEMORY_BYTES
