"""The requests to one endpoint: chat, list of models, vectors. On the calling thread.

openai and its HTTP layer take more than a second to import, so the first request imports them.
"""

import base64
import json
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from desktop_rag.activity.activity_event import Purpose
from desktop_rag.activity.recorder import OpenCall, Recorder
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.model_profile import LEAST_RATIO, MOST_RATIO
from desktop_rag.core.question import SentRequest
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.core.text import rough_token_counts
from desktop_rag.models.endpoint_address import OWN_ADDRESS, host_of, is_near, normalise_base_url
from desktop_rag.models.endpoints.client.allowances import Allowances, limits_in_words
from desktop_rag.models.endpoints.client.chat_stream import (
    DONE,
    LAST,
    EventDecoder,
    StreamPart,
    Usage,
    load_json,
    read_completion,
    read_usage,
    read_whole,
)
from desktop_rag.models.endpoints.client.endpoint_errors import mapping_endpoint_errors
from desktop_rag.models.endpoints.client.endpoint_faults import (
    EndpointFaultError,
    Fault,
    StreamError,
)
from desktop_rag.models.endpoints.client.refusals.refusal_kinds import is_error, server_message
from desktop_rag.models.endpoints.providers import USUAL_LIST, ListShape
from desktop_rag.models.ports import OwnServer, ServedAt, Vectors

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

    from desktop_rag.models.endpoints.client.interruptible_sockets import Interruption

log = logging.getLogger(__name__)

# In units of the endpoint's timeout, the longest silence of a connection (30 s by default): the
# wait for the first words, while the prompt is read, and the window for the pace.
SILENCES_FOR_TEXT = 10
# Fewer, so that a server that sends nothing is not said to have kept the connection open.
_SILENCES_NEARBY = 9
_SILENCES_LOOKED_BACK_ON = 4
# A word in ten seconds: nobody would wait for a slower model.
_LEAST_CHARS_A_SECOND = 1 / 3
_MOST_BYTES_WITHOUT_TEXT = 16 * 1024 * 1024
# Text that repeats itself this often, and this much of it. The rows of a long table differ.
_LEAST_REPEATS = 8
_LEAST_REPEATED_CHARS = 3_000
_LONGEST_REPEATED_CHARS = 1_500
_LOOK_EVERY_CHARS = 500
_SIGN_CHARS = 80


class StreamPace:
    """Stops an answer that stays silent, trickles or repeats itself; nobody may be watching.

    `now` is a time in seconds of any monotonic clock.
    """

    def __init__(self, timeout_s: float, now: float) -> None:
        self.text_limit_s = SILENCES_FOR_TEXT * timeout_s
        self._window_s = _SILENCES_LOOKED_BACK_ON * timeout_s
        self._began_at = now
        self._read = 0.0
        self._bytes = 0
        self._heard: deque[tuple[float, int]] = deque()
        self._heard_chars = 0
        self._first_at: float | None = None
        self._tail = ""
        self._unlooked_chars = 0

    @property
    def has_begun(self) -> bool:
        """True once there was text."""
        return self._first_at is not None

    def receive(self, size_bytes: int, now: float) -> None:
        """Record bytes, whatever they contain. StreamError when there was no text for too long."""
        self._bytes += size_bytes
        if self._bytes > _MOST_BYTES_WITHOUT_TEXT:
            raise StreamError(Fault.SLOW)
        if self._first_at is None:
            if now - self._began_at > self.text_limit_s:
                raise StreamError(Fault.SLOW)
            return
        while self._heard and self._heard[0][0] < now - self._window_s:
            self._heard_chars -= self._heard.popleft()[1]
        least = _LEAST_CHARS_A_SECOND * self._window_s
        if now - self._first_at > self._window_s and self._heard_chars < least:
            raise StreamError(Fault.TRICKLING)

    def read_on(self, share: float, now: float) -> None:
        """Record how much of the prompt was read: while that grows, the wait begins anew."""
        if share > self._read:
            self._read, self._began_at = share, now

    def hear(self, text: str, now: float) -> None:
        """Record a piece of the answer or the thinking.

        StreamError when the text repeats itself.
        """
        if not text.strip():
            return
        self._first_at = now if self._first_at is None else self._first_at
        self._bytes = 0
        self._heard.append((now, len(text)))
        self._heard_chars += len(text)
        most = _LEAST_REPEATS * _LONGEST_REPEATED_CHARS + _SIGN_CHARS
        self._tail = (self._tail + text)[-most:]
        self._unlooked_chars += len(text)
        if self._unlooked_chars >= _LOOK_EVERY_CHARS:
            self._unlooked_chars = 0
            if is_repeating(self._tail):
                raise StreamError(Fault.REPEATING)


