"""Two users of another application against the local server: nothing of the other's is ever told.

python benchmarks/serving/rights.py [--requests N] [--seed N] [--threads N] [--documents N]

The application runs in a process of its own: it signs the users' tokens and says what they may
read. Requests of all APIs come with good tokens, none, and forged, expired, foreign, replayed and
unsigned ones. Prints the statuses and, on the last line, JSON; exit code 1 when a bar is missed.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from benchmarks.bars import at_least, at_most, reported, table
from benchmarks.serving.small_library import served
from tests.driving.two_users import OPEN, Seen, TwoUsers, protect, told_in, write_secrets
from tests.servers.chat_server import ChatServer
from tests.servers.rights_app import RightsProcess

# No word is cut in two.
_WHOLE = 100_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--documents", type=int, default=24, help="of each user")
    asked = parser.parse_args()
    began_at = time.monotonic()
    seen = measured(asked)
    statuses = sum((each.statuses for each in seen), Counter[tuple[str, int]]())
    leaks = [leak for each in seen for leak in each.leaks]
    unanswered = [each for one in seen for each in one.unanswered]
    print("\n".join((*leaks[:20], *unanswered[:20])))
    print(f"{statuses.total():,} requests in {time.monotonic() - began_at:.0f} s")
    for (who, status), count in sorted(statuses.items()):
        print(f"  {who:<10} {status}  {count:,}")
    bars = [
        reported("requests", statuses.total()),
        at_most("answers with words of somebody else", 0, len(leaks)),
        at_least("answers with words of one's own", 1, sum(each.own for each in seen)),
        at_most("requests without an answer", 0, len(unanswered)),
        at_most("responses of 500", 0, sum(n for (_, s), n in statuses.items() if s == 500)),
    ]
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


def measured(asked: argparse.Namespace) -> list[Seen]:
    """What each thread saw."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        ChatServer() as model,
        served({"canteen.md": OPEN}, model.endpoint()) as services,
    ):
        model.answer_to = told_in
        model.piece_chars = _WHOLE
        (keys := Path(scratch) / "keys").mkdir()
        write_secrets(Path(scratch) / "people", asked.documents)
        with RightsProcess(keys) as app:
            protect(services, Path(scratch) / "people", app)
            users = [TwoUsers(services, app, asked.seed * 1000 + n) for n in range(asked.threads)]
            threads = [
                threading.Thread(target=_send, args=(each, asked.requests // asked.threads))
                for each in users
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return [user.seen for user in users]


def _send(user: TwoUsers, requests: int) -> None:
    for _ in range(requests):
        user.send()
    user.close()


if __name__ == "__main__":
    main()
