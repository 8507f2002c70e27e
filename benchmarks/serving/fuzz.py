"""The local server under random requests: no 500, and none that hangs.

python benchmarks/serving/fuzz.py [--requests N] [--seed N] [--threads N] [--minutes N]

A library of its own is served with tokens of all kinds; threads send requests of random methods,
paths, headers and bodies, most of them made from the server's OpenAPI document. A request that
promises a longer body than it sends is refused after 30 s by the server, and is not sent here.
Prints the statuses and, on the last line, JSON; exit code 1 when a bar is missed.
"""

import argparse
import json
import sys
import threading
import time
from collections import Counter
from urllib.parse import urlsplit

import httpx2

from benchmarks.bars import Bar, at_most, reported, table
from benchmarks.serving.small_library import LAMP, secret_for, served
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.services import ServerSwitch
from tests.driving.random_requests import Outcome, RandomRequests, Sender, noted_ids
from tests.servers.chat_server import ChatServer


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=120, help="end early, with what was sent")
    asked = parser.parse_args()
    with ChatServer("The lamp is lit [1].") as model, served(LAMP, model.endpoint()) as services:
        secrets = [secret_for(services, scope) for scope in TokenScope]
        # What reaches furthest is sent most.
        secrets += [secrets[-1]] * len(secrets)
        began_at = time.monotonic()
        outcomes = fuzzed(services.wing(ServerSwitch).address, secrets, asked)
        took_s = time.monotonic() - began_at
    statuses = sum((each.statuses for each in outcomes), Counter[int]())
    faults = [fault for each in outcomes for fault in each.faults]
    print("\n".join(faults[:20]))
    print(f"{sum(statuses.values()):,} requests in {took_s:.0f} s:", dict(sorted(statuses.items())))
    bars: list[Bar] = [
        reported("requests", sum(statuses.values())),
        at_most("responses of 500", 0, statuses[500]),
        at_most("requests without an answer", 0, len(faults) - statuses[500]),
    ]
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


def fuzzed(address: str, secrets: list[str], asked: argparse.Namespace) -> list[Outcome]:
    """What came back to each thread."""
    parts = urlsplit(address)
    place = (parts.hostname or "", parts.port or 0)
    document = httpx2.get(f"{address}/api/openapi.json", trust_env=False).json()
    ends_at = time.monotonic() + 60 * asked.minutes
    senders = [Sender(place) for _ in range(asked.threads)]

    def run(n: int, sender: Sender) -> None:
        requests = RandomRequests(asked.seed * 1000 + n, document, secrets, parts.netloc)
        for _ in range(asked.requests // asked.threads):
            if time.monotonic() > ends_at:
                break
            requests.ids += noted_ids(sender.send(requests.one()))
            del requests.ids[1:-200]
        sender.close()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [sender.outcome for sender in senders]


if __name__ == "__main__":
    main()
