"""The JavaScript client without a user interface: in node, and as a module in a page of others."""

import json
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest

from desktop_rag.features.server.access.access_tokens import TokenScope
from tests.browsing.browser import CHROMIUM, Browser
from tests.browsing.node import NODE, run_node
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer
from tests.servers.web_server import Served, WebServer

pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("one_library")]
needs_node = pytest.mark.skipif(not NODE, reason="needs node")
QUESTION = "When is the lamp of the lighthouse lit?"
IMPORT = """
globalThis.location = new URL("https://nowhere.example/");
const { Client, RequestError } = await import(`${web}/client.js`);
const client = new Client({ server: given.server, token: async () => given.token });
const events = [];
const failed = async (work) => {
  try { await work(); } catch (error) {
    return [error instanceof RequestError, error.status, error.code, error.retryAfter];
  }
};
"""


def client_of(server: Server, script: str, token: str | None = None, **given: object) -> Any:
    """What a script with a `client` of this server tells."""
    secret = server.token() if token is None else token
    return run_node(IMPORT + script, server=server.address, token=secret, **given)


@needs_node
def test_an_answer_is_a_loop_over_its_events(server: Server, endpoint: ChatServer) -> None:
    told = client_of(
        server,
        "for await (const event of client.ask(given.question)) events.push(event); told(events);",
        question=QUESTION,
    )
    assert list(dict.fromkeys(event["type"] for event in told))[:3] == ["sources", "text", "answer"]
    assert "".join(e["text"] for e in told if e["type"] == "text") == endpoint.answer
    assert told[-1]["claims"]
    assert told[0]["sources"][0]["url"].startswith(f"{server.address}/source/")


LEAVE = "for await (const { type } of client.ask(given.question)) if (type === 'text') break;"
ABORT = """
const abort = new AbortController();
try {
  for await (const { type } of client.ask(given.question, { signal: abort.signal }))
    if (type === "text") abort.abort();
} catch (error) { events.push(error.name); }
"""


@needs_node
@pytest.mark.parametrize(("script", "raised"), [(LEAVE, []), (ABORT, ["AbortError"])])
def test_leaving_the_loop_or_aborting_stops_the_answer(
    server: Server, endpoint: ChatServer, script: str, raised: list[str]
) -> None:
    endpoint.mode = "stall"

    def when_lost(send: Callable[[bytes], object], _released: Event) -> None:
        if endpoint.has_lost_client.wait(30):
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlost")

    with WebServer() as site:
        site.pages["/lost"] = Served(writes=when_lost)
        # The script lives on until the model has lost its client.
        end = "told([events, await (await fetch(given.lost)).text()]);"
        told = client_of(server, script + end, question=QUESTION, lost=site.url("/lost"))
    assert told == [raised, "lost"]


@needs_node
def test_a_failure_says_what_a_program_needs(server: Server, endpoint: ChatServer) -> None:
    ask = "const ask = async () => { for await (const _ of client.ask('lamp?')); };"
    wrong = client_of(server, ask + "told(await failed(ask));", token="drag-wrong")
    assert wrong[:4] == [True, 401, "invalid_api_key", 0]
    often = ask + "await ask(); told(await failed(ask));"
    refused = client_of(server, often, token=server.token(rate=1))
    assert refused[:2] == [True, 429]
    assert refused[3] >= 1
    away = ask + "client.server = 'http://127.0.0.1:1'; told(await failed(ask));"
    assert client_of(server, away)[1:3] == [0, "unreachable"]
    # A browser gives no answer to a page of an origin that is not allowed.
    foreign = (
        "const asked = fetch; globalThis.location = { origin: 'https://wiki.example' };"
        "globalThis.fetch = (address, { mode }) => mode === 'no-cors' ? asked(address)"
        " : Promise.reject(new TypeError('Failed to fetch'));"
    )
    assert client_of(server, foreign + ask + "told(await failed(ask));")[1:3] == [0, "wrong_origin"]
    assert client_of(server, foreign + away)[1:3] == [0, "unreachable"]
    unknown = "client.model = 'nobody';" + ask + "told(await failed(ask));"
    assert client_of(server, unknown)[1:3] == [404, "model_not_found"]
    assert endpoint.chats


@needs_node
def test_the_rest_of_the_server_is_asked_too(server: Server, endpoint: ChatServer) -> None:
    script = """
      const models = await client.models();
      const found = await client.search("lamp", { limit: 1 });
      const first = await client.feedback("like", { question: "Lit?", answer: "At dusk." });
      const then = await client.feedback("dislike", { answerId: first.answer_id });
      told({ models, found, first, then });
    """
    told = client_of(server, script, token=server.token(TokenScope.ASK, TokenScope.READ))
    assert told["models"][0] == {"id": "desktop-rag", "title": "All documents"}
    assert [each["title"] for each in told["found"]["results"]] == ["The lamp"]
    assert told["first"]["answer_id"] == told["then"]["answer_id"]
    history = server.services.chat.history
    assert [event.subject for event in history.feedback.newest_first()] == ["disliked", "liked"]
    assert len(history.programs.of()) == 1
    assert endpoint.models


@pytest.mark.slow
@needs_node
def test_the_token_of_the_person_goes_with_each_request_in_its_header(server: Server) -> None:
    with WebServer() as site:
        site.pages["/chat/models"] = Served('{"models": []}', "application/json")
        script = (
            "client.server = given.site; client.userToken = async () => 'signed';"
            "told(await client.models());"
        )
        assert client_of(server, script, site=site.url("").rstrip("/"), token="drag-page") == []
        [asked] = site.requests
    assert asked.headers["authorization"] == "Bearer drag-page"
    assert asked.headers["x-desktop-rag-user"] == "signed"
    assert asked.target == "/chat/models", "no secret in an address"


@pytest.fixture
def browser() -> Iterator[Browser]:
    with Browser() as running:
        yield running


@pytest.mark.skipif(not CHROMIUM, reason="needs chromium")
def test_a_page_of_others_loads_script_and_module_from_the_server(
    server: Server, endpoint: ChatServer, browser: Browser
) -> None:
    with WebServer() as site:
        origin = site.url("/").rstrip("/")
        given = {"server": server.address, "token": server.token(origins=(origin,))}
        policy = (
            f"default-src 'none'; script-src 'self' {server.address}; connect-src {server.address}"
        )
        page = (
            f'<!doctype html><title>x</title><script src="{server.address}/chat.js" defer></script>'
            '<script type="module" src="/own.js"></script><body>'
        )
        script = (
            f'import {{ Client }} from "{server.address}/client.js";'
            f"globalThis.client = new Client({json.dumps(given)});"
            "globalThis.events = [];"
            "for await (const { type } of client.ask('When is the lamp lit?')) events.push(type);"
            "globalThis.isOver = true;"
        )
        site.pages["/page"] = Served(page, headers={"Content-Security-Policy": policy})
        site.pages["/own.js"] = Served(script, "text/javascript")
        opened = browser.open(site.url("/page"))
        opened.wait("globalThis.isOver")
        assert opened.value("events.at(-1)") == "changed"
        # The script knows the server that it came from.
        assert opened.value("DesktopRag.init({ element: 'body' }).client.server") == server.address
        assert opened.complaints() == []
    assert endpoint.chats
