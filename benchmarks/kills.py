"""Starts after kills: nothing acknowledged is lost, no document is half old and half new.

python benchmarks/kills.py [--kills N] [--seed N]

The app without its window runs in a process of its own and gets SIGKILL at random moments of
indexing, chatting, closing and its first creation. At each next start it must open, every message
that it had said to be stored must be in its chat and in order, and documents, chunks, postings and
vectors must agree. Bars: 0 failed starts, 0 faults.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bars import at_most, reported, table

from tests.driving.driven_app import AppFailedError
from tests.driving.killing import Killing
from tests.servers.chat_server import ChatServer

_PAUSE_S = 0.002


def main() -> int:
    """Print each fault when it is found, then the figures; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    began_at = time.monotonic()
    scratch_folder = tempfile.TemporaryDirectory(prefix="desktop-rag-kills-")
    with scratch_folder as scratch, ChatServer() as server:
        server.pause_s = _PAUSE_S
        killing = Killing(Path(scratch), arguments.seed, server)
        told = 0
        try:
            for number in range(arguments.kills):
                killing.kill(number)
                for line in killing.tally.faults[told:]:
                    print(line, flush=True)
                told = len(killing.tally.faults)
            killing.finish()
        except AppFailedError as error:
            killing.tally.faults.append(str(error))
        finally:
            killing.end()
    tally = killing.tally
    for line in tally.faults[told:]:
        print(line)
    print(f"seed {arguments.seed}, {time.monotonic() - began_at:.0f} s, kills: {tally.kills}")
    bars = [
        reported("starts", tally.starts),
        reported("acknowledged messages", tally.acknowledged),
        reported("messages that came from the journal", tally.restored),
        at_most("failed starts", 0, tally.failed_starts),
        at_most("faults", 0, len(tally.faults)),
    ]
    print("\n".join(table(bars)))
    return int(any(bar.is_met is False for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
