"""The routes of the REST API, its OpenAPI document and the page of it. The server's thread."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from importlib.metadata import version
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from desktop_rag.features.server.html_writer import Html, document, joined, tag
from desktop_rag.features.server.operations import API, Form, Operation, operations_of, routes_of
from desktop_rag.features.server.readable_library import ReadableLibrary
from desktop_rag.features.server.responses import text_route, web_file
from desktop_rag.features.server.rest.assistant_calls import (
    AssistantCalls,
    EndpointCalls,
    ModelCalls,
    SettingCalls,
)
from desktop_rag.features.server.rest.collection_calls import (
    AccessCalls,
    CollectionCalls,
    PromptCalls,
)
from desktop_rag.features.server.rest.conversation_calls import AskCalls, ConversationCalls
from desktop_rag.features.server.rest.document_calls import DocumentCalls, SearchCalls, StatusCalls
from desktop_rag.features.server.rest.sending_calls import SendingCalls
from desktop_rag.features.server.serving import Serving

POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


def openapi_page(described: Mapping[str, Any]) -> Html:
    """The page of the OpenAPI document."""
    info, schemas = described["info"], described["components"]["schemas"]
    groups: dict[str, list[Html]] = {each["name"]: [] for each in described["tags"]}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            groups[operation["tags"][0]].append(_operation(method, path, operation))
    shown = [(tag("h2", name.capitalize()), *found) for name, found in groups.items()]
    forms = [_schema(*each) for each in sorted(schemas.items())]
    title = f"{info['title']} {info['version']}"
    body = tag(
        "body",
        tag("h1", title),
        tag("p", _worded(info["description"])),
        tag("p", "For programs: ", tag("a", "openapi.json", href="/api/openapi.json")),
        tag("main", *shown, tag("h2", "Forms"), forms),
    )
    return document(f"{title}: API", body, stylesheet="/api/docs.css")


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Html:
    name = tag("span", method.upper(), class_="method")
    said = tag("span", _worded(operation["summary"]), class_="muted")
    told = {key: operation[key] for key in ("parameters", "requestBody") if operation.get(key)}
    done = {s: each for s, each in operation["responses"].items() if s.startswith("2")}
    return tag(
        "details",
        tag("summary", name, " ", tag("code", path), " ", said),
        tag("p", _worded(operation["description"])),
        _as_json(told | {"responses": done}),
        id=operation["operationId"],
    )


def _schema(name: str, schema: Mapping[str, Any]) -> Html:
    said = tag("span", _worded(schema.get("description", "")), class_="muted")
    summary = tag("summary", tag("code", name), " ", said)
    return tag("details", summary, _as_json(schema.get("properties", {})), id=f"form-{name}")


def _as_json(described: Mapping[str, Any]) -> Html:
    return tag("pre", json.dumps(described, ensure_ascii=False, indent=1))


def _worded(text: str) -> Html:
    """A text whose parts in backquotes are code."""
    pieces = " ".join(text.split()).split("`")
    return joined(*(tag("code", piece) if n % 2 else piece for n, piece in enumerate(pieces)))


class ErrorDetail(BaseModel):
    """Why a request was not answered; `param` names the field at fault."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorAnswer(BaseModel):
    """The one form of errors."""

    error: ErrorDetail


_REF = "#/components/schemas/{model}"
_DESCRIPTION = (
    "The library on this computer: collections, documents, search, answers with their sources."
    " Every request needs a token: `Authorization: Bearer drag-…`. What a token may not read is"
    " answered as not existing. Indexing goes on after a request was answered with 202; the state"
    " of a document tells how far it is."
)
_DONE = {200: "Done.", 201: "Made.", 202: "Taken in; the work goes on."}
_JSON = "application/json"
_FILE = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
Model = type[BaseModel]
Refs = Mapping[tuple[Model, JsonSchemaMode], Any]


