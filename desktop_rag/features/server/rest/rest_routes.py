"""The routes of the REST API, its OpenAPI document and the page of it. The server's thread."""

from functools import cached_property
from importlib.metadata import version
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from desktop_rag.features.server.operations import Operation, operations_of, routes_of
from desktop_rag.features.server.readable_library import ReadableLibrary
from desktop_rag.features.server.rest.ask_calls import AskCalls
from desktop_rag.features.server.rest.collection_calls import (
    AccessCalls,
    CollectionCalls,
    PromptCalls,
)
from desktop_rag.features.server.rest.conversation_calls import ConversationCalls
from desktop_rag.features.server.rest.document_calls import DocumentCalls, StatusCalls
from desktop_rag.features.server.rest.model_calls import ModelCalls
from desktop_rag.features.server.rest.openapi import POLICY, STYLE, openapi_document, openapi_page
from desktop_rag.features.server.rest.search_calls import SearchCalls
from desktop_rag.features.server.rest.sending_calls import SendingCalls
from desktop_rag.features.server.serving import Serving


class RestRoutes:
    """Answers requests below `/api`."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._operations = rest_operations(serving)

    def routes(self) -> list[Route]:
        """A route for each operation, the document and its page."""
        return [
            Route("/api/openapi.json", self._document, methods=["GET"]),
            Route("/api/docs", self._page, methods=["GET"]),
            Route("/api/docs.css", self._style, methods=["GET"]),
            *routes_of(self._serving, self._operations),
        ]

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        return openapi_document(self._operations, version("desktop-rag"))

    async def _document(self, _request: Request) -> Response:
        return JSONResponse(self.document)

    async def _page(self, _request: Request) -> Response:
        headers = {"Content-Security-Policy": POLICY}
        return HTMLResponse(openapi_page(self.document), headers=headers)

    async def _style(self, _request: Request) -> Response:
        return PlainTextResponse(STYLE, media_type="text/css")


def rest_operations(serving: Serving) -> list[Operation]:
    """All operations below `/api/v1`."""
    chat, library, link = serving.chat, serving.library, serving.links.link
    readable = ReadableLibrary(library)
    documents = DocumentCalls(library, readable, link)
    conversations = ConversationCalls(chat, readable, link)
    return operations_of(
        CollectionCalls(library, readable),
        AccessCalls(serving.access_rules, readable),
        documents,
        SendingCalls(library, readable, documents),
        SearchCalls(chat, library, readable, documents, serving.chain, link),
        AskCalls(serving, readable, conversations),
        PromptCalls(chat),
        conversations,
        StatusCalls(library, readable),
        ModelCalls(serving.verb_of),
    )
