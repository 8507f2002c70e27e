"""Parses the list of models of an endpoint, in the shapes that servers use. Pure."""

from collections.abc import Iterator
from typing import Any, cast

from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

# The fields with the context length: vLLM, OpenRouter, Mistral, LM Studio, llama.cpp.
_LENGTHS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "max_context_length",
    "context_window",
    "n_ctx",
    "n_ctx_train",
)


def model_names(body: object) -> tuple[str, ...]:
    """The names, in their order.

    Raises:
        StreamError: when it is no list of models.
    """
    return tuple(dict.fromkeys(name for name, _ in _entries(body)))


def stated_tokens(body: object, model: str) -> int:
    """The context length that the list states for the model; 0 when it doesn't.

    Raises:
        StreamError: when it is no list of models.
    """
    for name, fields in _entries(body):
        if name == model:
            inner = fields.get("meta")
            described = fields | (cast("dict[str, Any]", inner) if isinstance(inner, dict) else {})
            said = (described.get(length) for length in _LENGTHS)
            return next((length for length in said if type(length) is int and length > 0), 0)
    return 0


def _entries(body: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """From `{"data": [{"id": …}]}`, `{"models": [{"name": …}]}` or the bare list."""
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {"data": body}
    entries = fields.get("data") or fields.get("models")
    if not isinstance(entries, list):
        raise StreamError(Fault.UNREADABLE)
    for entry in cast("list[Any]", entries):
        described = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"id": entry}
        name = described.get("id") or described.get("name")
        if isinstance(name, str) and name:
            yield strip_invalid_characters(name), described
