"""Finds the limit, in tokens, that a server states when a request is too long. Pure.

Refusals name several numbers: the limit, what was sent, what was left for the answer. A comparison
("A > B") is believed first, then what stands beside words for a limit.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, cast

# 4096, 128,000, 128 000, 131'072, 128_000, 128k, 1M
_NUMBER = r"(\d{1,3}(?:[,.'_\u00a0\u202f\u2009 ]\d{3})+(?!\d)|\d+(?:\.\d+)?\s?[kKmM]\b|\d{2,9})"
_GAP = r"[^\d.;]{0,45}?"
# Every server says it in its own words; the comments name those whose words made the pattern.
_COMPARED = (
    # Anthropic: "prompt is too long: 208310 tokens > 200000 maximum",
    # "`max_tokens` exceed context limit: 198000 + 8192 > 200000"
    rf"\d\s*(?:tokens?\s*)?(?:>=?|≥)\s*{_NUMBER}",
    # DashScope: "Range of input length should be [1, 30720]"
    rf"[\[(]\s*\d+\s*,\s*{_NUMBER}\s*[\])]",
    # TGI: "`inputs` tokens + `max_new_tokens` must be <= 4096"
    rf"(?:<=?|≤)\s*{_NUMBER}",
)
_CONTEXT = (
    r"context[_ -]?(?:length|size|window|limit)s?\b"
    r"(?:\s*(?:of|is|was|:|=|\(|limit|only|the|model|tokens?|[\w./-]+'s))*"
)
_MOST_WORDS = (
    r"(?:max(?:imum)?|limit(?:ed)?|at most|up to|no more than|less than|fewer than|not exceed"
    r"|allow(?:s|ed)?|supports?|only|n_ctx|max_model_len|must be under|shorter than)"
)
_STATED = (
    # OpenAI, vLLM: "maximum context length is 8192 tokens"; llama.cpp: "context size (4096 tokens)"
    rf"{_CONTEXT}\W{{0,4}}{_NUMBER}",
    # Gemini: "maximum number of tokens allowed (1048576)"; Cohere: "cannot exceed 4081"
    rf"{_MOST_WORDS}{_GAP}{_NUMBER}",
    # SGLang: "is longer than the model's context length (4096 tokens)"; "exceeds 8192"
    rf"(?:exceed(?:s|ed|ing)?|longer|larger|greater|more|bigger|over|beyond|above){_GAP}{_NUMBER}",
    # Mistral: "too large for model with 32768 maximum context"; "the 8192 token limit"
    rf"{_NUMBER}[- ]?(?:tokens?)?\s*(?:maximum|max\b|limit|context|window|is the (?:max|limit))",
    # Chinese servers
    rf"(?:最大|最多|上限|不超过|限制)[^\d。]{{0,20}}{_NUMBER}",
)
# A number after one of these is what was sent, whatever stands before it.
_SENT = re.compile(
    r"(?:\bby|requested|resulted in|given|got|received|sent|contains?|has|have|had|your (?:prompt"
    r"|input|messages?|request)[^\d]{0,20}|n_prompt_tokens|used|count(?: is| of|:)?|actual)\W{0,12}"
    r"(?:about |approximately |at least |a total of |of |is )?$",
    re.IGNORECASE,
)
_SENT_AFTER = re.compile(
    r"\s*(?:tokens?\s*)?(?:(?:\(?in|from|of|for) (?:the |your )?(?:messages?|prompt|completion"
    r"|input|output|functions?|text)|were? (?:requested|given|sent|used))",
    re.IGNORECASE,
)
_CHARS = re.compile(r"\s*(?:char|字符|letters)", re.IGNORECASE)
_TOKEN_CHARS = 4
_FIELDS = frozenset({
    "n_ctx", "max_model_len", "max_context_length", "context_length", "max_input_tokens",
    "max_tokens_allowed", "context_window", "max_total_tokens", "limit_tokens",
})  # fmt: skip
_LEAST, _MOST = 64, 100_000_000
_DEEPEST = 6
# The words of a hostile server must not take long to match.
_LONGEST_TEXT_CHARS = 1_000


def limit_in(said: str, body: object = None) -> int:
    """The number of tokens stated in a field of the error's body or in its words; else 0."""
    if found := _in_fields(body, 0):
        return found
    said = said[:_LONGEST_TEXT_CHARS]
    for patterns in (_COMPARED, _STATED):
        stated = [limit for pattern in patterns for limit in _limits(pattern, said)]
        if stated:
            return min(stated)
    return 0


def tokens_in(number: str) -> int:
    """A number as written: with separators of thousands, or with k or M."""
    plain = number.strip()
    factor = {"k": 1_000, "m": 1_000_000}.get(plain[-1:].lower())
    if factor:
        return math.floor(float(plain[:-1]) * factor)
    return int(re.sub(r"\D", "", plain))


def _limits(pattern: str, said: str) -> Iterator[int]:
    for found in re.finditer(pattern, said, re.IGNORECASE):
        before, after = said[max(0, found.start(1) - 60) : found.start(1)], said[found.end(1) :]
        if _SENT.search(before) or _SENT_AFTER.match(after):
            continue
        limit = tokens_in(found[1])
        limit = limit // _TOKEN_CHARS if _CHARS.match(after) else limit
        if _LEAST <= limit <= _MOST:
            yield limit


def _in_fields(body: object, depth: int) -> int:
    if depth > _DEEPEST:
        return 0
    inner: list[object] = []
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        for name in sorted(_FIELDS & fields.keys()):
            value = fields[name]
            if type(value) is int and _LEAST <= value <= _MOST:
                return value
        inner = list(fields.values())
    elif isinstance(body, list):
        inner = cast("list[object]", body)
    return next((found for value in inner if (found := _in_fields(value, depth + 1))), 0)
