"""Two pieces of work at the same time: a question waits for the longer one, not for both."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def at_once(here: Callable[[], A], aside: Callable[[], B]) -> tuple[A, B]:
    """The results of both; `aside` runs on a thread of its own, which has ended on return.

    What either raises is raised here, that of `here` first.
    """
    result: Future[B] = Future()

    def run() -> None:
        try:
            result.set_result(aside())
        except BaseException as error:
            result.set_exception(error)

    thread = threading.Thread(target=run, name="question-aside")
    thread.start()
    try:
        mine = here()
    finally:
        thread.join()
    return mine, result.result()
