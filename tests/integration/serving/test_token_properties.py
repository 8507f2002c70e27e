"""What a token is limited to beside its scopes, and when it was used."""

from dataclasses import replace

import pytest

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenScope, TokenUses
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.library_calls import LibraryCalls
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.usefixtures("one_library")


def limit_to(server: Server, *models: str) -> None:
    """Limit the newest token to models with these keys."""
    book = TokenBook(server.services.home.tokens)
    book.change(book.all()[-1].token_id, lambda token: replace(token, models=models))


def asked(server: Server, secret: str) -> list[str]:
    """The names that a token may ask, without the embedding model."""
    with server.client(secret) as client:
        return [
            m["id"] for m in client.get("/v1/models").json()["data"] if m["name"] != "Embeddings"
        ]


@pytest.mark.slow
def test_a_token_asks_the_models_it_is_limited_to(server: Server, endpoint: ChatServer) -> None:
    added = server.services.chat.assistants.add(Assistant("", "Harbour"))
    secret = server.token()
    assert asked(server, secret) == ["desktop-rag", "harbour", "collection:My documents"]
    limit_to(server, f"assistant:{added.assistant_id}", f"model:{endpoint.endpoint().model}")
    assert asked(server, secret) == ["harbour", endpoint.endpoint().model]
    server.services.chat.assistants.change(replace(added, name="Port"))
    assert asked(server, secret)[0] == "port", "renamed, it stays exposed"
    body = {"model": "desktop-rag", "messages": [{"role": "user", "content": "When?"}]}
    with server.client(secret) as client:
        assert client.post("/v1/chat/completions", json=body).status_code == 404


@pytest.mark.slow
def test_a_limited_token_is_no_way_around_by_mcp(server: Server) -> None:
    server.token(TokenScope.ASK)
    limit_to(server, "assistant:none")
    token = TokenBook(server.services.home.tokens).all()[-1]
    calls = LibraryCalls(server.services.chat, server.services.library, lambda *_: "")
    with pytest.raises(AppError, match="may not ask"):
        calls.call(Caller(token), "ask", {"question": "When is the lamp lit?"})


@pytest.mark.slow
def test_the_last_use_of_a_token_is_noted(server: Server) -> None:
    uses = TokenUses(server.services.home.token_uses)
    secret = server.token()
    assert not uses.all()
    asked(server, secret)
    (token,) = TokenBook(server.services.home.tokens).all()
    assert list(uses.all()) == [token.token_id]


@pytest.mark.slow
def test_a_stored_token_without_models_is_not_limited(server: Server) -> None:
    secret = server.token()
    path = server.services.home.tokens
    path.write_text(path.read_text().replace('"models": []', '"unknown": 1'))
    assert "desktop-rag" in asked(server, secret)
