"""R-01, R-24: SIGKILL at random moments; `benchmarks/kills.py` does it two hundred times."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.driving.killing import Killing
from tests.servers.chat_server import ChatServer

_SEED = 20
# One of each kind: indexing, chatting, closing, creating.
_KINDS = 4


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        server.pause_s = 0.002
        yield server


@pytest.mark.timeout(240)
def test_r01_r24_no_kill_costs_a_message_or_a_start(tmp_path: Path, server: ChatServer) -> None:
    killing = Killing(tmp_path, _SEED, server)
    try:
        for number in range(_KINDS):
            killing.kill(number)
        killing.finish()
    finally:
        killing.end()
    assert killing.tally.faults == []
    assert killing.tally.failed_starts == 0
    assert killing.tally.acknowledged > 0
    assert sum(killing.tally.kills.values()) == _KINDS