def openapi_document(operations: Sequence[Operation], version: str) -> dict[str, Any]:
    """The OpenAPI document of these operations."""
    wanted = dict.fromkeys(each for operation in operations for each in _models(operation))
    found, whole = models_json_schema([*wanted, (ErrorAnswer, "serialization")], ref_template=_REF)
    refs = cast("Refs", found)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = operation.path.replace(":path}", "}")
        paths.setdefault(path, {})[operation.method.lower()] = _described(operation, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "desktop-rag", "version": version, "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [{"name": name} for name in dict.fromkeys(map(_tag, operations))],
        "paths": paths,
        "components": {
            "schemas": whole.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _models(operation: Operation) -> Iterator[tuple[Model, JsonSchemaMode]]:
    for form in (operation.query, operation.body):
        if form not in (None, Form):
            yield form, "validation"
    yield operation.answer, "serialization"


def _tag(operation: Operation) -> str:
    """The group that it is shown in: the first part of its path."""
    return operation.path.removeprefix(f"{API}/").partition("/")[0]


def _described(operation: Operation, refs: Refs) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [_tag(operation)],
        "summary": operation.summary,
        "description": f"Needs the scope “{operation.scope.value}”.",
        "parameters": [
            *_parameters(operation.parts, "path"),
            *_parameters(operation.query or Form, "query"),
        ],
        "responses": _responses(operation, refs),
    }
    if operation.takes_file:
        described["requestBody"] = {"required": True, "content": _FILE}
    elif operation.body:
        content = {_JSON: {"schema": refs[operation.body, "validation"]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _responses(operation: Operation, refs: Refs) -> dict[str, Any]:
    answered: dict[str, Any] = {_JSON: {"schema": refs[operation.answer, "serialization"]}}
    if operation.is_streamed:
        answered["text/event-stream"] = {}
    error = {_JSON: {"schema": refs[ErrorAnswer, "serialization"]}}
    done: dict[str, Any] = {
        str(status): {"description": _DONE[status], "content": answered}
        for status in operation.statuses
    }
    return done | {"default": {"description": "Not done: the message says why.", "content": error}}


def _parameters(form: type[Form], place: str) -> list[dict[str, Any]]:
    schema = form.model_json_schema()
    needed = schema.get("required", [])
    found: list[dict[str, Any]] = []
    for name, field in schema.get("properties", {}).items():
        kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
        plain = {key: value for key, value in field.items() if key != "anyOf"}
        plain |= kinds[0] if kinds else {}
        if plain.get("default", "") is None:
            plain.pop("default")
        is_needed = place == "path" or name in needed
        found.append({"name": name, "in": place, "required": is_needed, "schema": plain})
    return found


class RestRoutes:
    """Answers requests below `/api`."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._operations = rest_operations(serving)

    def routes(self) -> list[Route]:
        """A route for each operation, the document and its page."""
        return [
            Route("/api/openapi.json", self._document, methods=["GET"]),
            text_route(
                "/api/docs",
                lambda: openapi_page(self.document),
                "text/html",
                {"Content-Security-Policy": POLICY},
            ),
            text_route("/api/docs.css", partial(web_file, "api.css"), "text/css"),
            *routes_of(self._serving, self._operations),
        ]

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        return openapi_document(self._operations, version("desktop-rag"))

    async def _document(self, _request: Request) -> Response:
        return JSONResponse(self.document)


def rest_operations(serving: Serving) -> list[Operation]:
    """All operations below `/api/v1`."""
    chat, library, link = serving.chat, serving.library, serving.links.link
    readable = ReadableLibrary(library)
    conversations = ConversationCalls(chat, library, link)
    return operations_of(
        CollectionCalls(chat, library, link),
        AccessCalls(serving.access_rules, readable),
        DocumentCalls(chat, library, link),
        SendingCalls(chat, library, link),
        SearchCalls(chat, library, link, serving.chain),
        AskCalls(serving, readable, conversations),
        AssistantCalls(chat, library, link),
        PromptCalls(chat, library, link),
        conversations,
        StatusCalls(chat, library, link),
        EndpointCalls(serving.endpoints),
        SettingCalls(serving.endpoints),
        ModelCalls(serving.verb_of),
    )
