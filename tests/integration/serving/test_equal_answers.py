"""A program gets the answers of the window: the benchmark that compares them, for few questions."""

import pytest

from benchmarks.serving.equal_answers import measured, scripted
from desktop_rag.app import Services
from tests.integration.serving.conftest import Serve
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow


def test_answers_through_the_server_equal_those_of_the_window(
    serve: Serve, endpoint: ChatServer, indexed: Services
) -> None:
    endpoint.answer_to = scripted
    serve()
    bars = {bar.name: bar for bar in measured(indexed, 3)}
    assert bars["answers with citations"].figure == 3
    compared = [bar for bar in bars.values() if bar.is_met is not None]
    assert len(compared) == 4
    assert all(bar.is_met for bar in compared), compared
