"""Operations of the server's APIs: each is declared once, as a method with `@operation`.

Its parameters are what a request has: `body` and `query` are forms, `content` the bytes of a file,
the others parts of the path. Routes, checks, rights, refusals and the OpenAPI document come from
that. Requests are read on the server's thread; the methods run on workers.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Protocol, Self, TypeVar, cast, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from desktop_rag.core.errors import AppError, DiskError
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.answer_run import AnswerRun
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import EventResponse, ended_with_client
from desktop_rag.features.server.serving import Serving

API = "/api/v1"
ASK, READ, WRITE, ADMIN = TokenScope.ASK, TokenScope.READ, TokenScope.WRITE, TokenScope.ADMIN
_JSON = "application/json"
_MOST_FAULTS = 5
# Nobody reads the answer to a client that has left.
_CLIENT_LEFT = 499
_CODES = {
    400: "invalid_request", 401: "invalid_api_key", 403: "not_allowed", 404: "not_found",
    409: "conflict", 502: "answer_failed", 503: "unavailable",
}  # fmt: skip
_PART = re.compile(r"{(\w+)(?::path)?}")


class Form(BaseModel):
    """What a request has. Fields that are not declared are refused."""

    model_config = ConfigDict(extra="forbid")
    # False for the APIs of others, whose clients send what they like.
    is_strict: ClassVar[bool] = True

    @classmethod
    def checked(cls, fields: Mapping[str, Any], *, is_strict: bool = False) -> Self:
        """The fields as a value of the form; refuses them with all faults in words.

        `is_strict` converts nothing, such as "1" to 1; the values of a query are all texts.
        """
        try:
            return cls.model_validate(fields, strict=is_strict)
        except ValidationError as exc:
            errors = exc.errors(include_url=False, include_input=False, include_context=False)
            said = [_in_words(error["type"], error["loc"], error["msg"]) for error in errors]
            name = ".".join(map(str, errors[0]["loc"]))
            code = "unknown_field" if errors[0]["type"] == "extra_forbidden" else "invalid_field"
            message = " ".join(said[:_MOST_FAULTS])
            raise Refusal(400, message, param=name or None, code=code) from exc

    @classmethod
    def read(cls, content: bytes, kind: str) -> Self:
        """The form in a body of a content type; refuses what is no JSON object."""
        if cls.is_strict and kind != _JSON:
            raise Refusal(415, "The body must be application/json.", code="unsupported_media_type")
        try:
            found = json.loads(content, parse_constant=_refuse)
            found = _storable(found) if cls.is_strict else found
        except (ValueError, RecursionError) as exc:
            raise Refusal(400, "The body is not valid JSON.", code="invalid_json") from exc
        if not isinstance(found, dict):
            raise Refusal(400, "The body is not a JSON object.", code="invalid_json")
        return cls.checked(cast("dict[str, Any]", found), is_strict=cls.is_strict)


class Answered(BaseModel):
    """What is answered. What is not declared can't be."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def of(cls, subject: object, **given: object) -> Self:
        """The answer with the `given` fields, and the others as the subject has them."""
        names = [name for name in cls.model_fields if name not in given]
        return cls.model_validate({name: getattr(subject, name) for name in names} | given)


class AnswerOnWay(Protocol):
    """An answer to a question, whole or as it grows."""

    @property
    def run(self) -> AnswerRun:
        """What makes it."""
        ...

    def whole(self) -> Coroutine[None, None, dict[str, Any]]:
        """The answer in one piece; refuses when it failed."""
        ...

    def events(self) -> AsyncGenerator[bytes]:
        """The answer as server-sent events."""
        ...


_Call = TypeVar("_Call", bound=Callable[..., Any])


