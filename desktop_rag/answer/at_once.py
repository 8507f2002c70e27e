"""Pieces of work at the same time: a question waits for the longest one, not for all of them."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


@overload
def at_once(here: Callable[[], A], aside: Callable[[], B], /) -> tuple[A, B]: ...
@overload
def at_once(
    here: Callable[[], A], aside: Callable[[], B], third: Callable[[], C], /
) -> tuple[A, B, C]: ...
def at_once(here: Callable[[], Any], /, *asides: Callable[[], Any]) -> tuple[Any, ...]:
    """The results of all; each but the first runs on a thread of its own, ended on return.

    What one of them raises is raised here, that of the first before that of the others.
    """
    results = [_Result(work) for work in asides]
    for result in results:
        result.start()
    try:
        mine = here()
    finally:
        for result in results:
            result.join()
    return mine, *(result.future.result() for result in results)


class _Result(threading.Thread):
    """A thread that keeps what its work came to."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(name="question-aside")
        self.future: Future[Any] = Future()
        self._work = work

    def run(self) -> None:
        try:
            self.future.set_result(self._work())
        except BaseException as error:
            self.future.set_exception(error)
