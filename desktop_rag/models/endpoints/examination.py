"""Examines the abilities and the context length of a model at an endpoint. Worker threads.

It sends few, short requests, and answers to a person go first. After a passing fault an ability
stays unknown.
"""

import base64
import itertools
import logging
import math
import struct
import time
import tomllib
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum, auto
from threading import Event
from typing import Any, TypeVar

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.model_profile import LengthField, ModelProfile, Thinking
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.waits import pause_s
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.endpoint_address import is_near, normalise_base_url
from desktop_rag.models.endpoints.client.chat_client import learned_from, schema_json, tool_json
from desktop_rag.models.endpoints.client.chat_stream import Usage
from desktop_rag.models.endpoints.client.endpoint_faults import (
    EndpointFaultError,
    Fault,
    StreamError,
)
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.client.streams.thinking import ThinkingSplitter
from desktop_rag.models.endpoints.model_list import known_tokens, running_tokens, stated_tokens
from desktop_rag.models.endpoints.providers import list_shape_at, quirks_at
from desktop_rag.models.ports import HeardAnswer, Tool

log = logging.getLogger(__name__)

# Short and frequent words: one token each for nearly every tokenizer, and nothing to merge.
_WORDS = (
    "time year people way day man thing woman life child world school state family student group "
    "country problem hand part place case week company system program question work government "
    "number night point home water room mother area money story fact month lot right study book "
    "eye job word business issue side kind head house service friend father power hour game line"
)
_STEP = 7  # a prime number of words, so that the order repeats as late as possible
_GRAIN_TOKENS = 256
# Share of the expected tokens that the server counts for a request read whole.
_LEAST_READ_SHARE = 0.85


class ProbeOutcome(Enum):
    """The outcome of a request; unknown when the server was silent for too long, for example."""

    READ = auto()
    CUT = auto()
    REFUSED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one request."""

    outcome: ProbeOutcome
    counted: int = 0  # tokens counted by the server, 0 if it doesn't count
    limit: int = 0  # tokens stated in a refusal
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a measurement: tokens, requests, and seconds for the next request."""

    first: int
    most: int
    requests: int
    longest_s: float


@dataclass(frozen=True, slots=True)
class MeasuredContext:
    """The longest request that was read whole; `is_open`: longer ones were not tried."""

    tokens: int
    is_open: bool


# For an endpoint on this computer or network, where a request costs time, and for any other.
NEAR = Bounds(first=2048, most=32_768, requests=12, longest_s=20.0)
FAR = Bounds(first=16_384, most=16_384, requests=3, longest_s=math.inf)


