"""The chat model behind an OpenAI-compatible endpoint. Runs on the worker thread that asks.

openai and its HTTP layer take more than a second to import, so they load with the first question.
"""

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, cast

from desktop_rag.core.errors import Cancelled
from desktop_rag.core.query import storable
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.address import host_of, normalise_base_url
from desktop_rag.models.chat_stream import (
    DONE,
    LAST,
    EventDecoder,
    Piece,
    ThinkingSplitter,
    load_json,
    read_completion,
    read_whole,
)
from desktop_rag.models.endpoint_errors import mapping_endpoint_errors
from desktop_rag.models.faults import EndpointFaultError, Fault, StreamError
from desktop_rag.models.ports import ChatTurn, Delta

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

    from desktop_rag.models.sockets import Interruption

log = logging.getLogger(__name__)

LONGEST_ANSWER_CHARS = 400_000
# Pauses before asking again unasked; a server that wants a longer one is reported instead.
_PAUSES_S = (0.5, 2.0)
_LONGEST_PAUSE_S = 5.0
# A server that stays alive (comments, empty events, a byte now and then) without bringing any text
# is given up after so many times the silence that the endpoint's setting allows.
_SILENCES_FOR_TEXT = 20
_SILENCES_FOR_LIST = 2
_MOST_BYTES_WITHOUT_TEXT = 16 * 1024 * 1024
_END_WAIT_S = 0.1


class ChatClient:
    """Implements ChatModel. One for each endpoint setting, for any thread, closed at the end."""

    def __init__(self, endpoint: EndpointSettings, key: str = "") -> None:
        self._endpoint = endpoint
        self._key = key
        self._lock = Lock()
        self._opened: tuple[OpenAI, Interruption] | None = None

    def __repr__(self) -> str:
        return f"ChatClient({self.name!r})"

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it."""
        return self._endpoint.model

    @property
    def context_tokens(self) -> int:
        """How much it reads, as set."""
        return self._endpoint.context_tokens

    def warm_up(self) -> None:
        """Import the library, which takes more than a second, and make the client."""
        with mapping_endpoint_errors(self._endpoint, self._key):
            self._client()

    def close(self) -> None:
        """Close the connections; answers still streaming end with an error."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()

    def stream(self, turns: Sequence[ChatTurn], cancel: Event) -> Generator[Delta]:
        """Pieces of the answer as they arrive; ends early, connection closed, once `cancel` is set.

        The server is asked again by itself only if it asks to wait a few seconds or drops the
        connection, and only before anything of the answer has come.

        Raises:
            AppError: for whatever the endpoint or the network did wrong, also in mid-stream.
        """
        pauses_s = iter(_PAUSES_S)
        while not cancel.is_set():
            has_begun = False
            try:
                with (
                    mapping_endpoint_errors(self._endpoint, self._key),
                    closing(self._answer(turns, cancel)) as answer,
                ):
                    for delta in answer:
                        has_begun = True
                        yield delta
                        if cancel.is_set():
                            break
                return
            except Cancelled:
                return
            except EndpointFaultError as exc:
                pause_s = next(pauses_s, None)
                if has_begun or pause_s is None or not exc.is_passing:
                    raise
                pause_s = pause_s if exc.wait_s is None else exc.wait_s
                if pause_s > _LONGEST_PAUSE_S:
                    raise
                log.info("Endpoint: %s Asking again in %.1f s.", exc.title, pause_s)
            cancel.wait(pause_s)

    def list_models(self, cancel: Event) -> tuple[str, ...]:
        """The names of the models that the endpoint offers, in its order.

        Raises:
            AppError: also when the server has no such list (`Fault.NOTHING_THERE` and others).
        """
        with mapping_endpoint_errors(self._endpoint, self._key), ExitStack() as stack:
            client, interruption = self._client()
            with interruption.within(_SILENCES_FOR_LIST * self._endpoint.timeout_s, cancel):
                response = stack.enter_context(client.models.with_streaming_response.list())
                body = load_json(read_whole(response.http_response.iter_raw()))
            return _model_names(body)

    def _client(self) -> "tuple[OpenAI, Interruption]":
        from desktop_rag.models.connection import open_client
        from desktop_rag.models.sockets import Interruption

        with self._lock:
            if self._opened is None:
                interruption = Interruption()
                client = open_client(self._endpoint, self._key, interruption)
                log.info("Endpoint: %s", host_of(normalise_base_url(self._endpoint.base_url)))
                self._opened = client, interruption
            return self._opened

    def _answer(self, turns: Sequence[ChatTurn], cancel: Event) -> Generator[Delta]:
        """One request and its whole answer, thinking told apart; complete, or an error."""
        splitter = ThinkingSplitter()
        reason = ""
        has_answer = False
        left_chars = LONGEST_ANSWER_CHARS
        for piece in self._pieces(turns, cancel):
            reason = piece.finish_reason if piece.finish_reason not in ("", DONE) else reason
            reason = reason or piece.finish_reason
            deltas = [Delta(piece.thinking, is_thinking=True)] if piece.thinking else []
            deltas += splitter.finish() if piece is LAST else splitter.feed(piece.text)
            for delta in deltas:
                has_answer = has_answer or not delta.is_thinking
                yield Delta(delta.text[:left_chars], delta.is_thinking)
                left_chars -= len(delta.text)
                if left_chars < 0:
                    raise StreamError(Fault.ENDLESS)
        _check_ending(reason, has_answer)

    def _pieces(self, turns: Sequence[ChatTurn], cancel: Event) -> Iterator[Piece]:
        """What one request brings, and LAST at the end."""
        messages: Any = [{"role": turn.role, "content": turn.text} for turn in turns]
        limit_s = _SILENCES_FOR_TEXT * self._endpoint.timeout_s
        with ExitStack() as stack:
            client, interruption = self._client()
            with interruption.within(limit_s, cancel):
                response = stack.enter_context(
                    client.chat.completions.with_streaming_response.create(
                        model=self._endpoint.model, messages=messages, stream=True
                    )
                ).http_response
            kind = response.headers.get("content-type", "").lower()
            if "html" in kind:
                raise StreamError(Fault.WEB_PAGE)
            if kind.startswith("application/json"):
                with interruption.within(limit_s, cancel):
                    body = read_whole(response.iter_raw())
                yield read_completion(body)
            else:
                yield from _read_stream(response, interruption, limit_s, cancel)
            yield LAST


