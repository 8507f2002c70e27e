"""Parses the list of models of an endpoint, in the shapes that servers use. Pure."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

from desktop_rag.core.domain import ListedModel
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.providers import USUAL_LIST, ListShape

# The fields with the context length: vLLM, OpenRouter, Mistral, LM Studio, llama.cpp.
_LENGTHS = (
    "loaded_context_length", "max_model_len", "context_length", "max_context_length",
    "context_window", "n_ctx", "n_ctx_train", "meta.n_ctx", "meta.n_ctx_train",
)  # fmt: skip
# Those of a server that was started with this length, whatever the model could read.
_RUNNING = ("loaded_context_length", "max_model_len", "n_ctx", "meta.n_ctx")
_NAMES = ("id", "name")
_DIGITS = 6


def listed_models(body: object, shape: ListShape = USUAL_LIST) -> tuple[ListedModel, ...]:
    """The models in their order, each once. StreamError when it is no list of models."""
    models: dict[str, ListedModel] = {}
    for name, fields in _entries(body, shape):
        models.setdefault(name, _described(name, fields, shape))
    return tuple(models.values())


def stated_tokens(body: object, model: str, shape: ListShape = USUAL_LIST) -> int:
    """The context length that the list states for the model; 0 when it doesn't.

    StreamError when it is no list of models.
    """
    stated = (m.context_tokens for m in listed_models(body, shape) if m.name == model)
    return next(stated, 0)


def running_tokens(body: object, model: str, shape: ListShape = USUAL_LIST) -> int:
    """The context length that the server was started with; 0 when the list doesn't state it.

    StreamError when it is no list of models.
    """
    for name, fields in _entries(body, shape):
        lengths = (_value_at(fields, path) for path in _RUNNING)
        if name == model:
            return next((n for n in lengths if type(n) is int and n > 0), 0)
    return 0


def known_tokens(model: str) -> int:
    """The context length of a model that is the same everywhere, by its name; 0 for any other."""
    plain = model.rpartition("/")[2].casefold()
    fitting = [name for name in _known_models() if plain.startswith(name)]
    return _known_models()[max(fitting, key=len)] if fitting else 0


@cache
def _known_models() -> Mapping[str, int]:
    path = resources_dir() / "endpoints" / "known_models.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))["context_tokens"]


def _described(name: str, fields: dict[str, Any], shape: ListShape) -> ListedModel:
    stated = (_value_at(fields, path) for path in (shape.context, *_LENGTHS))
    lengths = (length for length in stated if type(length) is int and length > 0)
    prices = (_price(_value_at(fields, path)) for path in (shape.price_in, shape.price_out))
    price_in, price_out = (None if p is None else round(p * shape.dollars, _DIGITS) for p in prices)
    return ListedModel(name, next(lengths, 0), price_in, price_out)


def _entries(body: object, shape: ListShape) -> Iterator[tuple[str, dict[str, Any]]]:
    """From `{"data": [{"id": …}]}`, `{"models": [{"name": …}]}` or the bare list."""
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {"data": body}
    entries = fields.get("data") or fields.get("models")
    if not isinstance(entries, list):
        raise StreamError(Fault.UNREADABLE)
    for entry in cast("list[Any]", entries):
        described = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"id": entry}
        names = (_value_at(described, path) for path in (shape.name, *_NAMES))
        name = next((name for name in names if isinstance(name, str) and name), "")
        if name:
            yield strip_invalid_characters(name), described


def _value_at(fields: object, path: str) -> object:
    """The value at `outer.inner`; None where there is none."""
    for name in path.split("."):
        fields = cast("dict[str, Any]", fields).get(name) if isinstance(fields, dict) else None
    return fields


def _price(value: object) -> float | None:
    """A price as a number or as text; below zero it depends on the request."""
    try:
        price = float(value) if isinstance(value, int | float | str) else -1.0
    except ValueError:
        return None
    return price if 0 <= price < float("inf") else None
