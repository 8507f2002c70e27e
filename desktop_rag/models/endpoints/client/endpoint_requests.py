"""The requests to one endpoint: opened, read and closed. On the calling thread.

openai and its HTTP layer take more than a second to import, so the first request imports them.
"""

import logging
import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import chain
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from desktop_rag.activity.activity_event import Purpose
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.core.text import rough_token_counts
from desktop_rag.models.endpoint_address import host_of, normalise_base_url
from desktop_rag.models.endpoints.client.chat_stream import (
    LAST,
    EventDecoder,
    StreamPart,
    Usage,
    load_json,
    read_completion,
    read_whole,
)
from desktop_rag.models.endpoints.client.endpoint_errors import mapping_endpoint_errors
from desktop_rag.models.endpoints.client.endpoint_faults import (
    EndpointFaultError,
    Fault,
    StreamError,
)
from desktop_rag.models.endpoints.client.interruptible_wait import pause
from desktop_rag.models.endpoints.client.limits.believable_usage import believable
from desktop_rag.models.endpoints.client.rate_limits import Allowances, limits_in_words
from desktop_rag.models.endpoints.client.remote_vectors import read_vectors
from desktop_rag.models.endpoints.client.streams.finish_reasons import DONE
from desktop_rag.models.endpoints.client.streams.stream_pace import SILENCES_FOR_TEXT, StreamPace
from desktop_rag.models.endpoints.providers import USUAL_LIST, ListShape
from desktop_rag.models.ports import Vectors

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

    from desktop_rag.models.endpoints.client.interruptible_sockets import Interruption

log = logging.getLogger(__name__)

# Tells by its first bytes whether an answer is one JSON body or events. The type that servers
# declare is often another. On the calling worker thread.

_BLANK = b"\xef\xbb\xbf \r\n\t"
_MOST_BLANK_BYTES = 1 << 20


