"""The MCP SDK's client finds, reads and asks, over HTTP and over standard input and output."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INVALID_PARAMS

from desktop_rag.app import Services
from desktop_rag.core.assistant import SavedPrompt
from desktop_rag.core.paths import Home
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.mcp_server.library_mcp import answer_call
from tests.command_line import answering
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.usefixtures("one_library")

QUESTION = "When is the lamp of the lighthouse lit?"
_T = TypeVar("_T")
Use = Callable[[Client], Awaitable[_T]]


def over_http(server: Server, use: "Use[_T]", secret: str = "") -> _T:
    """The result of using a client that has a token for everything."""
    token = secret or server.token(TokenScope.ADMIN)

    async def run() -> _T:
        headers = {"authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as http,
            Client(streamable_http_client(f"{server.address}/mcp", http_client=http)) as client,
        ):
            return await use(client)

    return asyncio.run(run())


async def called(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a tool, which its text repeats unless it is an answer."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    if name != "ask":
        assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    return result.structured_content


@pytest.mark.everyday
def test_search_and_fetch_have_the_shape_of_deep_research(server: Server) -> None:
    async def use(client: Client) -> None:
        found = await called(client, "search", query=QUESTION)
        first = found["results"][0]
        assert first.keys() == {"id", "title", "url"}
        assert found["passages"].startswith(f"[1] The lamp, The lamp: {first['url']}\n")
        assert "lit at dusk" in found["passages"].partition("[2]")[0]
        assert first["title"] == "The lamp"
        assert first["url"].startswith(server.address)
        whole = await called(client, "fetch", id=first["id"])
        assert whole.keys() == {"id", "title", "text", "url", "metadata"}
        assert "lit at dusk" in whole["text"]
        assert whole["url"]

    over_http(server, use)


@pytest.mark.slow
def test_the_steps_of_an_answer_are_told_as_progress(
    server: Server, endpoint: ChatServer, indexed: Services
) -> None:
    settings = indexed.chat.models.settings
    reader = replace(settings.endpoint, context_tokens=32_000)
    indexed.chat.apply(replace(settings, endpoint=reader))
    endpoint.turns_with_calls = [[("calculate", {"expression": "6 * 7"})]]
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def use(client: Client) -> None:
        result = await client.call_tool("ask", {"question": QUESTION}, progress_callback=hear)
        assert not result.is_error, result.content
        tools = (await client.list_tools()).tools
        [ask] = [tool for tool in tools if tool.name == "ask"]
        assert set(ask.input_schema["properties"]) == {"question", "collection", "assistant"}

    over_http(server, use)
    assert told == [(1, None, "Calculated 6 * 7 = 42")]


@pytest.mark.slow
def test_an_answer_has_numbered_sources_in_its_text(server: Server, endpoint: ChatServer) -> None:
    async def use(client: Client) -> None:
        result = await client.call_tool("ask", {"question": QUESTION})
        text = result.content[0].text  # type: ignore[union-attr]
        assert endpoint.answer in text
        assert "Sources:\n[1] The lamp, The lamp: http://" in text

    over_http(server, use)


@pytest.mark.slow
def test_documents_and_collections_are_listed(server: Server) -> None:
    async def use(client: Client) -> None:
        listed = await called(client, "list_documents")
        assert listed["total"] == 3
        collections = await called(client, "list_collections")
        assert sum(row["documents"] for row in collections["collections"]) == 3
        resources = (await client.list_resources()).resources
        assert len(resources) == 3
        read = await client.read_resource(str(resources[0].uri))
        assert read.contents[0].text  # type: ignore[union-attr]
        (template,) = (await client.list_resource_templates()).resource_templates
        made = template.uri_template.replace("{id}", listed["documents"][0]["id"])
        assert made in [str(resource.uri) for resource in resources]

    over_http(server, use)


@pytest.mark.usefixtures("open_indexed")
@pytest.mark.slow
def test_resources_come_in_pages_until_all_are_listed(server: Server, tmp_path: Path) -> None:
    folder, library = tmp_path / "many", server.services.library
    folder.mkdir()
    for n in range(230):
        (folder / f"{n:03}.md").write_text(f"# Paper {n}\n\nPaper {n} is kept here.")
    library.sources.add(folder)
    assert library.indexing.wait_until_searchable(60)

    async def use(client: Client) -> None:
        sizes: list[int] = []
        names: set[str] = set()
        page = await client.list_resources()
        while True:
            sizes.append(len(page.resources))
            names |= {str(resource.uri) for resource in page.resources}
            if page.next_cursor is None:
                break
            page = await client.list_resources(cursor=page.next_cursor)
        assert sizes == [100, 100, 33]
        assert len(names) == 233
        for wrong in ("-1", "one", "1e3", "9" * 30):
            with pytest.raises(MCPError) as refused:
                await client.list_resources(cursor=wrong)
            assert refused.value.error.code == INVALID_PARAMS
        # Documents that went meanwhile leave a page without any, and no next one.
        assert (await client.list_resources(cursor="5000")).resources == []

    over_http(server, use)


@pytest.mark.slow
def test_saved_prompts_are_prompts_with_arguments(server: Server) -> None:
    server.services.chat.prompts.save(SavedPrompt("letter", "Write to {{name}} about {{topic}}."))

    async def use(client: Client) -> None:
        prompts = {p.name: p for p in (await client.list_prompts()).prompts}
        assert [a.name for a in prompts["letter"].arguments or []] == ["name", "topic"]
        got = await client.get_prompt("letter", {"name": "the cook", "topic": "lunch"})
        assert got.messages[0].content.text == "Write to the cook about lunch."  # type: ignore[union-attr]

    over_http(server, use)


@pytest.mark.slow
def test_what_is_wrong_is_told_to_the_model(server: Server) -> None:
    async def use(client: Client) -> None:
        for name, arguments in (
            ("fetch", {"id": "nothing"}),
            ("search", {"query": "lamp", "collection": "Nowhere"}),
            ("ask", {"question": "lamp", "assistant": "Nobody"}),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert "There is no" in result.content[0].text  # type: ignore[union-attr]

    over_http(server, use)


@pytest.mark.slow
def test_what_the_client_got_wrong_is_an_error_of_the_protocol(server: Server) -> None:
    server.services.chat.prompts.save(SavedPrompt("note", "Write to {{name}}."))

    async def use(client: Client) -> None:
        for asked in (
            client.call_tool("rm", {}),
            client.get_prompt("nothing"),
            client.get_prompt("note"),
            client.read_resource("desktop-rag://document/nothing"),
        ):
            with pytest.raises(MCPError) as refused:
                await asked
            assert refused.value.code == INVALID_PARAMS

    over_http(server, use)


@pytest.mark.slow
def test_a_token_limits_what_is_found_and_done(server: Server) -> None:
    empty = server.services.library.collections.add("Empty")
    ids = (empty.collection_id,)
    secret = server.token(TokenScope.READ, collection_ids=ids)
    document_id = server.services.library.documents.all()[0].document_id

    async def use(client: Client) -> None:
        assert (await called(client, "search", query=QUESTION))["results"] == []
        assert (await called(client, "list_documents"))["total"] == 0
        assert (await called(client, "list_collections"))["collections"] == [
            {"name": "Empty", "documents": 0}
        ]
        assert (await client.call_tool("fetch", {"id": document_id})).is_error
        assert (await client.list_prompts()).prompts == []
        refused = await client.call_tool("ask", {"question": QUESTION})
        assert refused.is_error
        assert "does not allow" in refused.content[0].text  # type: ignore[union-attr]

    over_http(server, use, secret)


@pytest.mark.slow
def test_no_token_no_session(server: Server) -> None:
    with server.client("") as client:
        answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.status_code == 401


def over_stdio(home: Home, use: "Use[_T]") -> _T:
    """The result of using a client that started the command."""

    async def run() -> _T:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "desktop_rag", "mcp"],
            env={**os.environ, "DESKTOP_RAG_HOME": str(home.root)},
        )
        async with Client(stdio_client(command)) as client:
            return await use(client)

    return asyncio.run(run())


@pytest.mark.usefixtures("open_indexed")
@pytest.mark.slow
def test_over_standard_input_the_running_app_is_reached(indexed: Services) -> None:
    async def use(client: Client) -> None:
        found = await called(client, "search", query=QUESTION)
        assert found["results"][0]["url"].startswith("desktop-rag://open?document=")

    with answering(indexed):
        over_stdio(indexed.home, use)


@pytest.mark.slow
def test_over_standard_input_an_answer_is_inert(indexed: Services, endpoint: ChatServer) -> None:
    endpoint.answer = "The lamp ![](http://evil.example) is lit at dusk [1]."
    answer = answer_call(indexed.chat, indexed.library, "ask", {"question": QUESTION})
    assert "！[](http" in answer["answer"]


@pytest.mark.slow
def test_over_standard_input_the_library_is_opened_where_no_app_runs(tmp_path: Path) -> None:
    async def use(client: Client) -> None:
        assert (await called(client, "list_documents"))["documents"] == []

    over_stdio(Home(tmp_path / "other"), use)


@pytest.mark.slow
@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_foreign_page_reaches_no_tool(server: Server, origin: str) -> None:
    with server.client(server.token(TokenScope.ADMIN), origin=origin) as client:
        answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert answer.status_code == 403
