"""A library that is served, with a scripted model behind it."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from desktop_rag.app import Services
from desktop_rag.core.settings import Settings
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenScope, new_token
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import TokenWish
from tests.conftest import services_over
from tests.indexed import GoldenLibraries, start
from tests.servers.chat_server import ChatServer

if TYPE_CHECKING:
    from openai import OpenAI

TEXTS = {
    "lamp.md": "# The lamp\n\nThe lamp of the lighthouse is lit at dusk by the keeper.",
    "care.md": "# Care\n\nThe lamp of the lighthouse is cleaned by the apprentice.",
    "ferry.md": "# Ferry\n\nThe ferry leaves at noon, and its deck is cleaned by the cook.",
}


@pytest.fixture(scope="module")
def one_library(
    tmp_path_factory: pytest.TempPathFactory, golden_libraries: GoldenLibraries
) -> Iterator[Services]:
    """Three documents for all tests of a file, which leave them as they are."""
    folder = tmp_path_factory.mktemp("served")
    golden_libraries.copy(TEXTS, folder / "home")
    with services_over(folder) as services:
        yield start(services)


@pytest.fixture
def indexed(request: pytest.FixtureRequest) -> Services:
    """Three documents: a test's own, unless it uses `one_library` and not `open_indexed`."""
    if "one_library" not in request.fixturenames or "open_indexed" in request.fixturenames:
        return request.getfixturevalue("open_indexed")(TEXTS)
    services: Services = request.getfixturevalue("one_library")
    # The tokens, rules and requests of the test before.
    shutil.rmtree(services.home.tokens.parent, ignore_errors=True)
    return services


@pytest.fixture
def endpoint(indexed: Services) -> Iterator[ChatServer]:
    """The model that answers."""
    with ChatServer("The lamp is lit at dusk [1].") as running:
        indexed.chat.apply(replace(Settings(), endpoint=running.endpoint(timeout_s=_PATIENCE_S)))
        yield running
        indexed.chat.apply(Settings())


@dataclass
class Server:
    """The served library, as a client on this computer sees it."""

    services: Services
    address: str

    def token(self, *scopes: TokenScope, collection_ids: tuple[str, ...] = (), rate: int = 0,
              origins: tuple[str, ...] = (), expires_at: float = 0.0) -> str:  # fmt: skip
        """The secret of a new token."""
        book = TokenBook(self.services.home.tokens)
        name = f"token {len(book.all())}"
        wish = TokenWish(name, scopes or (TokenScope.ASK,), collection_ids, origins, rate)
        token, secret = new_token(wish)
        book.add(replace(token, expires_at=expires_at))
        return secret

    def client(self, secret: str | None = None, **headers: str) -> httpx2.Client:
        """A client with this token, a new one by default; "" for none."""
        secret = self.token() if secret is None else secret
        given = {"authorization": f"Bearer {secret}"} if secret else {}
        return local_client(base_url=self.address, headers=given | headers)


# Long answers of a busy computer are no fault.
_PATIENCE_S = 60.0


def local_client(**options: Any) -> httpx2.Client:
    """A client for this computer; for others it would read all certificates first."""
    return httpx2.Client(trust_env=False, verify=False, timeout=_PATIENCE_S, **options)


Serve = Callable[..., Server]


@pytest.fixture
def serve(indexed: Services) -> Iterator[Serve]:
    """Starts the server with these settings."""

    def begin(**settings: object) -> Server:
        indexed.wing(ServerSwitch).hold({"port": 0} | settings)
        return Server(indexed, indexed.wing(ServerSwitch).address)

    yield begin
    indexed.wing(ServerSwitch).close()


@pytest.fixture
def server(serve: Serve) -> Server:
    """The server with its default settings."""
    return serve()


@pytest.fixture
def client(server: Server, endpoint: ChatServer) -> Iterator["OpenAI"]:
    """The client of OpenAI for the server."""
    from openai import OpenAI

    assert endpoint.models
    with OpenAI(
        base_url=f"{server.address}/v1", api_key=server.token(), max_retries=0,
        http_client=local_client(),
    ) as opened:  # fmt: skip
        yield opened
