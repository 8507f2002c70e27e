"""The local server under many clients, beside the same answers without it.

python benchmarks/serving/streams.py [--streams N] [--requests N]

A library of its own answers through a scripted endpoint on this computer, which pauses before its
first piece as a model does. First tokens of one stream and of many at once come over real HTTP. The
overhead is the time of an answer of many pieces over HTTP less that of `Chat.answer`, for each
piece. Prints a table and, on the last line, JSON; exit code 1 when a bar is missed.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from threading import Event

import httpx2
import psutil

from benchmarks.bars import Bar, at_most, reported, table
from desktop_rag.app import Services, build_services
from desktop_rag.core.conversation import Role
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import AnswerSettings, ServerSettings, Settings
from desktop_rag.serve.access.access_tokens import TokenScope, new_token
from desktop_rag.serve.access.token_book import TokenBook
from desktop_rag.serve.asked import message_of
from tests.servers.chat_server import ChatServer

_PAUSE_S = 0.5
_PIECES = 2_000
_QUESTION = "When is the lamp of the lighthouse lit?"
_TEXT = "The lamp of the lighthouse is lit at dusk by the keeper. " * 40
_MEGABYTE = 1 << 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--requests", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ChatServer("The lamp is lit [1].") as endpoint:
        services = built(Path(scratch), endpoint)
        try:
            bars = list(measured(services, endpoint, arguments.streams, arguments.requests))
        finally:
            services.close()
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


def built(scratch: Path, endpoint: ChatServer) -> Services:
    """The services over a small library, with the server on."""
    services = build_services(Home(scratch / "home"))
    (folder := scratch / "papers").mkdir()
    (folder / "lamp.md").write_text(_TEXT)
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(60)
    answers = AnswerSettings(suggests_questions=False)
    services.chat.apply(replace(Settings(), endpoint=endpoint.endpoint(), answers=answers))
    services.server.apply(ServerSettings(is_on=True, port=0))
    return services


def measured(services: Services, endpoint: ChatServer, streams: int, requests: int) -> "list[Bar]":
    """The figures with their limits."""
    token, secret = new_token("benchmark", [TokenScope.ASK], requests_per_minute=0)
    TokenBook(services.home.tokens).add(token)
    headers = {"authorization": f"Bearer {secret}"}
    address = services.server.address
    asyncio.run(first_tokens(address, headers, 3))  # loads what the first question needs
    endpoint.pause_s = _PAUSE_S
    alone = median(first for first, _ in asyncio.run(first_tokens(address, headers, 1)))
    together = asyncio.run(first_tokens(address, headers, streams))
    errors = sum(not is_whole for _, is_whole in together)
    endpoint.pause_s = 0.0
    overhead_ms = overhead(services, endpoint, address, headers)
    before, after = memory_over(address, headers, requests)
    return [
        reported("first token of one stream, s", alone),
        at_most(
            "first token of the median of many / one", 2.0, median(f for f, _ in together) / alone
        ),
        reported("first token of the slowest of many / one", max(f for f, _ in together) / alone),
        at_most("errors among many streams", 0, errors),
        at_most("overhead of a token, ms", 1.0, overhead_ms),
        reported(f"memory before {requests:,} requests, MB", before),
        at_most("memory after / before", 1.05, after / before),
    ]


async def first_tokens(
    address: str, headers: dict[str, str], streams: int
) -> list[tuple[float, bool]]:
    """Seconds to the first token of each stream, and whether it came to its end."""

    async def one(client: httpx2.AsyncClient) -> tuple[float, bool]:
        began, first, last = time.monotonic(), 0.0, ""
        async with client.stream("POST", "/v1/chat/completions", json=body(True)) as answer:
            async for line in answer.aiter_lines():
                if not first and '"content":"' in line and '"content":""' not in line:
                    first = time.monotonic() - began
                last = line or last
        return first, last == "data: [DONE]"

    limits = httpx2.Limits(max_connections=streams)
    async with httpx2.AsyncClient(
        base_url=address, headers=headers, timeout=120, limits=limits, trust_env=False
    ) as client:
        return await asyncio.gather(*(one(client) for _ in range(streams)))


def overhead(
    services: Services, endpoint: ChatServer, address: str, headers: dict[str, str]
) -> float:
    """Milliseconds that each piece of an answer takes longer over HTTP."""
    endpoint.answer = "word " * _PIECES
    endpoint.piece_chars = 5
    chat = services.chat
    began = time.monotonic()
    asked = [message_of(Role.USER, _QUESTION)]
    for _ in chat.answer(asked, chat.set_up(), cancel=Event()):
        pass
    inside = time.monotonic() - began
    began = time.monotonic()
    asyncio.run(first_tokens(address, headers, 1))
    return 1000 * (time.monotonic() - began - inside) / _PIECES


def memory_over(address: str, headers: dict[str, str], requests: int) -> tuple[float, float]:
    """Megabytes of this process after a tenth of the requests, and after all."""
    process, before = psutil.Process(), 0.0
    with httpx2.Client(base_url=address, headers=headers, trust_env=False) as client:
        for number in range(requests):
            if number == requests // 10:
                before = process.memory_info().rss / _MEGABYTE
            assert client.get("/v1/models").status_code == 200
    return before, process.memory_info().rss / _MEGABYTE


def body(is_streamed: bool) -> dict[str, object]:
    """A question to all documents."""
    messages = [{"role": "user", "content": _QUESTION}]
    return {"model": "desktop-rag", "messages": messages, "stream": is_streamed}


if __name__ == "__main__":
    main()