def filler(words: int, first: int = 0) -> str:
    """A text of this many words from the `first` on; a longer one can reuse the server's cache."""
    known = _WORDS.split()
    count = len(known)
    order = (known[(n * _STEP + n // count) % count] for n in itertools.count(first))
    return " ".join(itertools.islice(order, words))


def measure(
    attempt: Callable[[int, int], Attempt], bounds: Bounds, tokens_a_word: float = 1.0
) -> MeasuredContext:
    """Measure the context length by requests, until the limit is known or the bounds are reached.

    `attempt` gets the number of words to send and the number of the first. The length doubles while
    requests are accepted; then a binary search narrows it down. A refusal may state the limit;
    silent truncation shows in the tokens that the server counts. What a server states without a
    request may be far more than what it was started with.
    """
    read, refused = 0, 0
    size, per_word = bounds.first, tokens_a_word
    for _ in range(bounds.requests):
        words = max(1, int(size / per_word))
        found = _confirmed(attempt, words, _LEAST_READ_SHARE * words * per_word)
        match found.outcome:
            case ProbeOutcome.UNKNOWN:
                break
            case ProbeOutcome.CUT:
                return MeasuredContext(found.counted, is_open=False)
            case ProbeOutcome.REFUSED if found.limit:
                return MeasuredContext(found.limit, is_open=False)
            case ProbeOutcome.REFUSED:
                refused = size
            case ProbeOutcome.READ:
                per_word = found.counted / words if found.counted else per_word
                read = max(size, found.counted // _GRAIN_TOKENS * _GRAIN_TOKENS)
        if _is_enough(read, refused, found.seconds, bounds):
            break
        size = (read + refused) // 2 if refused else min(2 * size, bounds.most)
    return MeasuredContext(read, is_open=bool(read) and not refused)


def _confirmed(attempt: Callable[[int, int], Attempt], words: int, least: float) -> Attempt:
    """The attempt, repeated if the server seems to have truncated it below `least` tokens."""
    found = attempt(words, 0)
    if found.outcome is ProbeOutcome.READ and 0 < found.counted < least:
        # Some servers don't count cached tokens; these words were never sent before.
        found = attempt(words, 1)
        if found.outcome is ProbeOutcome.READ and found.counted < least:
            return replace(found, outcome=ProbeOutcome.CUT)
    return found


def _is_enough(read: int, refused: int, seconds: float, bounds: Bounds) -> bool:
    if refused:
        return refused - read <= max(_GRAIN_TOKENS, read // 16)
    return read >= bounds.most or 2 * seconds > bounds.longest_s


_T = TypeVar("_T")

# The faults of a refusal; others say nothing about the model.
_REFUSALS = frozenset({
    Fault.REJECTED, Fault.FAILED, Fault.TOO_LONG, Fault.NOTHING_THERE, Fault.UNKNOWN_MODEL,
    Fault.FORBIDDEN, Fault.WEB_PAGE, Fault.UNREADABLE, Fault.GARBLED,
    Fault.TOO_LARGE, Fault.FILTERED,
})  # fmt: skip
# After these, the request may be accepted in another shape.
_SHAPE_REFUSALS = frozenset({Fault.REJECTED, Fault.FAILED})
_SAY_YES = "Reply with the word yes."
_SAY_JSON = 'Reply with this JSON object and nothing else: {"ok": true}'
_OK_SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
_CALL_TOOL = "Search the documents for the word lighthouse."
_SEARCH = Tool(
    "search",
    "Searches the person's documents.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
_FROM_SOURCE = """\
Answer from the source alone, in one short sentence. If it does not hold the answer, say so."""
_NAME_COLOUR = "Which colour is this picture? Reply with one word."
# Long enough to show in the server's count.
_SYSTEM_WORDS = 60
_ANSWER_TOKENS = 256
_SHORT_ANSWER_TOKENS = 48
_LONGEST_ANSWER_CHARS = 8_000
_LONGEST_PAUSE_S = 30.0
_PAUSE_S = 2.0
_TRIES = 3
_PICTURE_PX = 32
_RED = b"\xe6\x14\x14"


@dataclass(slots=True)
class _ExamAnswer:
    """One answer as received."""

    text: str = ""
    thinking_field: str = ""
    usage: Usage | None = None
    has_calls: bool = False
    tells_progress: bool = False
    is_whole: bool = False
    seconds: float = 0.0


class Examination:
    """One examination of one model; `run` it once."""

    def __init__(self, requests: EndpointRequests, priority: AnswerPriority) -> None:
        self._requests = requests
        self._priority = priority
        base_url = normalise_base_url(requests.endpoint.base_url)
        self._profile = ModelProfile(**quirks_at(base_url))
        self._tokens_a_word = 1.0

    def run(self, *, is_asked: bool = False) -> ModelProfile:
        """The profile of the model. Remote ones get long requests only when that `is_asked`.

        AppError when the model doesn't answer at all. Cancelled when the app is closing.
        """
        self._try_answer()
        for look in (
            self._find_order, self._try_schema, self._try_images, self._try_tools,
            self._try_progress, self._try_vectors,
        ):  # fmt: skip
            look()
        if is_asked or self._is_near:
            self._try_questions()
        if not self._read_statement() and (is_asked or self._is_near):
            self._measure_context()
        self._profile = replace(self._profile, examined_at=time.time())
        return self._profile

    # --- tests -----------------------------------------------------------------------------------

    def _try_answer(self) -> None:
        """Get a first answer, with the richest shape of request first, then simpler ones."""
        shapes = [(usage, system) for system in (True, False) for usage in (True, False)]
        for counts_usage, takes_system in shapes:
            asked = [_turn("system", filler(_SYSTEM_WORDS))] if takes_system else []
            more = {"stream_options": {"include_usage": True}} if counts_usage else {}
            try:
                heard = self._ask([*asked, _turn("user", _SAY_YES)], _ANSWER_TOKENS, **more)
            except EndpointFaultError as exc:
                is_last = (counts_usage, takes_system) == shapes[-1]
                if exc.fault not in _SHAPE_REFUSALS or is_last:
                    raise
                continue
            is_read = takes_system and (not heard.usage or heard.usage.asked >= _SYSTEM_WORDS)
            if is_read and heard.usage:
                self._tokens_a_word = max(1.0, heard.usage.asked / _SYSTEM_WORDS - 1)
            self._record(
                takes_system=is_read,
                counts_usage=counts_usage and heard.usage is not None,
                streams=not heard.is_whole,
                thinking=_thinking_in(heard),
            )
            return

    def _find_order(self) -> None:
        is_accepted, _ = self._tried([_turn("user", "Hello."), _turn("user", _SAY_YES)], 1)
        self._record(must_alternate=None if is_accepted is None else not is_accepted)

    def _try_schema(self) -> None:
        turn, kind = _turn("user", _SAY_JSON), schema_json(_OK_SCHEMA)
        is_accepted, heard = self._tried([turn], _SHORT_ANSWER_TOKENS, response_format=kind)
        # A model that is still thinking has not refused.
        is_json = not _answer_in(heard) or _answer_in(heard).startswith("{")
        self._record(takes_schema=is_json if is_accepted else is_accepted)

    def _try_images(self) -> None:
        picture = {"type": "image_url", "image_url": {"url": _red_picture()}}
        turn = {"role": "user", "content": [{"type": "text", "text": _NAME_COLOUR}, picture]}
        is_accepted, heard = self._tried([turn], _SHORT_ANSWER_TOKENS)
        # Many servers accept a picture and drop it: only an answer about its content is proof.
        is_seen = not _answer_in(heard) or "red" in heard.text.lower()
        self._record(takes_images=is_seen if is_accepted else is_accepted)

    def _try_tools(self) -> None:
        turn, tools = _turn("user", _CALL_TOOL), [tool_json(_SEARCH)]
        is_accepted, heard = self._tried([turn], _ANSWER_TOKENS, tools=tools)
        # A model that is still thinking may call it yet.
        is_known = heard.has_calls or bool(_answer_in(heard))
        self._record(
            calls_tools=(heard.has_calls if is_known else None) if is_accepted else is_accepted
        )

    def _try_progress(self) -> None:
        """Find out whether a server nearby tells how much of the prompt it has read."""
        if self._is_near and self._profile.streams:
            _, heard = self._tried([_turn("user", _SAY_YES)], 1, return_progress=True)
            self._record(tells_progress=heard.tells_progress)

    def _try_vectors(self) -> None:
        def ask() -> object:
            return self._with_retry(lambda: self._requests.vectors(["yes"], self._cancel))

        self._record(embeds=self._is_accepted(ask))

    def _try_questions(self) -> None:
        """Measure how well the model answers from a source.

        Unknown for one that only thinks, and for a reply that is the same whatever is asked: that
        is what a proxy or a recorder of requests says, and tells nothing of a model.
        """
        path = resources_dir() / "endpoints" / "sample_questions.toml"
        samples = tomllib.loads(path.read_text(encoding="utf-8"))["questions"]
        right, replies = 0, set[str]()
        for sample in samples:
            asked = f"Source:\n{sample['source'].strip()}\n\nQuestion: {sample['question']}"
            turn = _turn("user", f"{_FROM_SOURCE}\n\n{asked}")
            is_accepted, heard = self._tried([turn], _SHORT_ANSWER_TOKENS)
            said = _answer_in(heard).casefold()
            if not said and (not is_accepted or _thinking_in(heard) is not Thinking.NONE):
                return
            replies.add(said)
            right += any(words.casefold() in said for words in sample["says"])
        if len(replies) > 1 or "" in replies:
            self._record(answering=right / len(samples))

    @property
    def _is_near(self) -> bool:
        """True on this computer or network, where a request costs time only."""
        return is_near(normalise_base_url(self._requests.endpoint.base_url))

    def _read_statement(self) -> bool:
        """Read the context length from the list of models; True when that settles it.

        A remote service states what it offers. A server nearby may state what the model could read
        and cut silently at what it was started with, unless it names that.
        """
        endpoint = self._requests.endpoint
        running = 0
        try:
            shape = list_shape_at(normalise_base_url(endpoint.base_url))
            body = self._with_retry(lambda: self._requests.model_list(self._cancel, shape))
            self._record(stated_tokens=stated_tokens(body, endpoint.model, shape))
            running = running_tokens(body, endpoint.model, shape)
        except (AppError, StreamError):
            log.info("the endpoint has no list of models")
        if not (running or self._is_near):
            running = self._profile.stated_tokens or known_tokens(endpoint.model)
        if running:
            self._record(context_tokens=running)
        return bool(running)

    def _measure_context(self) -> None:
        endpoint = self._requests.endpoint
        bounds = NEAR if self._is_near else FAR
        if most := endpoint.tokens_per_minute // 2:
            bounds = replace(bounds, first=min(bounds.first, most), most=min(bounds.most, most))

        def attempt(words: int, first: int) -> Attempt:
            turn = _turn("user", f"{filler(words, first)}\n\n{_SAY_YES}")
            try:
                heard = self._ask([turn], 1, **self._usage_option())
            except EndpointFaultError as exc:
                if exc.fault in _REFUSALS:
                    return Attempt(ProbeOutcome.REFUSED, limit=exc.limit_tokens)
                return Attempt(ProbeOutcome.UNKNOWN)
            except AppError as error:
                log.info("the context is not measured further: %s", error.title)
                return Attempt(ProbeOutcome.UNKNOWN)
            counted = heard.usage.asked if heard.usage else 0
            if counted >= bounds.first // 2 and heard.seconds > 0:
                self._record(read_tokens_per_s=round(counted / heard.seconds, 1))
            return Attempt(ProbeOutcome.READ, counted=counted, seconds=heard.seconds)

        measured = measure(attempt, bounds, self._tokens_a_word)
        self._record(context_tokens=measured.tokens, is_context_open=measured.is_open)

    # --- asking ----------------------------------------------------------------------------------

    @property
    def _cancel(self) -> Event:
        return self._priority.must_yield

    def _usage_option(self) -> dict[str, Any]:
        return {"stream_options": {"include_usage": True}} if self._profile.counts_usage else {}

    def _record(self, **facts: object) -> None:
        fields: dict[str, Any] = facts
        self._profile = replace(self._profile, **fields)

    def _is_accepted(self, ask: Callable[[], object]) -> bool | None:
        """True when the server accepts the request; None when that could not be determined."""
        try:
            ask()
        except EndpointFaultError as exc:
            return False if exc.fault in _REFUSALS else None
        except AppError as error:
            log.info("not found out: %s", error.title)
            return None
        return True

    def _tried(
        self, messages: list[dict[str, Any]], max_tokens: int, **more: object
    ) -> tuple[bool | None, _ExamAnswer]:
        """Whether the server accepts a request, and its answer, which is empty unless it does."""
        heard: list[_ExamAnswer] = []
        is_accepted = self._is_accepted(
            lambda: heard.append(self._ask(messages, max_tokens, **more))
        )
        return is_accepted, heard[0] if heard else _ExamAnswer()

    def _with_retry(self, call: Callable[[], _T]) -> _T:
        """Call while no answer is under way; retried after an interruption or a short wait."""
        tries_left = _TRIES
        while True:
            self._priority.wait()
            try:
                return call()
            except Cancelled:
                continue
            except EndpointFaultError as exc:
                tries_left -= 1
                wait_s = pause_s(_PAUSE_S if tries_left else None, exc.wait_s, _LONGEST_PAUSE_S)
                if wait_s is None or not exc.is_passing:
                    raise
            self._priority.sleep(wait_s)

    def _ask(self, messages: list[dict[str, Any]], max_tokens: int, **more: object) -> _ExamAnswer:
        """An answer of limited length; determines the name of the field that limits it."""
        fields = sorted(LengthField, key=lambda field: field is not self._profile.length_field)
        for field in fields:
            try:
                heard = self._ask_whichever_way(messages, {field.value: max_tokens, **more})
            except EndpointFaultError as exc:
                is_about_field = any(other in exc.said for other in LengthField)
                if field is fields[-1] or not is_about_field:
                    raise
            else:
                self._record(length_field=field)
                return heard
        raise AssertionError("the last field raises or returns")

    def _ask_whichever_way(
        self, messages: list[dict[str, Any]], more: dict[str, object]
    ) -> _ExamAnswer:
        """A streamed answer; a whole one where the server refuses to stream."""
        model = self._requests.endpoint.model
        body = {"model": model, "messages": messages, "stream": True, **more}
        if self._profile.streams is not False:
            try:
                return self._with_retry(lambda: self._receive(body))
            except EndpointFaultError as exc:
                if "streams" not in learned_from(exc.said, self._profile):
                    raise
                self._record(streams=False)
        body["stream"] = False
        body.pop("stream_options", None)
        return self._with_retry(lambda: self._receive(body))

    def _receive(self, body: dict[str, Any]) -> _ExamAnswer:
        heard = _ExamAnswer()
        started = time.monotonic()
        with closing(self._requests.pieces(body, self._cancel)) as pieces:
            for piece in pieces:
                heard.text += piece.text
                heard.thinking_field = heard.thinking_field or piece.thinking_field
                heard.usage = piece.usage or heard.usage
                heard.has_calls = heard.has_calls or any(call.name for call in piece.calls)
                heard.tells_progress = heard.tells_progress or piece.progress is not None
                heard.is_whole = heard.is_whole or piece.is_whole
                if len(heard.text) > _LONGEST_ANSWER_CHARS:
                    break
        heard.seconds = time.monotonic() - started
        return heard


def _turn(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def _thinking_in(heard: _ExamAnswer) -> Thinking:
    if heard.thinking_field in list(Thinking):
        return Thinking(heard.thinking_field)
    if heard.thinking_field:
        return Thinking.REASONING
    told, has_stray_end = _told_apart(heard)
    if has_stray_end:
        return Thinking.END_TAG
    return Thinking.TAGS if told.thinking else Thinking.NONE


def _answer_in(heard: _ExamAnswer) -> str:
    """The answer after thinking; empty for thinking alone."""
    return _told_apart(heard)[0].text.strip()


def _told_apart(heard: _ExamAnswer) -> tuple[HeardAnswer, bool]:
    """The answer and its thinking, and whether thinking had no opening tag."""
    splitter, told = ThinkingSplitter(), HeardAnswer()
    # Short answers are cut by their limit.
    for delta in (*splitter.feed(heard.text), *splitter.finish(is_whole=False)):
        told.add(delta)
    return told, splitter.has_stray_end


def _red_picture() -> str:
    """A small red square as a data URL."""
    row = b"\0" + _RED * _PICTURE_PX
    header = struct.pack(">IIBBBBB", _PICTURE_PX, _PICTURE_PX, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(row * _PICTURE_PX)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