def is_repeating(text: str) -> bool:
    """True when a text ends in a long repetition of the same words."""
    sign = text[-_SIGN_CHARS:]
    before = text.rfind(sign, 0, len(text) - 1)
    if before < 0:
        return False
    unit = len(text) - len(sign) - before
    length = max(_LEAST_REPEATED_CHARS, _LEAST_REPEATS * unit)
    return length <= len(text) and text[-length:-unit] == text[-length + unit :]


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


def read_ranks(body: object, count: int) -> list[int]:
    """The places of `count` texts, best first, in the form of Cohere and Jina, which others copied.

    Texts that the server leaves out come last. StreamError for anything else.
    """
    if is_error(body):
        raise StreamError(Fault.FAILED, *server_message(body))
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    try:
        scores = {int(row["index"]): float(row["relevance_score"]) for row in fields["results"]}
    except (ValueError, TypeError, KeyError, OverflowError) as exc:
        raise StreamError(Fault.UNREADABLE) from exc
    if not scores or not scores.keys() <= set(range(count)):
        raise StreamError(Fault.UNREADABLE)
    return sorted(range(count), key=lambda n: -scores.get(n, -math.inf))


# No server cuts a request to less than this, so a lower count of a longer one is invalid.
_LEAST_READ_TOKENS = 256
# For what templates and proxies add around the turns.
_MOST_AROUND_TOKENS = 4_000


def believable(usage: Usage | None, messages: Sequence[dict[str, Any]]) -> Usage | None:
    """The usage, or None if it is impossible for these messages, such as a count of 1 for a page.

    Every server reads the last message. The tokens of images are unknown.
    """
    if usage is None or not messages:
        return usage
    contents = [message["content"] or "" for message in messages]
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) < len(contents):
        return usage
    last = rough_token_counts(texts[-1:])[0]
    most = MOST_RATIO * sum(rough_token_counts(texts)) + _MOST_AROUND_TOKENS
    return usage if min(LEAST_RATIO * last, _LEAST_READ_TOKENS) <= usage.asked <= most else None


_STEP_S = 0.1


def pause(seconds: float, cancel: Event) -> None:
    """Wait until the time is up or `cancel` is set; polled, as some events only support that."""
    until = time.monotonic() + seconds
    while (left_s := until - time.monotonic()) > 0 and not cancel.is_set():
        cancel.wait(min(left_s, _STEP_S))


_BLANK = b"\xef\xbb\xbf \r\n\t"
_MOST_BLANK_BYTES = 1 << 20


def read_beginning(take: Callable[[], bytes | None]) -> list[bytes]:
    """The first chunk that isn't blank, if one comes soon; `take` returns None after the last.

    StreamError when the connection ends before; then nothing was lost.
    """
    blank_bytes = 0
    try:
        while blank_bytes < _MOST_BLANK_BYTES and (chunk := take()) is not None:
            if chunk.strip(_BLANK):
                return [chunk]
            blank_bytes += len(chunk)
    except StreamError as exc:
        fault = Fault.CLOSED if exc.fault is Fault.CUT else exc.fault
        raise StreamError(fault, exc.said, exc.code) from exc
    return []


def is_json(begun: Sequence[bytes]) -> bool:
    """True for one JSON body, False for anything else; declared types are often wrong."""
    return b"".join(begun).lstrip(_BLANK).startswith((b"{", b"["))


# A list or vectors that take longer than this many times the endpoint's timeout are given up.
_SILENCES_FOR_VECTORS = 20
_SILENCES_FOR_LIST = 2
_END_WAIT_S = 0.1
# Older versions of a program, and keys with fewer rights, have only the usual list.
_NO_SUCH_LIST = frozenset({
    Fault.NOTHING_THERE, Fault.WEB_PAGE, Fault.REJECTED, Fault.FORBIDDEN, Fault.UNREADABLE,
})  # fmt: skip
# After these the app's own server may have ended.
_LOST = frozenset({
    Fault.REFUSED, Fault.UNREACHABLE, Fault.CLOSED, Fault.CUT, Fault.UNREADABLE, Fault.NOT_HTTP,
})  # fmt: skip
# The wait for the count of tokens and [DONE] after the end of the answer.
_LAST_EVENTS_S = 2.0
_IMAGE_TOKENS = 1_000
_T = TypeVar("_T")


