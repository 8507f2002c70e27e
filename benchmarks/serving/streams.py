"""The local server under many clients.

python benchmarks/serving/streams.py [--streams N] [--requests N] [--documents N] [--waits S,S,…]

Server, endpoint and clients are processes of their own on this computer. Every stream asks another
question. The endpoint waits before its first piece as a model does, the same for one stream as for
many; a small wait makes the app's own work count for more, so several are measured. The overhead is
the time of an answer of many pieces over HTTP less that of `Chat.answer`, for each piece. Prints a
table, the load of the machine, and on the last line JSON; exit code 1 when a bar is missed.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil

from benchmarks.bars import Bar, at_most, reported, table
from benchmarks.serving.served_process import question

_HERE = Path(__file__).parent
_PIECES = 2_000
_ALONE = 5
_MEGABYTE = 1 << 20
_LIMIT_S = 300


class Served:
    """The server's process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        started = self._line()
        self.pid = process.pid
        self.address: str = started["address"]
        self.headers = {"authorization": f"Bearer {started['secret']}"}

    def do(self, **asked: str) -> Any:  # noqa: ANN401  JSON
        """What came of it."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> Any:  # noqa: ANN401  JSON
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--waits", default="0.5,1,2,5", help="seconds of the endpoint; '' for none")
    arguments = parser.parse_args()
    waits = [float(wait) for wait in arguments.waits.split(",") if wait]
    with running(arguments.documents) as server:
        bars = [
            *(bar for wait in waits for bar in streams(server, arguments.streams, wait)),
            at_most("overhead of a token, ms", 1.0, overhead(server)),
            *memory(server, arguments.requests),
        ]
    print("\n".join(table(bars)))
    print(f"load of the machine: {os.getloadavg()}, {os.cpu_count()} cores")
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


@contextmanager
def running(documents: int) -> Generator[Served]:
    """The endpoint and the server."""
    endpoint = subprocess.Popen(
        [sys.executable, str(_HERE / "scripted_endpoint.py")], stdout=subprocess.PIPE, text=True
    )
    assert endpoint.stdout
    command = [sys.executable, "-m", "benchmarks.serving.served_process"]
    port = endpoint.stdout.readline().strip()
    with subprocess.Popen(
        [*command, port, str(documents)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=_HERE.parents[1],
    ) as process:  # fmt: skip
        try:
            yield Served(process)
        finally:
            if process.stdin:
                process.stdin.close()
            process.wait(60)
            endpoint.kill()
            endpoint.wait()


def streams(server: Served, count: int, wait_s: float) -> list[Bar]:
    """The first tokens of one stream and of many, with an endpoint that waits so long."""
    server.do(model=f"wait-{wait_s * 1000:.0f}-pieces-20")
    asyncio.run(first_tokens(server, [count]))
    alone = median(asyncio.run(first_tokens(server, [count + n]))[0][0] for n in range(_ALONE))
    cpu = psutil.Process(server.pid).cpu_times()
    together = asyncio.run(first_tokens(server, range(count)))
    after = psutil.Process(server.pid).cpu_times()
    used = after.user + after.system - cpu.user - cpu.system
    first = sorted(seconds for seconds, _ in together)
    name = f"endpoint waits {wait_s:g} s: "
    return [
        reported(f"{name}first token of one stream, s", alone),
        at_most(f"{name}{count} streams, median / one", 2.0, median(first) / alone),
        reported(f"{name}{count} streams, 95th of a hundred / one",
                 first[len(first) * 94 // 100] / alone),
        reported(f"{name}{count} streams, slowest / one", first[-1] / alone),
        reported(f"{name}processor time of the server for a stream, ms", 1000 * used / count),
        at_most(f"{name}errors", 0, sum(not is_whole for _, is_whole in together)),
    ]  # fmt: skip


async def first_tokens(server: Served, numbers: Sequence[int]) -> list[tuple[float, bool]]:
    """Seconds from the request to the first token of each stream, and whether it was whole."""
    return await asyncio.gather(*(stream(server, question(number)) for number in numbers))


async def stream(server: Served, asked: str) -> tuple[float, bool]:
    """The same of one stream. Without an HTTP library, which would cost more than the server."""
    host, _, port = server.address.removeprefix("http://").rpartition(":")
    content = json.dumps({"model": "desktop-rag", "stream": True,
                          "messages": [{"role": "user", "content": asked}]}).encode()  # fmt: skip
    head = "\r\n".join(
        ["POST /v1/chat/completions HTTP/1.1", f"Host: {host}:{port}", "Connection: close",
         f"Content-Length: {len(content)}", f"Authorization: {server.headers['authorization']}",
         "", ""]
    )  # fmt: skip
    began, first, last = time.monotonic(), 0.0, b""
    async with asyncio.timeout(_LIMIT_S):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(head.encode() + content)
        while line := await reader.readline():
            if not first and b'"content":"' in line and b'"content":""' not in line:
                first = time.monotonic() - began
            last = line if line.startswith(b"data:") else last
        writer.close()
    return first, bool(first) and last.strip() == b"data: [DONE]"


def overhead(server: Served) -> float:
    """Milliseconds that each piece of an answer takes longer over HTTP; the median of several."""
    server.do(model=f"wait-0-pieces-{_PIECES}")
    longer: list[float] = []
    for number in range(_ALONE):
        inside = server.do(inside=question(number))
        began = time.monotonic()
        asyncio.run(first_tokens(server, [number]))
        longer.append(1000 * (time.monotonic() - began - inside) / _PIECES)
    return median(longer)


def memory(server: Served, requests: int) -> list[Bar]:
    """Memory of the server's process after each tenth of the requests, and what it has grown by
    since the first; every hundredth request is a question.
    """
    server.do(model="wait-0-pieces-20")
    process, sizes = psutil.Process(server.pid), list[float]()
    with httpx2.Client(base_url=server.address, headers=server.headers, trust_env=False) as client:
        for number in range(requests):
            if number and number % max(1, requests // 10) == 0:
                sizes.append(process.memory_info().rss / _MEGABYTE)
            if number % 100 == 0:
                asyncio.run(first_tokens(server, [number]))
            else:
                assert client.get("/v1/models").status_code == 200
    sizes.append(process.memory_info().rss / _MEGABYTE)
    return [
        *(
            reported(f"memory after {n * requests // 10:,} requests, MB", size)
            for n, size in enumerate(sizes, 1)
        ),
        at_most(f"memory after {requests:,} requests / the first", 1.05, sizes[-1] / sizes[0]),
    ]


if __name__ == "__main__":
    main()
