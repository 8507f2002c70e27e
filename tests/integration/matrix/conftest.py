"""A homeserver for the module, a library that is served, and a bot between them."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag.features.server.access.access_tokens import TokenScope
from tests.integration.serving.conftest import Server, endpoint, indexed, serve, server
from tests.servers.matrix_bot import MatrixBot
from tests.servers.synapse import Synapse

__all__ = ["endpoint", "indexed", "serve", "server"]

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def homeserver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synapse]:
    """Synapse, shared by the tests of a module; each has people of its own."""
    with Synapse(tmp_path_factory.mktemp("synapse")) as running:
        yield running


@pytest.fixture
def newcomer(homeserver: Synapse) -> Callable[[str], str]:
    """Registers somebody by a name that only this test has; returns the name."""

    def register(name: str) -> str:
        own = f"{name}{next(_numbers)}"
        homeserver.register(own)
        return own

    return register


@pytest.fixture
def make_bot(homeserver: Synapse, tmp_path: Path) -> Iterator[Callable[[Server], MatrixBot]]:
    """Makes a bot with an account and a token, not yet running and with no room on its list."""
    made: list[MatrixBot] = []

    def make(server: Server) -> MatrixBot:
        token = server.token(TokenScope.ASK, TokenScope.READ, TokenScope.WRITE)
        name = f"library{next(_numbers)}"
        made.append(MatrixBot(homeserver, name, tmp_path / "bot", server.address, token))
        return made[-1]

    yield make
    for bot in made:
        bot.stop()


@pytest.fixture
def bot(make_bot: Callable[[Server], MatrixBot], server: Server) -> MatrixBot:
    """A bot over the library."""
    return make_bot(server)