def in_words(body: dict[str, Any]) -> str:
    """All of a chat request as text: each message below its role, then the rest as JSON."""
    parts: list[str] = []
    for message in body["messages"]:
        rest = {name: value for name, value in message.items() if name not in ("role", "content")}
        content = message.get("content") or ""
        pieces = [{"text": content}] if isinstance(content, str) else content
        said = [piece["text"] if "text" in piece else _without_data(piece) for piece in pieces]
        parts += [f"── {message['role']} ──", *said, *([_as_json(rest)] if rest else [])]
    rest = {name: value for name, value in body.items() if name != "messages"}
    return "\n\n".join(filter(None, [*parts, "── with ──", _as_json(rest)]))


def _without_data(piece: Mapping[str, Any]) -> str:
    """An image as a line: its data says nothing to a person."""
    return f"({piece.get('type', '')}: {len(str(piece)):,} characters of data)"


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


class EndpointRequests:
    """One per endpoint setting, for any thread, closed at the end.

    Every method raises AppError for any fault of the endpoint or the network, and Cancelled soon
    after its `cancel` is set; the connection is closed then.
    """

    def __init__(
        self,
        endpoint: EndpointSettings,
        key: str = "",
        allowances: Allowances | None = None,
        recorder: Recorder | None = None,
        *,
        purpose: Purpose = Purpose.ANSWER,
        is_patient: bool = False,
        own_server: OwnServer | None = None,
    ) -> None:
        """`allowances` enforce the endpoint's limits and count its costs.

        `purpose` is the default for recording requests. Under a limit, patient requests yield to
        others. `own_server` gets the requests to OWN_ADDRESS.
        """
        self._recorder = recorder or Recorder()
        self._purpose = purpose
        self._is_patient = is_patient
        self.endpoint = endpoint
        self._key = key
        self._allowances = allowances or Allowances()
        self._own_server = own_server
        self._lock = Lock()
        self._opened: tuple[OpenAI, Interruption] | None = None
        self._opened_at: ServedAt | None = None
        # Once set, the endpoint is asked to rank no more.
        self.ranks_in_vain = False

    def open(self) -> None:
        """Import the library, which takes more than a second, and create the client.

        The app's own server is not started for that.
        """
        is_own = self.endpoint.base_url == OWN_ADDRESS
        with mapping_endpoint_errors(self.endpoint, self._key):
            self._client(ServedAt(OWN_ADDRESS, "") if is_own else None)

    def close(self) -> None:
        """Close the connections; answers still streaming end with an error."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()

    def pieces(
        self, body: dict[str, Any], cancel: Event, purpose: Purpose | None = None,
        sent: list[SentRequest] | None = None,
    ) -> Generator[StreamPart]:  # fmt: skip
        """The parts of the answer to a chat request with this body, and LAST at the end.

        Where a limit requires a short wait, parts with a status come first. The request is added to
        `sent`.
        """
        asked = _tokens_of(body["messages"])
        yield from self._wait_for_allowance(asked, cancel)
        if sent is not None:
            host = host_of(self.endpoint.base_url)
            sent.append(SentRequest(time.time(), self.endpoint.model, host, in_words(body)))
        counted: Usage | None = None
        answered = 0
        with self._recorder.call(purpose or self._purpose, self.endpoint) as call:
            try:
                for part in self._sent(body, cancel):
                    piece = replace(part, usage=believable(part.usage, body["messages"]))
                    piece = LAST if part is LAST else piece
                    counted = piece.usage or counted
                    answered += sum(rough_token_counts([piece.text, piece.thinking]))
                    yield piece
            finally:
                # A refused request costs nothing.
                usage = counted or (Usage(asked, answered) if answered else Usage(0, 0))
                call.count(usage.asked, usage.answered, is_estimate=counted is None)
                self._allowances.finish(self.endpoint, usage, asked, is_counted=counted is not None)

    def _wait_for_allowance(self, tokens: int, cancel: Event) -> Generator[StreamPart]:
        while pause_s := self._begin(tokens):
            limits = limits_in_words(self.endpoint)
            yield StreamPart(status=f"The limit is {limits}: continuing in {math.ceil(pause_s)} s.")
            pause(pause_s, cancel)
            if cancel.is_set():
                raise Cancelled

    def _begin(self, tokens: int) -> float:
        try:
            return self._allowances.begin(self.endpoint, tokens, is_patient=self._is_patient)
        except AppError as error:
            self._recorder.refused("A request was not sent.", error.title)
            raise

    def _sent(self, body: dict[str, Any], cancel: Event) -> Generator[StreamPart]:
        with self._mapping_errors(), ExitStack() as stack:
            client, interruption = yield from self._reach(stack, cancel)
            pace = StreamPace(self.endpoint.timeout_s, time.monotonic())
            required = {name: body[name] for name in ("model", "messages", "stream")}
            others = {name: value for name, value in body.items() if name not in required}
            with interruption.within(pace.text_limit_s, cancel):
                response = stack.enter_context(
                    client.chat.completions.with_streaming_response.create(
                        **required,
                        extra_body=others or None,
                        timeout=self._patience(is_streamed=body["stream"]),
                    )
                ).http_response
            chunks = response.iter_raw()
            with interruption.within(pace.text_limit_s, cancel):
                begun = read_beginning(lambda: _next_chunk(chunks, cancel, is_finished=False))
                whole = read_whole(chain(begun, chunks)) if is_json(begun) else b""
            if whole:
                yield read_completion(whole)
            else:
                silence_s = self.endpoint.timeout_s
                yield from _read_stream(chain(begun, chunks), interruption, pace, cancel, silence_s)
            yield LAST

    def _patience(self, *, is_streamed: bool) -> "httpx2.Timeout":
        """How long the server may be silent: minutes, where that tells nothing."""
        from desktop_rag.models.endpoints.client.connection import patience

        # A program on this computer or network is silent while it reads a long prompt.
        is_local = is_near(normalise_base_url(self.endpoint.base_url))
        silences = 1 if is_streamed and not is_local else _SILENCES_NEARBY
        return patience(silences * self.endpoint.timeout_s)

    def model_list(self, cancel: Event, shape: ListShape = USUAL_LIST) -> object:
        """The JSON of the list of models, from the provider's path, else the usual one.

        Servers without one cause `Fault.NOTHING_THERE` and others.
        """
        try:
            return self._list_at(shape.path, cancel)
        except EndpointFaultError as exc:
            is_usual = shape.path in ("", USUAL_LIST.path)
            if is_usual or exc.fault not in _NO_SUCH_LIST:
                raise
            return self._list_at(USUAL_LIST.path, cancel)

    def _list_at(self, path: str, cancel: Event) -> object:
        from desktop_rag.models.endpoints.client.connection import LIST_PATH

        with self._mapping_errors(), ExitStack() as stack:
            if not path:
                raise StreamError(Fault.NOTHING_THERE)
            client, interruption = _last(self._reach(stack, cancel))
            with interruption.within(_SILENCES_FOR_LIST * self.endpoint.timeout_s, cancel):
                listing = client.models.with_streaming_response.list(
                    extra_headers={LIST_PATH: path}
                )
                response = stack.enter_context(listing)
                return load_json(read_whole(response.http_response.iter_raw()))

    def vectors(self, texts: Sequence[str], cancel: Event, *, limit_s: float = 0.0) -> Vectors:
        """The vectors of the texts, one per row; 0 for the usual limit."""
        limit_s = limit_s or _SILENCES_FOR_VECTORS * self.endpoint.timeout_s
        # Servers refuse empty texts.
        given = [text if text.strip() else "." for text in texts]
        with (
            self._asking(limit_s, cancel) as (client, call),
            client.embeddings.with_streaming_response.create(
                input=given, model=self.endpoint.model, encoding_format="float"
            ) as response,
        ):
            body = load_json(read_whole(response.http_response.iter_raw()))
            fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
            counted = read_usage(fields.get("usage"))
            tokens = counted.asked if counted else sum(rough_token_counts(texts))
            call.count(tokens, 0, is_estimate=counted is None)
            return read_vectors(body, len(texts))

    def ranks(
        self, model: str, question: str, texts: Sequence[str], cancel: Event, *, limit_s: float
    ) -> list[int]:
        """The places of the texts by how well they answer the question, best first."""
        asked = {"model": model, "query": question, "documents": list(texts)}
        with self._asking(limit_s, cancel) as (client, _):
            return read_ranks(client.post("/rerank", body=asked, cast_to=object), len(texts))

    @contextmanager
    def _asking(self, limit_s: float, cancel: Event) -> "Generator[tuple[OpenAI, OpenCall]]":
        """A recorded request with a limit of its own."""
        with (
            self._recorder.call(self._purpose, self.endpoint) as call,
            self._mapping_errors(),
            ExitStack() as stack,
        ):
            client, interruption = _last(self._reach(stack, cancel))
            with interruption.within(limit_s, cancel):
                yield client, call

    @contextmanager
    def _mapping_errors(self) -> Generator[None]:
        """As `mapping_endpoint_errors`; of the app's own server the reason for its end."""
        try:
            with mapping_endpoint_errors(self.endpoint, self._key):
                yield
        except EndpointFaultError as exc:
            is_lost = exc.fault in _LOST and self.endpoint.base_url == OWN_ADDRESS
            if is_lost and self._own_server and (fault := self._own_server.fault()):
                raise fault from exc
            raise

    def _reach(
        self, stack: ExitStack, cancel: Event
    ) -> "Generator[StreamPart, None, tuple[OpenAI, Interruption]]":
        """The client. The app's own server starts first, and stays until the stack is closed."""
        if self.endpoint.base_url != OWN_ADDRESS:
            return self._client(None)
        if not (own := self._own_server):
            raise AppError(
                "This part of the app runs no models.", "Choose another endpoint in Settings."
            )
        statuses = own.begin(self.endpoint.model, cancel)
        try:
            while True:
                yield StreamPart(status=next(statuses).status)
        except StopIteration as done:
            stack.callback(own.end)
            return self._client(done.value)
        finally:
            statuses.close()

    def _client(self, served: ServedAt | None) -> "tuple[OpenAI, Interruption]":
        from desktop_rag.models.endpoints.client.connection import open_client
        from desktop_rag.models.endpoints.client.interruptible_sockets import Interruption

        with self._lock:
            if self._opened and self._opened_at != served:  # it was started, or started anew
                self._opened[0].close()
                self._opened = None
            if self._opened is None:
                interruption = Interruption()
                endpoint, key = self.endpoint, self._key
                if served:
                    endpoint, key = replace(endpoint, base_url=served.base_url), served.key
                client = open_client(endpoint, key, interruption)
                log.info("Endpoint: %s", host_of(normalise_base_url(endpoint.base_url)))
                self._opened, self._opened_at = (client, interruption), served
            return self._opened


