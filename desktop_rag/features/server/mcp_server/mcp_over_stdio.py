"""MCP over standard input and output, for programs that start a command. Its own process."""

import asyncio
from collections.abc import Callable
from importlib.metadata import version
from typing import Any
from urllib.parse import urlencode

from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.access_tokens import Token, TokenScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.library_calls import LibraryCalls
from desktop_rag.features.server.mcp_server.library_mcp import LibraryMCP
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.ingest.library import Library

# The person at this computer, whose own command reaches the library.
_PERSON = Caller(Token("", "", "", frozenset({TokenScope.ADMIN})))


def answer_call(chat: Chat, library: Library, name: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401  JSON
    """The result of a call by the person's own process. AppError for what can't be done."""
    try:
        return LibraryCalls(chat, library, _link).call(_PERSON, name, arguments)
    except Refusal as refusal:
        raise AppError(refusal.message) from refusal


def serve_stdio(run: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
    """Answer requests on standard input until it ends; `run` blocks for each call."""
    asyncio.run(LibraryMCP(run, version("desktop-rag")).run_stdio_async())


def _link(_caller: Caller, document_id: str, start: int, end: int) -> str:
    """The link that opens the passage in the app."""
    given = {"document": document_id} | ({"start": start, "end": end} if end else {})
    return f"desktop-rag://open?{urlencode(given)}"
