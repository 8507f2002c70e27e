"""Finds the message and the codes in the body of an error, whatever its form. Pure.

{"error": {…}}   {"error": "…"}   {"detail": [{"msg": …}]}   [{"error": {…}}]   {"errors": […]}
{"base_resp": {"status_code": 1004, "status_msg": …}}   {"error": {"metadata": {"raw": "{…}"}}}
"""

import json
from collections.abc import Iterator
from typing import Any, cast

# In the order in which their texts are shown.
_MESSAGES = (
    "message", "msg", "detail", "error_description", "error_message", "errorMessage", "error_msg",
    "status_msg", "Message", "description", "title",
)  # fmt: skip
_INSIDE = (
    "error", "errors", "err", "fault", "base_resp", "response", "metadata", "raw", "innererror",
    "inner_error", "cause", "output", "choices",
)  # fmt: skip
_CODES = (
    "code", "type", "status", "reason", "__type", "error_code", "errorCode", "error_type",
    "status_code", "Code",
)  # fmt: skip
_MOST_ITEMS = 5
_DEEPEST = 8
_ENDS = (".", "!", "?", "。", ":")
_LONGEST_CODE_CHARS = 80
# Values of `code` and the like that report success.
_FINE = (None, "", 0, "0", 200, "200", "success", "Success", "ok", "OK")


def server_message(body: object) -> tuple[str, str]:
    """The messages of an error, joined, and its codes, separated by spaces."""
    said: list[str] = []
    codes: list[str] = []
    _collect(body, said, codes, 0)
    texts = list(dict.fromkeys(text.strip() for text in said if text.strip()))
    whole = [text for text in texts if not any(text in other for other in texts if other != text)]
    return _joined(whole), " ".join(dict.fromkeys(codes))


def parsed_body(content: bytes) -> object:
    """The JSON of a body, whatever its type, also if it is sent as events; else its text."""
    text = content.decode("utf-8", "replace").lstrip("\ufeff")
    parsed = _parsed(text)
    return text.strip() if parsed is None else parsed


def is_error(body: object) -> bool:
    """True when the body of a successful response, or an event of its stream, reports an error."""
    if isinstance(body, list):
        items = cast("list[object]", body)
        return bool(items) and is_error(items[0])
    if not isinstance(body, dict):
        return False
    fields = cast("dict[str, Any]", body)
    if any(fields.get(name) for name in ("error", "errors")):
        return True
    if _code_of(fields.get("base_resp")) not in _FINE:
        return True
    if choices := fields.get("choices"):
        first = cast("list[Any]", choices)[0] if isinstance(choices, list) else None
        return isinstance(first, dict) and bool(cast("dict[str, Any]", first).get("error"))
    if "error" in (fields.get("object"), fields.get("type")) or fields.get("success") is False:
        return True
    has_words = any(
        isinstance(fields.get(name), str | list) for name in ("message", "msg", "detail")
    )
    is_failure = any(fields.get(name) not in _FINE for name in ("code", "status_code", "status"))
    return "choices" not in fields and has_words and (is_failure or "detail" in fields)


def _code_of(value: object) -> object:
    return cast("dict[str, Any]", value).get("status_code") if isinstance(value, dict) else None


def _collect(value: object, said: list[str], codes: list[str], depth: int) -> None:
    if depth > _DEEPEST:
        return
    match value:
        case str():
            inner = _parsed(value)
            if inner is None:
                said.append(value)
            else:
                _collect(inner, said, codes, depth + 1)
        case list():
            for item in cast("list[object]", value)[:_MOST_ITEMS]:
                _collect(item, said, codes, depth + 1)
        case dict():
            fields = cast("dict[str, Any]", value)
            codes += _codes_in(fields)
            for name in (*_MESSAGES, *_INSIDE):
                if isinstance(inner := fields.get(name), str | list | dict):
                    _collect(cast("object", inner), said, codes, depth + 1)
        case _:
            return


def _codes_in(fields: dict[str, Any]) -> Iterator[str]:
    for name in _CODES:
        code = fields.get(name)
        if isinstance(code, str | int) and not isinstance(code, bool) and code not in _FINE:
            yield str(code)[:_LONGEST_CODE_CHARS]


def _parsed(text: str) -> object:
    """The JSON in a text, also if it is sent as events; None for any other text."""
    lines = text.lstrip("\ufeff \r\n\t").splitlines()
    data = [line.partition(":")[2] for line in lines if line.startswith(("data:", "error:"))]
    sent = data[0].strip() if data else text.lstrip("\ufeff \r\n\t")
    if not sent.startswith(("{", "[")):
        return None
    try:
        return json.loads(sent)
    except (ValueError, RecursionError):
        return None


def _joined(texts: list[str]) -> str:
    """The texts as sentences."""
    ended = [text if text.endswith(_ENDS) else f"{text}." for text in texts[:-1]]
    return " ".join([*ended, *texts[-1:]])
