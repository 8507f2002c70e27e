"""A library that is served, with a scripted model behind it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import httpx2
import pytest

from desktop_rag.app import Services
from desktop_rag.core.settings import ServerSettings, Settings
from desktop_rag.features.server.access.access_tokens import TokenScope, new_token
from desktop_rag.features.server.access.token_book import TokenBook
from desktop_rag.features.server.services import ServerServices
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

TEXTS = {
    "lamp.md": "# The lamp\n\nThe lamp of the lighthouse is lit at dusk by the keeper.",
    "care.md": "# Care\n\nThe lamp of the lighthouse is cleaned by the apprentice.",
    "ferry.md": "# Ferry\n\nThe ferry leaves at noon, and its deck is cleaned by the cook.",
}


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    """Three documents."""
    return open_indexed(TEXTS)


@pytest.fixture
def endpoint(indexed: Services) -> Iterator[ChatServer]:
    """The model that answers."""
    with ChatServer("The lamp is lit at dusk [1].") as running:
        indexed.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        yield running


@dataclass
class Server:
    """The served library, as a client on this computer sees it."""

    services: Services
    address: str

    def token(self, *scopes: TokenScope, collection_ids: tuple[str, ...] = (), rate: int = 0,
              origins: tuple[str, ...] = (), expires_at: float = 0.0) -> str:  # fmt: skip
        """The secret of a new token."""
        book = TokenBook(self.services.home.tokens)
        token, secret = new_token(
            f"token {len(book.all())}",
            scopes or (TokenScope.ASK,),
            collection_ids=collection_ids,
            origins=origins,
            requests_per_minute=rate,
            expires_at=expires_at,
        )
        book.add(token)
        return secret

    def client(self, secret: str | None = None, **headers: str) -> httpx2.Client:
        """A client with this token, a new one by default; "" for none."""
        secret = self.token() if secret is None else secret
        given = {"authorization": f"Bearer {secret}"} if secret else {}
        return httpx2.Client(base_url=self.address, headers=given | headers, trust_env=False)


Serve = Callable[..., Server]


@pytest.fixture
def serve(indexed: Services) -> Iterator[Serve]:
    """Starts the server with these settings."""

    def start(**settings: object) -> Server:
        changed = replace(ServerSettings(is_on=True, port=0), **settings)  # type: ignore[arg-type]
        indexed.wing(ServerServices).switch.apply(changed)
        return Server(indexed, indexed.wing(ServerServices).switch.address)

    yield start
    indexed.wing(ServerServices).switch.close()


@pytest.fixture
def server(serve: Serve) -> Server:
    """The server with its default settings."""
    return serve()
