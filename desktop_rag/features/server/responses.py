"""Responses in the forms of the server: JSON, refusals, and streams of events. Its thread."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from desktop_rag.core.paths import resources_dir
from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.refusals import Refusal

_T = TypeVar("_T")


async def ended_with_client(work: Coroutine[None, None, _T], receive: Receive) -> _T | None:
    """The result of the work, or None, with the work cancelled, once the client has left."""
    # Once the body has been read, all that can be received is the disconnect.
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


_EVENT_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
]


def text_route(
    path: str, read: Callable[[], str], media_type: str, headers: dict[str, str] | None = None
) -> Route:
    """A route that answers with a text, in whatever state it is then."""

    def send(_request: Request) -> Response:
        return Response(read(), media_type=media_type, headers=headers)

    return Route(path, send, methods=["GET"])


def web_folder() -> Path:
    """Where the files for browsers are."""
    return resources_dir() / "web"


@cache
def web_file(name: str) -> str:
    """The text of one of these files."""
    return (web_folder() / name).read_text("utf-8")


class RefusedResponse(JSONResponse):
    """Says why a request is refused, and notes it for the log."""

    def __init__(self, refusal: Refusal, headers: dict[str, str]) -> None:
        super().__init__(refusal.to_json(), refusal.status, headers)
        self._message = refusal.message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        Exchange.of(scope).refusal = self._message
        await super().__call__(scope, receive, send)


def refused(refusal: Refusal) -> Response:
    """The response of a refusal, in the form of OpenAI's errors."""
    headers = retry_header(refusal)
    if refusal.status == 401:  # noqa: PLR2004
        headers["WWW-Authenticate"] = "Bearer"
    return RefusedResponse(refusal, headers)


def retry_header(refusal: Refusal) -> dict[str, str]:
    """The header that says when to try again, if that is known."""
    wait_s = refusal.retry_after_s
    return {} if wait_s is None else {"Retry-After": f"{wait_s:.0f}"}


class EventResponse(Response):
    """Sends server-sent events until the client leaves; closes the generator in every case."""

    def __init__(self, events: AsyncGenerator[bytes]) -> None:
        super().__init__()
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""

        async def send_all() -> None:
            await send(
                {"type": "http.response.start", "status": 200, "headers": list(_EVENT_HEADERS)}
            )
            async for event in self._events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        try:
            await ended_with_client(send_all(), receive)
        finally:
            await self._events.aclose()


def event(data: object, name: str = "") -> bytes:
    """One server-sent event with a JSON value."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


# Shows clients and proxies that the answer is still being made.
KEEP_ALIVE = b": waiting\n\n"
LAST_EVENT = b"data: [DONE]\n\n"