def _read_stream(
    response: "httpx2.Response", interruption: "Interruption", limit_s: float, cancel: Event
) -> Iterator[Piece]:
    decoder = EventDecoder()
    chunks = response.iter_raw()
    last_text_at, bytes_since = time.monotonic(), 0
    is_read = is_finished = False
    chunk: bytes | None = b""
    while chunk is not None:
        # Only while waiting: the caller runs on this thread between the pieces.
        with interruption.by(cancel):
            chunk = _next_chunk(chunks, is_finished)
        bytes_since += len(chunk or b"")
        for piece in decoder.feed(chunk or b"", is_last=chunk is None):
            is_read = True
            is_finished = is_finished or bool(piece.finish_reason)
            yield piece
            if piece.finish_reason == DONE:
                _read_end(chunks, interruption)
                return
            if piece.text.strip() or piece.thinking.strip():
                last_text_at, bytes_since = time.monotonic(), 0
        if time.monotonic() - last_text_at > limit_s or bytes_since > _MOST_BYTES_WITHOUT_TEXT:
            raise StreamError(Fault.SLOW)
    if not is_read:
        raise StreamError(Fault.UNREADABLE)


def _next_chunk(chunks: Iterator[bytes], is_finished: bool) -> bytes | None:
    """What comes next, None at the end; after a finished answer nothing more is missed."""
    import httpcore2

    try:
        return next(chunks, None)
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as exc:
        if not is_finished:
            raise StreamError(Fault.CUT) from exc
    except httpcore2.ReadTimeout:
        if not is_finished:
            raise
    return None


def _read_end(chunks: Iterator[bytes], interruption: "Interruption") -> None:
    """After the last event: read the end of the body if it is there, so that the connection can
    be used again.
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


def _check_ending(reason: str, has_answer: bool) -> None:
    match reason:
        case "":
            raise StreamError(Fault.CUT)
        case "content_filter":
            raise StreamError(Fault.FILTERED)
        case "length":
            raise StreamError(Fault.UNFINISHED)
        case "tool_calls" | "function_call" if not has_answer:
            raise StreamError(Fault.EMPTY, "It wants to use a tool.")
        case _ if not has_answer:
            raise StreamError(Fault.EMPTY)
        case _:
            return


def _model_names(body: object) -> tuple[str, ...]:
    """From `{"data": [{"id": …}]}`, `{"models": [{"name": …}]}` or the bare list."""
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {"data": body}
    entries = fields.get("data") or fields.get("models")
    if not isinstance(entries, list):
        raise StreamError(Fault.UNREADABLE)
    names: list[str] = []
    for entry in cast("list[Any]", entries):
        if isinstance(entry, dict):
            described = cast("dict[str, Any]", entry)
            name = described.get("id") or described.get("name")
        else:
            name = entry
        if isinstance(name, str) and name:
            names.append(storable(name))
    return tuple(dict.fromkeys(names))
