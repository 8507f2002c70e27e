"""The routes of the REST API, its OpenAPI document and the page of it. The server's thread."""

from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from importlib.metadata import version
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from desktop_rag.core.errors import AppError, DiskFullError
from desktop_rag.serve.access.callers import Caller
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.responses import EventResponse
from desktop_rag.serve.rest.access_calls import AccessCalls
from desktop_rag.serve.rest.asking import Asking
from desktop_rag.serve.rest.collection_calls import CollectionCalls
from desktop_rag.serve.rest.conversation_calls import ConversationCalls
from desktop_rag.serve.rest.document_calls import DocumentCalls
from desktop_rag.serve.rest.openapi_document import PREFIX, openapi_document
from desktop_rag.serve.rest.openapi_page import POLICY, STYLE, openapi_page
from desktop_rag.serve.rest.operation import Given, Operation, as_kind
from desktop_rag.serve.rest.operation_table import RestCalls, operations
from desktop_rag.serve.rest.prompt_calls import PromptCalls
from desktop_rag.serve.rest.readable_library import ReadableLibrary
from desktop_rag.serve.rest.request_reading import read_request
from desktop_rag.serve.rest.rest_forms import Ask
from desktop_rag.serve.rest.search_calls import SearchCalls
from desktop_rag.serve.rest.sending_calls import SendingCalls
from desktop_rag.serve.rest.status_calls import StatusCalls
from desktop_rag.serve.serving import Serving
from desktop_rag.serve.waiting_for_end import ended_with_client

# Nobody reads the answer to a client that has left.
_CLIENT_LEFT = 499
# Ids of applications may have slashes.
_WITH_SLASHES = ("own_id",)
_CODES = {
    400: "invalid_request", 401: "invalid_api_key", 403: "not_allowed", 404: "not_found",
    409: "conflict", 502: "answer_failed", 503: "unavailable",
}  # fmt: skip
Handler = Callable[[Request], Awaitable[Response]]


class RestRoutes:
    """Answers requests below `/api`."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        readable = ReadableLibrary(serving.library)
        self.calls = rest_calls(serving, readable)
        self._asking = Asking(serving, readable, self.calls.conversations)
        self._operations = operations(self.calls)

    def routes(self) -> list[Route]:
        """A route for each operation, the document and its page."""
        return [
            Route("/api/openapi.json", self._document, methods=["GET"]),
            Route("/api/docs", self._page, methods=["GET"]),
            Route("/api/docs.css", self._style, methods=["GET"]),
            *(self._route(path) for path in _longest_first(self._operations)),
        ]

    def _route(self, path: str) -> Route:
        """The route of all operations on a path, so that the others are known to be refused."""
        handlers = {e.method: self._handler(e) for e in self._operations if e.path == path}

        async def handle(request: Request) -> Response:
            # A HEAD is a GET whose body is not sent.
            method = "GET" if request.method == "HEAD" else request.method
            return await handlers[method](request)

        return Route(_routed(path), handle, methods=list(handlers))

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

    def _handler(self, operation: Operation) -> Handler:
        async def handle(request: Request) -> Response:
            try:
                caller = await self._serving.caller(request, operation.scope)
                given = await read_request(request, operation)
                if operation.run is None:
                    return await self._ask(request, caller, as_kind(given.body, Ask))
                run = partial(_run, operation, caller, given)
                status, answered = await self._serving.workers.call(run)
            except Refusal as refusal:
                refusal.code = refusal.code or _CODES.get(refusal.status)
                raise
            return JSONResponse(answered, status)

        return handle

    async def _ask(self, request: Request, caller: Caller, ask: Ask) -> Response:
        set_up = partial(self._asking.answer, caller, ask)
        answer = await self._serving.workers.call(set_up)
        if ask.stream:
            return EventResponse(answer.events())
        whole = await ended_with_client(answer.whole(), request.receive)
        return JSONResponse(whole) if whole else Response(status_code=_CLIENT_LEFT)


def rest_calls(serving: Serving, readable: ReadableLibrary) -> RestCalls:
    """What the operations do."""
    chat, library, link = serving.chat, serving.library, serving.links.link
    documents = DocumentCalls(library, readable, link)
    return RestCalls(
        CollectionCalls(library, readable),
        AccessCalls(serving.access_rules, readable),
        documents,
        SendingCalls(library, readable, documents),
        SearchCalls(chat, library, readable, documents, serving.chain, link),
        PromptCalls(chat),
        ConversationCalls(chat, readable, link),
        StatusCalls(library, readable),
    )


def _run(operation: Operation, caller: Caller, given: Given) -> tuple[int, dict[str, Any]]:
    """The status and body of an operation; the answer is what the document says it is."""
    assert operation.run is not None, "others are answered in a stream"
    try:
        result = operation.run(caller, given)
    except DiskFullError as error:
        raise Refusal.of_error(error, 503) from error
    except AppError as error:
        # The environment fails in reading; what is asked for can be at fault in the rest.
        raise Refusal.of_error(error, 503 if operation.method == "GET" else 400) from error
    status, body = result if isinstance(result, tuple) else (operation.statuses[0], result)
    return status, operation.answer.model_validate(body).model_dump(mode="json")


def _routed(path: str) -> str:
    for name in _WITH_SLASHES:
        path = path.replace(f"{{{name}}}", f"{{{name}:path}}")
    return PREFIX + path


def _longest_first(found: list[Operation]) -> list[str]:
    """The paths, fixed parts before those that take anything."""
    paths = dict.fromkeys(each.path for each in found)
    return sorted(paths, key=lambda path: ("{own_id}" in path, -path.count("/")))