def operation(
    route: str, scope: TokenScope, *statuses: int, answer: type[Answered] | None = None
) -> Callable[[_Call], _Call]:
    """Declares a method: its `route`, as `GET path/{part}`, and who may call it.

    A path without a slash before it is below `/api/v1`. The first line of the docstring says what
    the operation does. `statuses` are those of success, the usual one first; the method returns its
    answer, or another of these with it. `answer` is what one ends as that is still on its way.
    """

    def declared(call: _Call) -> _Call:
        method, _, path = route.partition(" ")
        path = path if path.startswith("/") else f"{API}/{path}"
        vars(call)["declared"] = (method, path, scope, statuses or (200,), answer)
        return call

    return declared


@dataclass(frozen=True, slots=True)
class Operation:
    """What may be asked, by whom, and how it is answered. Without a `query` none is looked at."""

    method: str
    path: str
    scope: TokenScope
    statuses: tuple[int, ...]
    call: Callable[..., Any]
    answer: Any
    parts: type[Form]
    query: type[Form] | None
    body: type[Form] | None
    takes_file: bool
    is_streamed: bool

    @classmethod
    def of(cls, call: Callable[..., Any]) -> Self:
        """The operation that a method declares."""
        method, path, scope, statuses, answer = call.declared  # pyright: ignore[reportFunctionMemberAccess]
        kinds = get_type_hints(call, include_extras=True)
        fields: dict[str, Any] = {name: (kinds[name], ...) for name in _PART.findall(path)}
        parts = create_model("Parts", __base__=Form, **fields)
        # Either the answer, or a tuple of a status and the answer.
        returned = (get_args(kinds["return"]) or (kinds["return"],))[-1]
        query = kinds.get("query", Form if path.startswith(API) else None)
        return cls(method, path, scope, statuses, call, answer or returned, parts, query,
                   kinds.get("body"), "content" in kinds, answer is not None)  # fmt: skip

    @property
    def name(self) -> str:
        """The name by which clients call it."""
        return self.call.__name__

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return (self.call.__doc__ or "").partition("\n")[0]

    async def arguments(self, request: Request) -> dict[str, Any]:
        """What the method gets of a request; refuses what the operation does not declare."""
        given = dict(self._parts_in(request))
        if self.query:
            query = self.query.checked(_query_of(request))
            given |= {"query": query} if self.query is not Form else {}
        if self.takes_file:
            given["content"] = await request.body()
        elif self.body:
            kind = request.headers.get("content-type", _JSON).partition(";")[0].strip().lower()
            given["body"] = self.body.read(await request.body(), kind)
        return given

    def _parts_in(self, request: Request) -> Form:
        try:
            return self.parts.checked(_storable(request.path_params))
        except Refusal as refusal:
            # An invalid name names nothing.
            raise Refusal(404, refusal.message, param=refusal.param, code="not_found") from None

    async def answered(self, serving: Serving, request: Request) -> Response:
        """The response to a request of somebody who may ask."""
        caller = await serving.caller(request, self.scope)
        run = partial(self._run, caller, await self.arguments(request))
        status, answer = await serving.workers.call(run)
        if isinstance(answer, Response):
            return answer
        if isinstance(answer, dict | list):
            return JSONResponse(answer, status)
        on_way: AnswerOnWay = answer
        if on_way.run.is_streamed:
            return EventResponse(on_way.events())
        whole = await ended_with_client(on_way.whole(), request.receive)
        return JSONResponse(whole) if whole else Response(status_code=_CLIENT_LEFT)

    def _run(self, caller: Caller, given: dict[str, Any]) -> tuple[int, Any]:
        try:
            result = self.call(caller, **given)
        except AppError as error:
            # Only the environment fails a GET; other requests may ask for something wrong.
            is_asked = self.method != "GET" and self.path.startswith(API)
            status = 400 if is_asked and not isinstance(error, DiskError) else 503
            raise Refusal.of_error(error, status) from error
        status, answer = result if isinstance(result, tuple) else (self.statuses[0], result)
        told = answer.model_dump(mode="json") if isinstance(answer, Answered) else answer
        return status, told


