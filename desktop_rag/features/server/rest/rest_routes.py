"""The routes of the REST API, its OpenAPI document and page, and questions. The server's thread."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from importlib.metadata import version
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from desktop_rag.core.conversation import Conversation, Message, Role
from desktop_rag.core.errors import AppError, DiskError
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.answer_run import AnswerRun, FinishedRun
from desktop_rag.features.server.asked import Asked, message_of, with_instructions
from desktop_rag.features.server.model_names import COLLECTION, EVERYTHING
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import (
    KEEP_ALIVE,
    EventResponse,
    ended_with_client,
    event,
)
from desktop_rag.features.server.rest.collection_calls import (
    AccessCalls,
    CollectionCalls,
    PromptCalls,
)
from desktop_rag.features.server.rest.conversation_calls import ConversationCalls
from desktop_rag.features.server.rest.document_calls import DocumentCalls, StatusCalls
from desktop_rag.features.server.rest.model_calls import ModelCalls
from desktop_rag.features.server.rest.operation_table import RestCalls, operations
from desktop_rag.features.server.rest.readable_library import ReadableLibrary
from desktop_rag.features.server.rest.rest_answers import ErrorAnswer
from desktop_rag.features.server.rest.rest_forms import (
    Ask,
    Form,
    Given,
    Nothing,
    Operation,
    as_kind,
)
from desktop_rag.features.server.rest.search_calls import SearchCalls
from desktop_rag.features.server.rest.sending_calls import SendingCalls
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.wire_sources import annotations, extension

_Kind = TypeVar("_Kind", bound=Form)
_MOST_FAULTS = 5
_NOT_FOUND = 404


async def read_request(request: Request, operation: Operation) -> Given:
    """The path, query and body of a request; refuses what the operation does not declare."""
    path = _path(request.path_params, operation.path_form)
    query = checked_form(_query(request), operation.query)
    if operation.takes_file:
        return Given(path, query, Nothing(), await request.body())
    body = await _body(request) if operation.has_body else {}
    return Given(path, query, checked_form(body, operation.body, is_strict=True))


def checked_form(fields: Mapping[str, Any], form: type[_Kind], *, is_strict: bool = False) -> _Kind:
    """The fields as a value of the form; refuses them with all faults in words.

    `is_strict` converts nothing, such as "1" to 1; the values of a query are all texts.
    """
    try:
        return form.model_validate(fields, strict=is_strict)
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_input=False, include_context=False)
        said = [_in_words(error["type"], error["loc"], error["msg"]) for error in errors]
        names = [".".join(map(str, error["loc"])) for error in errors]
        code = "unknown_field" if errors[0]["type"] == "extra_forbidden" else "invalid_field"
        message = " ".join(said[:_MOST_FAULTS])
        raise Refusal(400, message, param=names[0] or None, code=code) from exc


def _in_words(kind: str, place: tuple[int | str, ...], said: str) -> str:
    name = ".".join(map(str, place))
    if kind == "extra_forbidden":
        return f"“{name}” is not known."
    return f"“{name}”: {said}." if name else f"{said}."


def _path(given: Mapping[str, Any], form: type[_Kind]) -> _Kind:
    try:
        return checked_form(_clean(given), form)
    except Refusal as refusal:
        # An invalid name names nothing.
        raise Refusal(_NOT_FOUND, refusal.message, param=refusal.param, code="not_found") from None


def _query(request: Request) -> dict[str, Any]:
    given = request.query_params.multi_items()
    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            said = f"“{name}” is given more than once."
            raise Refusal(400, said, param=name, code="invalid_field")
    return _clean(dict(given))


async def _body(request: Request) -> dict[str, Any]:
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip()
    content = await request.body()
    if kind.lower() != "application/json":
        raise Refusal(415, "The body must be application/json.", code="unsupported_media_type")
    try:
        found = _clean(json.loads(content, parse_constant=_refuse))
    except (ValueError, RecursionError) as exc:
        raise Refusal(400, "The body is not valid JSON.", code="invalid_json") from exc
    if not isinstance(found, dict):
        raise Refusal(400, "The body is not a JSON object.", code="invalid_json")
    return cast("dict[str, Any]", found)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _clean(value: Any) -> Any:  # noqa: ANN401  any JSON
    """The value; refuses texts that can't be stored: those with NUL or half a character."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            said = "A text has a character that can't be stored: NUL, or half a character."
            raise Refusal(400, said, code="invalid_text")
    elif isinstance(value, Mapping):
        for name, each in cast("Mapping[str, Any]", value).items():
            _clean(name)
            _clean(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            _clean(each)
    return value


STYLE = """\
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
summary { cursor: pointer; padding: .35rem 0; overflow-wrap: anywhere; }
details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
code, pre { font-family: ui-monospace, monospace; font-size: .9rem; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }
th { font-weight: 600; } td { overflow-wrap: anywhere; }
.muted { color: GrayText; }
"""
POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


def openapi_page(document: Mapping[str, Any]) -> str:
    """The page of the OpenAPI document: plain HTML of our own, all text escaped."""
    info, schemas = document["info"], document["components"]["schemas"]
    groups: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            [tag] = operation["tags"]
            groups[tag].append(_operation(method, path, operation))
    shown = "".join(
        f"<h2>{escape(tag.capitalize())}</h2>{''.join(found)}" for tag, found in groups.items()
    )
    forms = "".join(_schema(name, schema) for name, schema in sorted(schemas.items()))
    title = f"{escape(info['title'])} {escape(info['version'])}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/api/docs.css"></head><body>'
        f"<h1>{title}</h1><p>{_worded(info['description'])}</p>"
        '<p>For programs: <a href="/api/openapi.json">openapi.json</a></p>'
        f"<main>{shown}<h2>Forms</h2>{forms}</main></body></html>"
    )


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parts = [f"<p>{_worded(operation['description'])}</p>"]
    if operation["parameters"]:
        rows = "".join(
            _row(each["name"], each["schema"], each["in"], is_needed=each["required"])
            for each in operation["parameters"]
        )
        parts.append(_table("Parameter", rows))
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Body: {_type(content['schema'])} <code>{escape(kind)}</code></p>")
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            kinds = ", ".join(
                f"{_type(content.get('schema', {}))} <code>{escape(kind)}</code>"
                for kind, content in response["content"].items()
            )
            parts.append(f"<p>{escape(status)} {escape(response['description'])} {kinds}</p>")
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><span class="method">'
        f"{escape(method.upper())}</span> <code>{escape(path)}</code>"
        f' <span class="muted">{_worded(operation["summary"])}</span></summary>'
        f"{''.join(parts)}</details>"
    )


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", [])
    rows = "".join(
        _row(field, found, "", is_needed=field in needed)
        for field, found in schema.get("properties", {}).items()
    )
    said = _worded(schema.get("description", ""))
    return (
        f'<details id="form-{escape(name)}"><summary><code>{escape(name)}</code>'
        f' <span class="muted">{said}</span></summary>'
        f"{_table('Field', rows) if rows else ''}</details>"
    )


