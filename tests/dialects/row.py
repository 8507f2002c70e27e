"""A row of the table of dialects: what a server sends, and what the person is to be told. Pure.

    Row("groq: no such model", refused(404, '{"error": {"message": "…"}}'), told="know the model")

A reply is exactly what goes over the wire, so that a row can be anything a server has ever done.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ANSWER = "The lamp is lit at dusk [1]."
KEY = "sk-canary-9d41c7e0b2"
JSON = "application/json"
EVENTS = "text/event-stream"
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Reply:
    """One response. Events are sent as chunks, one for each of the `parts`.

    It `breaks` when the connection ends without the end of the body, and `hangs` when it stays open
    after the last part, silent.
    """

    parts: tuple[bytes, ...] = ()
    status: int = 200
    kind: str = EVENTS
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    breaks: bool = False
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One dialect or failure.

    `replies` are for the first requests, and the last one for all others. `told` is a part of the
    title that the person reads, empty for a complete answer; `advice` a part of the hint, `says`
    the provider's own sentence in it, and `never` what it must not say. `text` is all of the answer
    that must have been kept. `notice` is a part of what the screen says during a wait: playing ends
    there unless another reply follows.
    """

    name: str
    replies: tuple[Reply, ...]
    told: str = ""
    says: str = ""
    advice: str = ""
    never: tuple[str, ...] = ()
    text: str = ""
    notice: str = ""
    source: str = ""
    timeout_s: float = 2.0

    @property
    def is_answered(self) -> bool:
        """True when the answer is complete, and nothing else is said."""
        return not self.told and (not self.notice or len(self.replies) > 1)


def event(fields: object) -> bytes:
    """A server-sent event."""
    return f"data: {json.dumps(fields)}\n\n".encode()


def delta(text: str = "", finish_reason: str | None = None, **more: object) -> bytes:
    """An event with a piece of an answer."""
    piece: dict[str, Any] = {**({"content": text} if text else {}), **more}
    return event({"choices": [{"index": 0, "delta": piece, "finish_reason": finish_reason}]})


def streamed(text: str = ANSWER, *last: bytes, finish_reason: str = "stop") -> Reply:
    """An answer in pieces, then these events; without any, the usual end."""
    half = len(text) // 2
    pieces = [delta(part) for part in (text[:half], text[half:]) if part]
    return Reply((*pieces, *(last or (delta(finish_reason=finish_reason), DONE))))


def whole(text: str = ANSWER, finish_reason: str = "stop", **more: object) -> bytes:
    """The body of an answer that is not streamed."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return json.dumps({"choices": [choice], **more}).encode()


def refused(status: int, body: object, **headers: str) -> Reply:
    """An error with this body, JSON unless it is text; underscores in headers become hyphens."""
    sent = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply((sent.encode(),), status, JSON, named)


OK = streamed()
