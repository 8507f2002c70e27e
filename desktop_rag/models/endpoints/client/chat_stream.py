"""Parses the stream of a chat completion: bytes to events, events to parts of the answer. Pure.

Input is bounded and parsed defensively: a server may be broken or hostile.
"""

import codecs
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.client.refusals.refusal_kinds import (
    is_error,
    parsed_body,
    server_message,
)

DONE = "done"


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


# The reasons for the end of an answer, from the references of OpenAI, Anthropic, Google (Gemini),
# Mistral, Cohere, DeepSeek, Zhipu, Tencent, Baidu, IBM watsonx and Amazon Bedrock, and from the
# sources of vLLM, SGLang, TGI, llama.cpp, Ollama and LM Studio.
_WHOLE = _set_of(
    "stop done end eos eos_token eos_found eod eot stop_sequence stop_token end_turn"
    " end_of_text end_of_sequence complete completed finish finished success normal"
)
_TOO_LONG = _set_of(
    "length max_tokens max_token max_length max_new_tokens max_output_tokens model_length"
    " length_limit error_limit token_limit token_limit_reached context_length"
    " context_length_exceeded context_length_reached context_window_exceeded"
    " max_predicted_tokens_reached model_context_window_exceeded incomplete limit"
    " max_completion_tokens"
)
_WITHHELD = _set_of(
    "content_filter content_filtered content_policy safety image_safety recitation blocklist"
    " prohibited_content spii error_toxic toxic refusal sensitive guardrail guardrails"
    " guardrail_intervened moderation policy language blocked harmful"
)
_TOOLS = _set_of(
    "tool_calls tool_call tool_use function_call function_calls unexpected_tool_call"
    " malformed_function_call too_many_tool_calls pause_turn"
)
_BROKEN = _set_of(
    "error abort aborted cancel cancelled canceled user_cancel user_stopped timeout time_limit"
    " insufficient_system_resource network_error server_error internal_error overloaded"
    " preempted not_finished failed model_error disconnect"
)
# Sent by some servers in every event while there is no reason yet.
_NO_REASON = frozenset({"null", "none", "unspecified", "not_finished_yet"})
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_SHOWN_CHARS = 60


def reason_in(written: str) -> str:
    """The reason in one spelling, `max_tokens` for `MAX_TOKENS`, `max-tokens` and `maxTokens`.

    "" while the answer goes on.
    """
    plain = _HUMP.sub("_", written.strip()).replace("-", "_").replace(" ", "_").lower()
    plain = plain.removeprefix("finish_reason_").removeprefix("stop_reason_")
    return "" if plain in _NO_REASON else plain


def check_ending(reason: str, *, has_answer: bool, has_calls: bool = False) -> None:
    """Check that an answer that ended with this reason is whole; it may end with tool calls.

    StreamError when it is not, or for an unknown reason: a cut answer must not look complete.
    """
    if not reason:
        raise StreamError(Fault.CUT)
    if reason in _WITHHELD:
        raise StreamError(Fault.FILTERED)
    if reason in _TOO_LONG:
        raise StreamError(Fault.UNFINISHED)
    shown = reason[:_LONGEST_SHOWN_CHARS]
    if reason in _BROKEN:
        raise StreamError(Fault.BROKEN_OFF, shown)
    if has_calls:
        return
    if not has_answer:
        said = "It tries to use a tool." if reason in _TOOLS else ""
        raise StreamError(Fault.EMPTY, said)
    if reason not in _WHOLE:
        raise StreamError(Fault.ODD_ENDING, shown)


def is_whole(reason: str) -> bool:
    """True for a reason that ends a whole answer."""
    return reason in _WHOLE


# Bytes that are no UTF-8, as the decoder of events passes them on.
_BYTES = re.compile("[\udc80-\udcff]")