def read_beginning(take: Callable[[], bytes | None]) -> list[bytes]:
    """The first chunk that isn't blank, if one comes soon; `take` returns None after the last.

    Blank ones before it mean nothing and are let go: there may be any number of them.

    Raises:
        StreamError: when the connection ends before; then nothing was lost.
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
    """True for one JSON body, False for events and anything else."""
    return b"".join(begun).lstrip(_BLANK).startswith((b"{", b"["))


# A list or vectors that take longer than this many times the endpoint's timeout are given up.
_SILENCES_FOR_VECTORS = 20
_SILENCES_FOR_LIST = 2
_END_WAIT_S = 0.1
# Older versions of a program, and keys with fewer rights, have the usual list alone.
_NO_SUCH_LIST = frozenset({
    Fault.NOTHING_THERE, Fault.WEB_PAGE, Fault.REJECTED, Fault.FORBIDDEN, Fault.UNREADABLE,
})  # fmt: skip
# The wait for what may follow the end of the answer: the count of tokens, and [DONE].
_LAST_EVENTS_S = 2.0
_IMAGE_TOKENS = 1_000


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
    ) -> None:
        """`allowances` enforce the endpoint's limits and count its costs.

        Requests are recorded with this `purpose` unless they have another. Where there is a limit,
        patient requests let others go first.
        """
        self._recorder = recorder or Recorder()
        self._purpose = purpose
        self._is_patient = is_patient
        self.endpoint = endpoint
        self._key = key
        self._allowances = allowances or Allowances()
        self._lock = Lock()
        self._opened: tuple[OpenAI, Interruption] | None = None

    def open(self) -> None:
        """Import the library, which takes more than a second, and create the client."""
        with mapping_endpoint_errors(self.endpoint, self._key):
            self._client()

    def close(self) -> None:
        """Close the connections; answers still streaming end with an error."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()

    def pieces(
        self, body: dict[str, Any], cancel: Event, purpose: Purpose | None = None
    ) -> Generator[StreamPart]:
        """The parts of the answer to a chat request with this body, and LAST at the end.

        Where a limit requires a short wait, parts with a status come first.
        """
        asked = _tokens_of(body["messages"])
        yield from self._wait_for_allowance(asked, cancel)
        counted: Usage | None = None
        answered = 0
        with self._recorder.call(purpose or self._purpose, self.endpoint) as call:
            try:
                for sent in self._sent(body, cancel):
                    piece = replace(sent, usage=believable(sent.usage, body["messages"]))
                    piece = LAST if sent is LAST else piece
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
        pace = StreamPace(self.endpoint.timeout_s, time.monotonic())
        with mapping_endpoint_errors(self.endpoint, self._key), ExitStack() as stack:
            client, interruption = self._client()
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
                yield from _read_stream(chain(begun, chunks), interruption, pace, cancel)
            yield LAST

    def _patience(self, *, is_streamed: bool) -> "httpx2.Timeout":
        """How long the server may be silent: until the end of an answer that isn't streamed."""
        from desktop_rag.models.endpoints.client.connection import patience

        silences = 1 if is_streamed else SILENCES_FOR_TEXT
        return patience(silences * self.endpoint.timeout_s)

    def model_list(self, cancel: Event, shape: ListShape = USUAL_LIST) -> object:
        """The JSON of the list of models, from where the provider has it, else the usual place.

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

        with mapping_endpoint_errors(self.endpoint, self._key), ExitStack() as stack:
            if not path:
                raise StreamError(Fault.NOTHING_THERE)
            client, interruption = self._client()
            with interruption.within(_SILENCES_FOR_LIST * self.endpoint.timeout_s, cancel):
                listing = client.models.with_streaming_response.list(
                    extra_headers={LIST_PATH: path}
                )
                response = stack.enter_context(listing)
                return load_json(read_whole(response.http_response.iter_raw()))

    def vectors(self, texts: Sequence[str], cancel: Event) -> Vectors:
        """The vectors of the texts, one per row."""
        with (
            self._recorder.call(self._purpose, self.endpoint),
            mapping_endpoint_errors(self.endpoint, self._key),
            ExitStack() as stack,
        ):
            client, interruption = self._client()
            with interruption.within(_SILENCES_FOR_VECTORS * self.endpoint.timeout_s, cancel):
                response = stack.enter_context(
                    client.embeddings.with_streaming_response.create(
                        input=list(texts), model=self.endpoint.model, encoding_format="float"
                    )
                )
                body = load_json(read_whole(response.http_response.iter_raw()))
            return read_vectors(body, len(texts))

    def _client(self) -> "tuple[OpenAI, Interruption]":
        from desktop_rag.models.endpoints.client.connection import open_client
        from desktop_rag.models.endpoints.client.interruptible_sockets import Interruption

        with self._lock:
            if self._opened is None:
                interruption = Interruption()
                client = open_client(self.endpoint, self._key, interruption)
                log.info("Endpoint: %s", host_of(normalise_base_url(self.endpoint.base_url)))
                self._opened = client, interruption
            return self._opened


def _read_stream(
    chunks: Iterator[bytes], interruption: "Interruption", pace: StreamPace, cancel: Event
) -> Iterator[StreamPart]:
    decoder = EventDecoder()
    is_read = False
    finished_at = math.inf
    chunk: bytes | None = b""
    while chunk is not None:
        # Only while waiting: the caller runs on this thread between the parts.
        left_s = finished_at + _LAST_EVENTS_S - time.monotonic()
        with interruption.by(cancel, after_s=left_s):
            chunk = _next_chunk(chunks, cancel, is_finished=finished_at < math.inf)
        pace.receive(len(chunk or b""), time.monotonic())
        for piece in decoder.feed(chunk or b"", is_last=chunk is None):
            is_read = True
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
    """The next chunk, None at the end; after a finished answer nothing is waited for long, and
    errors are ignored.
    """
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
    """After the last event, read the end of the body if it has arrived, so that the connection can
    be reused.
    """
    import httpcore2

    errors = (
        Cancelled,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.TimeoutException,
    )
    with suppress(*errors), interruption.by(Event(), after_s=_END_WAIT_S):
        next(chunks, None)


def _tokens_of(messages: Sequence[dict[str, Any]]) -> int:
    """A rough token count of messages. An image counts as much as on most servers."""
    texts, images = list[str](), 0
    for content in (message["content"] for message in messages):
        parts = [{"text": content}] if isinstance(content, str) else content
        texts += [part["text"] for part in parts if "text" in part]
        images += sum("image_url" in part for part in parts)
    return sum(rough_token_counts(texts)) + images * _IMAGE_TOKENS