def _last(steps: Generator[StreamPart, None, _T]) -> _T:
    """What a generator returns; nobody sees what it reports."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def _read_stream(
    chunks: Iterator[bytes],
    interruption: "Interruption",
    pace: StreamPace,
    cancel: Event,
    silence_s: float,
) -> Iterator[StreamPart]:
    """The parts of a stream, which may be silent for so long once its text has begun."""
    decoder = EventDecoder()
    is_read = False
    finished_at = math.inf
    chunk: bytes | None = b""
    while chunk is not None:
        # Only while waiting: the caller runs on this thread between the parts.
        is_finished = finished_at < math.inf
        left_s = finished_at + _LAST_EVENTS_S - time.monotonic()
        after_s = min(left_s, silence_s) if pace.has_begun else left_s
        try:
            with interruption.by(cancel, after_s=after_s):
                chunk = _next_chunk(chunks, cancel, is_finished=is_finished)
        except Cancelled as exc:
            if cancel.is_set():
                raise
            raise StreamError(Fault.SILENT) from exc
        pace.receive(len(chunk or b""), time.monotonic())
        for piece in decoder.feed(chunk or b"", is_last=chunk is None):
            is_read = True
            if piece.progress:
                pace.read_on(piece.progress.share, time.monotonic())
            if piece.finish_reason:
                finished_at = min(finished_at, time.monotonic())
            yield piece
            if piece.finish_reason == DONE:
                _read_end(chunks, interruption)
                return
            pace.hear(piece.thinking or piece.text, time.monotonic())
    if not is_read:
        raise StreamError(Fault.UNREADABLE)


def _next_chunk(chunks: Iterator[bytes], cancel: Event, *, is_finished: bool) -> bytes | None:
    """The next chunk, None at the end; errors after a finished answer are ignored."""
    import httpcore2

    try:
        return next(chunks, None)
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as exc:
        if not is_finished:
            raise StreamError(Fault.CUT) from exc
    except httpcore2.ReadTimeout:
        if not is_finished:
            raise
    except Cancelled:
        if cancel.is_set() or not is_finished:
            raise
    return None


def _read_end(chunks: Iterator[bytes], interruption: "Interruption") -> None:
    """Read the end of the body if it has arrived, so that the connection can be reused."""
    import httpcore2 as http

    errors = (Cancelled, http.NetworkError, http.ProtocolError, http.TimeoutException)
    with suppress(*errors), interruption.by(Event(), after_s=_END_WAIT_S):
        next(chunks, None)


def _tokens_of(messages: Sequence[dict[str, Any]]) -> int:
    """A rough token count of messages. An image counts as much as on most servers."""
    texts, images = list[str](), 0
    for content in (message["content"] or "" for message in messages):
        parts = [{"text": content}] if isinstance(content, str) else content
        texts += [part["text"] for part in parts if "text" in part]
        images += sum("image_url" in part for part in parts)
    return sum(rough_token_counts(texts)) + images * _IMAGE_TOKENS