def _table(first: str, rows: str) -> str:
    return f"<table><tr><th>{first}</th><th>Type</th><th></th></tr>{rows}</table>"


def _row(name: str, schema: Mapping[str, Any], place: str, *, is_needed: bool) -> str:
    said = " ".join(filter(None, (place, "needed" if is_needed else "")))
    told = _worded(schema.get("description", ""))
    return (
        f"<tr><td><code>{escape(name)}</code></td><td>{_type(schema)}</td>"
        f'<td>{told} <span class="muted">{escape(said)}</span></td></tr>'
    )


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in a few words, with a link to a form of its own."""
    if reference := schema.get("$ref", ""):
        name = reference.rpartition("/")[2]
        return f'<a href="#form-{escape(name)}">{escape(name)}</a>'
    if kinds := schema.get("anyOf"):
        return " or ".join(_type(kind) for kind in kinds)
    if choices := schema.get("enum"):
        return ", ".join(f"<code>{escape(json.dumps(each))}</code>" for each in choices)
    kind = escape(str(schema.get("type", "anything")))
    return f"list of {_type(schema['items'])}" if "items" in schema else kind


def _worded(text: str) -> str:
    """A text whose parts in backquotes are code."""
    pieces = escape(" ".join(text.split())).split("`")
    return "".join(f"<code>{p}</code>" if n % 2 else p for n, p in enumerate(pieces))


PREFIX = "/api/v1"
_REF = "#/components/schemas/{model}"
_DESCRIPTION = (
    "The library on this computer: collections, documents, search, answers with their sources."
    " Every request needs a token: `Authorization: Bearer drag-…`. What a token may not read is"
    " answered as not existing. Indexing goes on after a request was answered with 202; the state"
    " of a document tells how far it is."
)
_ERRORS = {
    400: "The request is at fault.",
    401: "A valid token is needed.",
    403: "The token does not allow this.",
    404: "There is no such thing, or the token may not read it.",
    408: "The request came too slowly.",
    409: "It does not fit what there is.",
    413: "The request is too large.",
    415: "The body has another type.",
    421: "The server is not asked by that name.",
    429: "Too many requests.",
    502: "The endpoint of the model failed.",
    503: "Not possible now.",
}
_JSON = "application/json"
Model = type[BaseModel]
Refs = dict[tuple[Model, JsonSchemaMode], Any]


def openapi_document(operations: Sequence[Operation], version: str) -> dict[str, Any]:
    """The OpenAPI document of these operations."""
    refs, definitions = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = _described(operation, refs)
        paths.setdefault(PREFIX + operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "desktop-rag", "version": version, "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(each.tag for each in operations)],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas(operations: Iterable[Operation]) -> tuple[Refs, dict[str, Any]]:
    inputs: dict[Model, None] = {}
    outputs: dict[Model, None] = {ErrorAnswer: None}
    for operation in operations:
        inputs |= dict.fromkeys((operation.path_form, operation.query, operation.body))
        outputs[operation.answer] = None
    wanted: list[tuple[Model, JsonSchemaMode]] = [
        *((model, "validation") for model in inputs),
        *((model, "serialization") for model in outputs),
    ]
    refs, whole = models_json_schema(wanted, ref_template=_REF)
    return cast("Refs", refs), whole.get("$defs", {})


def _described(operation: Operation, refs: Refs) -> dict[str, Any]:
    said = f"Needs the scope “{operation.scope.value}”."
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": said,
        "parameters": [
            *_parameters(operation.path_form, "path"),
            *_parameters(operation.query, "query"),
        ],
        "responses": _responses(operation, refs),
    }
    if operation.takes_file:
        binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        described["requestBody"] = {"required": True, "content": binary}
    elif operation.has_body:
        schema = refs[operation.body, "validation"]
        described["requestBody"] = {"required": True, "content": {_JSON: {"schema": schema}}}
    return described


def _responses(operation: Operation, refs: Refs) -> dict[str, Any]:
    answered: dict[str, Any] = {_JSON: {"schema": refs[operation.answer, "serialization"]}}
    if operation.run is None:
        answered["text/event-stream"] = {}
    shown = {200: "Done.", 201: "Made.", 202: "Taken in; the work goes on."}
    responses: dict[str, Any] = {
        str(status): {"description": shown[status], "content": answered}
        for status in operation.statuses
    }
    error = {_JSON: {"schema": refs[ErrorAnswer, "serialization"]}}
    for status, words in _ERRORS.items():
        responses[str(status)] = {"description": words, "content": error}
    return responses


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


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """The response to one question. It is stored in the conversation `kept`, or in a new one."""

    run: AnswerRun
    conversations: ConversationCalls
    kept: Conversation | None = None
    begins_one: bool = False

    async def whole(self) -> dict[str, Any]:
        """The answer in one piece; refuses when it failed."""
        return await self._told(await self.run.finished())

    async def events(self) -> AsyncGenerator[bytes]:
        """`step` and `text` as they come, then `answer` or `error`; a whole stream has an `end`."""
        try:
            async with aclosing(self.run.pieces()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, FinishedRun):
                        yield event(await self._told(piece), "answer")
                    elif piece.step:
                        yield event({"step": piece.step}, "step")
                    else:
                        yield event({"text": piece.text}, "text") if piece.text else KEEP_ALIVE
            yield event({}, "end")
        except Refusal as refusal:
            yield event(refusal.to_json(), "error")

    async def _told(self, finished: FinishedRun) -> dict[str, Any]:
        message = finished.message
        kept = await self.run.workers.call(lambda: self._stored(message))
        told = extension(message, self.run.address)
        # The citations in the text as it is stored, which is the text here.
        found = [each for each in finished.citations if finished.text == message.text]
        return told | {
            "answer_id": message.message_id,
            "conversation_id": kept.conversation_id if kept else None,
            "model": self.run.asked.model,
            "annotations": annotations(found, self.run.address),
        }

    def _stored(self, answer: Message) -> Conversation | None:
        """Stores a question and its answer, if wanted; without an answer nothing is stored."""
        kept, question = self.kept, self.run.asked.messages[-1]
        if self.begins_one:
            kept = self.conversations.begun(self.run.asked.caller, "new", question.text)
        if kept is not None:
            self.conversations.store(kept, question, answer)
        return kept


class Asking:
    """Sets questions up."""

    def __init__(
        self, serving: Serving, readable: ReadableLibrary, conversations: ConversationCalls
    ) -> None:
        self._serving = serving
        self._readable = readable
        self._conversations = conversations

    def answer(self, caller: Caller, ask: Ask) -> RestAnswer:
        """The response to a question; worker threads. Refuses one that can't be asked."""
        serving = self._serving
        name = serving.names.find(self._model(caller, ask), caller)
        if ask.conversation is not None and ask.history:
            said = "A stored conversation has its own history."
            raise Refusal(400, said, param="history", code="invalid_field")
        kept = None
        if ask.conversation not in (None, "new"):
            kept = self._conversations.begun(caller, ask.conversation, ask.question)
        messages = self._messages(ask, kept, name.scope)
        setup = serving.names.set_up(name, caller)
        setup = replace(setup, reach=self._reach(caller, ask, setup.reach))
        asked = Asked(caller, name.name, messages, with_instructions(setup, [ask.instructions]))
        run = AnswerRun(
            asked, serving.answers, serving.workers, serving.links, is_streamed=ask.stream
        )
        return RestAnswer(run, self._conversations, kept, begins_one=ask.conversation == "new")

    def _model(self, caller: Caller, ask: Ask) -> str:
        if ask.collection_id is None:
            return ask.model or EVERYTHING
        if ask.model is not None:
            said = "A question is asked of a model or of a collection."
            raise Refusal(400, said, param="collection_id", code="invalid_field")
        return f"{COLLECTION}{self._readable.collection(caller, ask.collection_id).name}"

    def _reach(self, caller: Caller, ask: Ask, reach: SearchScope) -> SearchScope:
        """What is read: of what the model stands for, the part that the question names."""
        if ask.document_ids is None and ask.collection_ids is None:
            return reach
        if ask.document_ids is not None:
            reach = replace(reach, document_ids=tuple(ask.document_ids))
        if ask.collection_ids is not None:
            found = [self._readable.collection(caller, each) for each in ask.collection_ids]
            named = tuple(c.collection_id for c in found)
            if reach.collection_ids:
                named = tuple(each for each in named if each in reach.collection_ids)
            if not named:
                said = "The model reads other collections."
                raise Refusal(400, said, param="collection_ids", code="invalid_field")
            reach = replace(reach, collection_ids=named)
        return caller.reach(reach)

    def _messages(
        self, ask: Ask, kept: Conversation | None, scope: QuestionScope
    ) -> tuple[Message, ...]:
        if kept is not None:
            before = list(self._conversations.messages(kept.conversation_id))
        else:
            roles = {"user": Role.USER, "assistant": Role.ASSISTANT}
            before = [message_of(roles[turn.role], turn.content) for turn in ask.history]
        return (*before, message_of(Role.USER, ask.question, scope))


# Nobody reads the answer to a client that has left.
_CLIENT_LEFT = 499
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

        # Ids of applications may have slashes.
        routed = PREFIX + path.replace("{own_id}", "{own_id:path}")
        return Route(routed, handle, methods=list(handlers))

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
        ModelCalls(serving.verb_of),
    )


def _run(operation: Operation, caller: Caller, given: Given) -> tuple[int, dict[str, Any]]:
    """The status and body of an operation; the answer is what the document says it is."""
    assert operation.run is not None, "others are answered in a stream"
    try:
        result = operation.run(caller, given)
    except DiskError as error:
        raise Refusal.of_error(error, 503) from error
    except AppError as error:
        # Only the environment fails a GET; other requests may ask for something wrong.
        raise Refusal.of_error(error, 503 if operation.method == "GET" else 400) from error
    status, body = result if isinstance(result, tuple) else (operation.statuses[0], result)
    return status, operation.answer.model_validate(body).model_dump(mode="json")


def _longest_first(found: list[Operation]) -> list[str]:
    """The paths, fixed parts before those that take anything."""
    paths = dict.fromkeys(each.path for each in found)
    return sorted(paths, key=lambda path: ("{own_id}" in path, -path.count("/")))
