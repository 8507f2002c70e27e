"""Parses the context length from the errors for requests that are too long. Pure."""

import re
from typing import Any, cast

_NUMBER = r"(\d[\d,]{1,9})"
_IN_WORDS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "the available context size (4096 tokens)", "maximum context length is 4096 tokens"
        rf"context[_ ](?:length|size|window)\D{{0,30}}{_NUMBER}",
        rf"{_NUMBER} maximum context",
        rf"tokens? > {_NUMBER}",  # "prompt is too long: 208310 tokens > 200000 maximum"
        rf"maximum number of tokens allowed\D{{0,5}}{_NUMBER}",
        rf"must be <= {_NUMBER}",  # "`inputs` tokens + `max_new_tokens` must be <= 4096"
        rf"max[_ ]model[_ ]len\D{{0,10}}{_NUMBER}",
    )
)
_FIELDS = ("n_ctx", "max_model_len", "max_context_length", "context_length")
_LEAST, _MOST = 64, 100_000_000


def limit_in(said: str, body: object = None) -> int:
    """The number of tokens stated in the message or a field of the error's body; else 0."""
    inner = cast("dict[str, Any]", body).get("error") if isinstance(body, dict) else None
    for described in (inner, body):
        if isinstance(described, dict):
            fields = cast("dict[str, Any]", described)
            for name in _FIELDS:
                if _is_credible(value := fields.get(name)):
                    return cast("int", value)
    for pattern in _IN_WORDS:
        if found := pattern.search(said):
            value = int(found[1].replace(",", ""))
            return value if _is_credible(value) else 0
    return 0


def _is_credible(value: object) -> bool:
    return type(value) is int and _LEAST <= value <= _MOST
