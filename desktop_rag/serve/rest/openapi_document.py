"""The OpenAPI document of the REST API, made of the table of its operations. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from desktop_rag.serve.rest.operation import Operation
from desktop_rag.serve.rest.rest_answers import ErrorAnswer
from desktop_rag.serve.rest.rest_forms import Form

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
    """The document for these operations."""
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
        plain = {key: value for key, value in field.items() if key != "anyOf"} | (
            kinds[0] if kinds else {}
        )
        if plain.get("default", "") is None:
            plain.pop("default")
        found.append(
            {"name": name, "in": place, "required": place == "path" or name in needed,
             "schema": plain}
        )  # fmt: skip
    return found