def operations_of(*subjects: object) -> list[Operation]:
    """All that the methods of these declare, in their order."""
    return [
        Operation.of(getattr(subject, name))
        for subject in subjects
        for name, member in vars(type(subject)).items()
        if hasattr(member, "declared")
    ]


def routes_of(serving: Serving, operations: Sequence[Operation]) -> list[Route]:
    """A route for each path, those with fixed parts before those that take anything."""
    paths = dict.fromkeys(each.path for each in operations)
    ordered = sorted(paths, key=lambda path: (":path" in path, -path.count("/")))
    return [_route(serving, [e for e in operations if e.path == path]) for path in ordered]


def _route(serving: Serving, operations: Sequence[Operation]) -> Route:
    """The route of all operations on a path, so that the others are known to be refused."""
    by_method = {each.method: each for each in operations}

    async def handle(request: Request) -> Response:
        # A HEAD is a GET whose body is not sent.
        asked = by_method["GET" if request.method == "HEAD" else request.method]
        try:
            return await asked.answered(serving, request)
        except Refusal as refusal:
            if asked.path.startswith(API):
                refusal.code = refusal.code or _CODES.get(refusal.status)
            raise

    return Route(operations[0].path, handle, methods=list(by_method))


def _in_words(kind: str, place: tuple[int | str, ...], said: str) -> str:
    name = ".".join(map(str, place))
    if kind == "extra_forbidden":
        return f"“{name}” is not known."
    return f"“{name}”: {said}." if name else f"{said}."


def _query_of(request: Request) -> dict[str, Any]:
    given = request.query_params.multi_items()
    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            said = f"“{name}” is given more than once."
            raise Refusal(400, said, param=name, code="invalid_field")
    return _storable(dict(given))


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _storable(value: Any) -> Any:  # noqa: ANN401  any JSON
    """The value; refuses texts that can't be stored: those with NUL or half a character."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            said = "A text has a character that can't be stored: NUL, or half a character."
            raise Refusal(400, said, code="invalid_text")
    elif isinstance(value, Mapping):
        for name, each in cast("Mapping[str, Any]", value).items():
            _storable(name)
            _storable(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            _storable(each)
    return value


LARGEST = 2**53

Name = Annotated[str, Field(min_length=1, max_length=200)]
OwnId = Annotated[
    str, Field(min_length=1, max_length=512, description="The id in the application.")
]
Application = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=r"\S",
        description="The name of the application, as the window shows it. Ids are its own.",
    ),
]
Language = Annotated[str, Field(pattern=r"^([a-z]{2})?$", description="Two letters, as `en`.")]
Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
Value = Annotated[str, Field(max_length=2000)] | bool | Whole | Number
Key = Annotated[str, Field(min_length=1, max_length=100)]
Metadata = Annotated[
    dict[Key, Value], Field(max_length=50, description="What the application wants to filter by.")
]
Id = Annotated[str, Field(min_length=1, max_length=100)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=1000)]
Offset = Annotated[int, Field(ge=0, le=10_000_000)]
Format = Annotated[str, Field(max_length=50)]
Title = Annotated[str, Field(max_length=1000)]
Question = Annotated[str, Field(min_length=1, max_length=50_000, pattern=r"\S")]

_Row = TypeVar("_Row")


class Page(Form):
    """A part of a list."""

    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class Listed(Answered):
    """A part of a list, and where the next begins."""

    total: int
    next_offset: int | None


def page_of(rows: Sequence[_Row], page: Page) -> tuple[Sequence[_Row], int | None]:
    """The rows of a page, and where the next begins."""
    shown = rows[page.offset : page.offset + page.limit]
    end = page.offset + len(shown)
    return shown, end if shown and end < len(rows) else None


class DeletedAnswer(Answered):
    """The ids of what was deleted."""

    deleted: list[str]