class MessageRepairs:
    """Repairs the messages of one stream before they are parsed.

    A character split over two events, as halves or as bytes, is joined, and a last event that
    repeats the whole answer beside its delta adds nothing.
    """

    def __init__(self) -> None:
        self._half = ""
        self._has_content = False

    def repair(self, event: object) -> None:
        """Change the event in place."""
        choice = _first_choice(event)
        if choice is None:
            return
        if self._has_content:
            choice.pop("message", None)
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._join_halves(cast("dict[str, Any]", delta))
        if choice.get("finish_reason") is not None and _BYTES.match(self._half):
            # Its other bytes will not come.
            self._half = ""
            ending = cast("dict[str, Any]", choice.setdefault("delta", {}))
            ending["content"] = (ending.get("content") or "") + "\N{REPLACEMENT CHARACTER}"

    def _join_halves(self, delta: dict[str, Any]) -> None:
        content = delta.get("content")
        if not isinstance(content, str) or not content:
            return
        self._has_content = True
        content, self._half = self._half + content, ""
        if "\ud800" <= content[-1] <= "\udbff":
            content, self._half = content[:-1], content[-1]
        # The parser removes a lone half of a character.
        halves = content.encode("utf-16-le", "surrogatepass")
        delta["content"] = self._joined_bytes(halves.decode("utf-16-le", "surrogatepass"))

    def _joined_bytes(self, content: str) -> str:
        """The text with the bytes of split characters joined; those of an unfinished one wait."""
        try:
            raw = content.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return content
        if raw.isascii() or not _BYTES.search(content):
            return content
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(raw)
        self._half = decoder.getstate()[0].decode("utf-8", "surrogateescape")
        return text


def _first_choice(event: object) -> dict[str, Any] | None:
    choices = cast("dict[str, Any]", event).get("choices") if isinstance(event, dict) else None
    first = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
    return cast("dict[str, Any]", first) if isinstance(first, dict) else None


_LARGEST_EVENT_CHARS = 4_000_000
_LONGEST_ARGUMENTS_CHARS = 40_000
_LARGEST_JSON_BYTES = 8 * 1024 * 1024
# The names that two servers use, then those of others.
_THINKING_FIELDS = (
    "reasoning_content", "reasoning", "thinking", "reasoning_text", "thought", "thoughts",
)  # fmt: skip
_REASON_FIELDS = ("finish_reason", "native_finish_reason", "finish_details", "stop_reason")


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that a server counted for one request."""

    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class PromptProgress:
    """How far a server has read a prompt: the tokens in all, those it had cached, and those read,
    with the seconds for what was not cached.
    """

    total: int
    cached: int
    read: int
    seconds: float

    @property
    def share(self) -> float:
        """How much was read, from 0 to 1."""
        return self.read / self.total

    def in_words(self) -> str:
        """How much was read, and how long the rest takes at this speed."""
        left_s = self.seconds * (self.total - self.read) / max(1, self.read - self.cached)
        percent = int(100 * self.share)
        if left_s < 1:
            return f"The model reads the prompt: {percent} %."
        return f"The model reads the prompt: {percent} %, about {left_s:.0f} s left."


@dataclass(frozen=True, slots=True)
class CallPart:
    """A piece of a tool call: the call with this index goes on by `arguments`."""

    index: int
    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class StreamPart:
    """The content of one event, or of a complete answer if `is_whole`."""

    text: str = ""
    thinking: str = ""
    finish_reason: str = ""
    thinking_field: str = ""  # the name of the field with thinking
    usage: Usage | None = None
    is_whole: bool = False
    status: str = ""  # the reason for a wait
    calls: tuple[CallPart, ...] = ()
    progress: PromptProgress | None = None  # with a status


# Marks the end of an answer, however the server ended its stream.
LAST = StreamPart()


class EventDecoder:
    """Decodes server-sent events from chunks of bytes that may be split anywhere.

    Invalid UTF-8 becomes the replacement character. A byte order mark is skipped.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._line: list[str] = []
        self._data: list[str] = []
        self._held_chars = 0
        self._name = ""
        self._is_stream = self._is_read = False
        self._repairs = MessageRepairs()

    def feed(self, chunk: bytes, *, is_last: bool = False) -> Iterator[StreamPart]:
        """The parts of the events that this chunk completes, [DONE] included.

        StreamError for a web page, an event without end, one that is not JSON, or an error that the
        server reports in the stream.
        """
        lines = self._decode(chunk, is_last).split("\n")
        for line in lines[:-1]:
            if not line and not self._held_chars:
                continue  # an empty line without an event
            self._buffer(line)
            yield from self._take(self._whole_line())
        self._buffer(lines[-1])
        if is_last:
            yield from self._take(self._whole_line())
            yield from self._finish_event()

    def _buffer(self, text: str) -> None:
        self._line.append(text)
        self._held_chars += len(text)
        if self._held_chars > _LARGEST_EVENT_CHARS:
            raise StreamError(Fault.UNREADABLE)

    def _whole_line(self) -> str:
        # Proxies that join streams leave byte order marks inside.
        line = "".join(self._line).removesuffix("\r").removeprefix("\ufeff")
        self._line = []
        return line

    def _take(self, line: str) -> Iterator[StreamPart]:
        if not line:
            yield from self._finish_event()
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._is_stream = True
            self._data.append(value)
        elif field == "event":
            self._is_stream = True
            self._name = value
        elif field == "error":
            self._name = field
            self._data.append(value)
        elif line.startswith("{") and is_error(error := parsed_body(line.encode())):
            raise StreamError(Fault.FAILED, *server_message(error))
        elif not self._is_stream and line.lstrip().startswith("<"):
            raise StreamError(Fault.WEB_PAGE)
        elif not self._data:
            self._held_chars = 0

    def _finish_event(self) -> Iterator[StreamPart]:
        data, name = "\n".join(self._data).strip(), self._name
        self._data, self._name, self._held_chars = [], "", 0
        if not data:
            return
        if data.startswith("[DONE]"):
            yield StreamPart(finish_reason=DONE)
            return
        try:
            event = load_json(data)
            if name == "error":
                raise StreamError(Fault.FAILED, *server_message(event))
            self._repairs.repair(event)
            piece = read_event(event)
        except StreamError as exc:
            # Named events may contain anything, and are not part of the answer.
            if exc.fault is Fault.UNREADABLE and name not in ("", "message", "error"):
                return
            if exc.fault is Fault.UNREADABLE and self._is_read:
                raise StreamError(Fault.GARBLED) from exc
            raise
        self._is_read = True
        yield piece


