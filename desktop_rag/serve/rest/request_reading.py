"""The parts of a request, checked against their declarations. The server's thread.

Every fault of a request is a refusal that names the field; no text gets in that the library can't
store.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from starlette.requests import Request

from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.rest.operation import Given, Operation
from desktop_rag.serve.rest.rest_forms import Form, Nothing

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

    `is_strict` takes no number for a text and the like, which in a query is all there is.
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
        # What can't be a name is not there.
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
