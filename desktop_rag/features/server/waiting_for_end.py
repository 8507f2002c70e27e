"""Work for a client that ends when the client leaves. The server's thread."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.types import Receive

_T = TypeVar("_T")


async def ended_with_client(work: Coroutine[None, None, _T], receive: Receive) -> _T | None:
    """The result of the work; None when the client left before, and the work was cancelled.

    The request's body must have been read.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        return None
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