def load_json(text: str | bytes) -> object:
    """Parse JSON from a server. StreamError when it is invalid, or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise StreamError(Fault.UNREADABLE) from exc


def read_whole(parts: Iterable[bytes]) -> bytes:
    """The body of an answer that is not streamed. StreamError when it is too large."""
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > _LARGEST_JSON_BYTES:
            raise StreamError(Fault.UNREADABLE)
    return bytes(body)


def read_completion(body: bytes) -> StreamPart:
    """The answer of a server that sends it whole although a stream was requested.

    StreamError when it is no completion, or reports an error.
    """
    completion = load_json(body)
    piece = read_event(completion)
    if not isinstance(completion, dict) or "choices" not in completion:
        raise StreamError(Fault.UNREADABLE, *server_message(completion))
    # It came as a whole, so nothing was cut, even without a reason.
    reason = piece.finish_reason or (DONE if piece.text else "")
    return replace(piece, is_whole=True, finish_reason=reason)


def read_event(event: object) -> StreamPart:
    """The content of a chunk or of a whole completion; what is unknown is ignored.

    StreamError when it reports an error.
    """
    if is_error(event):
        raise StreamError(Fault.FAILED, *server_message(event))
    if not isinstance(event, dict):
        return StreamPart()
    fields = cast("dict[str, Any]", event)
    usage = read_usage(fields.get("usage"))
    progress = _progress(fields.get("prompt_progress"))
    status = progress.in_words() if progress else ""
    if (choice := _first_choice(event)) is None:
        return StreamPart(usage=usage, progress=progress, status=status)
    message = choice.get("delta") or choice.get("message")
    message = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
    text, thinking = _contents(message.get("content"))
    field = next((name for name in _THINKING_FIELDS if _text(message.get(name))), "")
    thinking = thinking or _text(message.get(field)) or _details(message.get("reasoning_details"))
    return StreamPart(
        text or _text(message.get("refusal")) or _text(choice.get("text")),
        thinking,
        _reason(choice),
        field,
        usage,
        calls=_calls(message),
        status=status,
        progress=progress,
    )


def _progress(given: object) -> PromptProgress | None:
    """As llama.cpp tells it; None where it isn't told, or makes no sense."""
    match given:
        case {
            "total": int() as total,
            "cache": int() as cached,
            "processed": int() as read,
            "time_ms": int() | float() as ms,
        } if 0 <= cached <= read <= total and total > 0 and 0 <= ms < math.inf:
            return PromptProgress(total, cached, read, ms / 1000)
        case _:
            return None


