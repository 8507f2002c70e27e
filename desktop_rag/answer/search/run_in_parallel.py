"""Runs two functions in parallel: a question waits for the longer one, not for both."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def run_in_parallel(here: Callable[[], A], aside: Callable[[], B]) -> tuple[A, B]:
    """The results of both; `aside` runs on a thread of its own, which has ended on return.

    An exception of either is raised here, that of `here` first.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="search") as threads:
        other = threads.submit(aside)
        return here(), other.result()
