"""The input and output of an embedding endpoint: texts in parts, vectors from its answer.

Pure functions; they run on the calling thread.
"""

import base64
from typing import Any, cast

import numpy as np

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.client.refusals.error_body import is_error, server_message
from desktop_rag.models.ports import Vectors

_TOKEN_CHARS = 3
_LEAST_LENGTH = 1e-12
_MOST_DIMENSIONS = 16_384  # four times those of any known model


def parts_of(text: str, max_tokens: int) -> list[str]:
    """The text in parts of this many tokens by a rough count, split between words if possible."""
    longest = max_tokens * _TOKEN_CHARS
    parts: list[str] = []
    start = 0
    while len(text) - start > longest:
        middle, end = start + longest // 2, start + longest
        space = max(text.rfind(sign, middle, end) for sign in " \n")
        end = end if space < 0 else space + 1
        parts.append(text[start:end])
        start = end
    parts.append(text[start:])
    # A blank part has no meaning and must not affect the mean.
    return [part for part in parts if part.strip()] or [text[:longest]]


def unit(vectors: Vectors) -> Vectors:
    """Each row divided by its length."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, _LEAST_LENGTH)).astype(np.float32)


def read_vectors(body: object, count: int) -> Vectors:
    """Vectors of shape (count, dimensions), in the order of the texts; StreamError otherwise."""
    if is_error(body):
        raise StreamError(Fault.FAILED, *server_message(body))
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    rows = fields.get("data")
    if not isinstance(rows, list) or len(cast("list[Any]", rows)) != count:
        raise StreamError(Fault.UNREADABLE)
    try:
        by_index = {int(row.get("index", n)): row for n, row in enumerate(rows)}
        vectors = [_read_vector(by_index[n]["embedding"]) for n in range(count)]
        found = np.stack(vectors)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as exc:
        raise StreamError(Fault.UNREADABLE) from exc
    if found.ndim != 2 or not 0 < found.shape[1] <= _MOST_DIMENSIONS:  # noqa: PLR2004  rows of numbers
        raise StreamError(Fault.UNREADABLE)
    return found


def _read_vector(given: object) -> Vectors:
    if isinstance(given, str):  # some servers answer in base64 whatever was requested
        return np.frombuffer(base64.b64decode(given, validate=True), "<f4").astype(np.float32)
    return np.asarray(given, dtype=np.float32)