_MOST_CALLS = 16


def _calls(message: dict[str, Any]) -> tuple[CallPart, ...]:
    """The pieces of tool calls; servers that send calls whole give them no index."""
    calls = message.get("tool_calls")
    rows = cast("list[Any]", calls)[:_MOST_CALLS] if isinstance(calls, list) else []
    found: list[CallPart] = []
    for place, row in enumerate(rows):
        fields = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
        function = fields.get("function")
        function = cast("dict[str, Any]", function) if isinstance(function, dict) else {}
        index, arguments = fields.get("index"), function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        found.append(
            CallPart(
                index if type(index) is int else place,
                _text(fields.get("id")),
                _text(function.get("name")),
                _text(arguments),
            )
        )
    return tuple(found)


class HeardCalls:
    """Joins the pieces of the tool calls of one answer."""

    def __init__(self) -> None:
        self._calls: dict[int, CallPart] = {}

    def add(self, parts: Sequence[CallPart]) -> None:
        """Add the pieces of one event. StreamError when they have no end."""
        for part in parts:
            index, known = part.index, self._calls.get(part.index, CallPart(part.index))
            if part.call_id and known.call_id not in ("", part.call_id):
                # Some servers give every call the index 0.
                index = max(self._calls) + 1
                known = CallPart(index)
            arguments = known.arguments + part.arguments
            if len(arguments) > _LONGEST_ARGUMENTS_CHARS or len(self._calls) > _MOST_CALLS:
                raise StreamError(Fault.ENDLESS)
            self._calls[index] = CallPart(
                index, part.call_id or known.call_id, part.name or known.name, arguments
            )

    def calls(self) -> tuple[CallPart, ...]:
        """The calls in order, those without a name left out."""
        return tuple(call for _, call in sorted(self._calls.items()) if call.name)


def _reason(choice: dict[str, Any]) -> str:
    """The reason why the answer ended, in one spelling; empty while it goes on."""
    for name in _REASON_FIELDS:
        value = choice.get(name)
        if isinstance(value, dict):
            value = cast("dict[str, Any]", value).get("type")
        if isinstance(value, str) and (reason := reason_in(value)):
            return reason
    return ""


def _details(details: object) -> str:
    """The thinking in a list of parts, which some servers send in place of a field."""
    parts = cast("list[Any]", details) if isinstance(details, list) else []
    fields = [cast("dict[str, Any]", part) for part in parts if isinstance(part, dict)]
    return "".join(_text(part.get("text")) or _text(part.get("summary")) for part in fields)


def read_usage(value: object) -> Usage | None:
    """The tokens in the `usage` of an answer; None when the server did not count them."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    counts = fields.get("prompt_tokens"), fields.get("completion_tokens", 0)
    asked, answered = (count if type(count) is int and count >= 0 else 0 for count in counts)
    return Usage(asked, answered) if asked else None


def _contents(content: object) -> tuple[str, str]:
    """Text and thinking of a content, which may consist of parts of different types."""
    if isinstance(content, dict):
        content = [cast("object", content)]
    if not isinstance(content, list):
        return _text(content), ""
    text = thinking = ""
    for part in cast("list[Any]", content):
        if not isinstance(part, dict):
            continue
        fields = cast("dict[str, Any]", part)
        text += _text(fields.get("text"))
        inner = fields.get("thinking")
        thinking += _contents(inner)[0] if isinstance(inner, list) else _text(inner)
    return text, thinking


def _text(value: object) -> str:
    return strip_invalid_characters(value).replace("\ufeff", "") if isinstance(value, str) else ""
