"""A real OpenAI-compatible HTTP server on this computer, for tests: it answers, or misbehaves.

    with ChatServer("The lamp is lit [1].") as server:
        client = ChatClient(server.endpoint())
        ...
        server.mode = "silence"          # may be changed at any time, from any thread
        assert server.chats[0]["messages"][-1]["content"].endswith("When is it lit?")

`requests` and `chats` (the bodies of chat requests) are in the order they came.
"""

import itertools
import json
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from desktop_rag.core.settings import EndpointSettings
from tests.servers.loopback_server import LoopbackHandler, LoopbackServer, tls_context
from tests.servers.model_dialects import Dialect

Mode = Literal[
    "answer",  # the answer, streamed in pieces
    "whole",  # one JSON body although a stream was requested
    "think_tags",  # `thinking` in <think> tags before the answer
    "think_end",  # `thinking`, and only </think> before the answer
    "think_fields",  # `thinking` in reasoning_content
    "silence",  # accepts the request and never answers
    "stall",  # half of the answer, then silence
    "no_done",  # the whole answer, then silence in place of [DONE]
    "lingers",  # the whole answer with [DONE], but the connection stays open
    "cut",  # half of the answer, then the connection ends
    "close",  # closes the connection without an answer
    "unfinished",  # ends the stream properly in the middle of the answer, without a finish reason
    "length",  # finish reason: maximum length
    "filter",  # finish reason: content filter
    "tools",  # calls a tool that was not offered, without text
    "empty",  # finishes without any text
    "events",  # comments, unknown events and odd chunks among the pieces of the answer
    "error_event",  # half of the answer, then an error in the stream
    "bad_utf8",  # invalid UTF-8 inside the answer
    "garbage",  # events that are not JSON
    "deep",  # an event of a hundred thousand brackets
    "giant_line",  # one endless line
    "endless",  # an endless answer
    "loops",  # an endless answer of the same words
    "pings",  # half of the answer, then comments and empty events without end
    "gzip",  # claims to be compressed
    "packed",  # the whole answer, compressed by `pack`, with `headers`
    "html",  # a web page
    "not_http",  # not HTTP
    "redirect",  # to `redirect_to`
    "status",  # `status` with `error` as its body
]
THINKING = "Let me look at the sources."
_HTML = "<!doctype html><html><body><h1>It works!</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any] = field(default_factory=dict)
    client_port: int = 0  # identifies the connection


class ChatServer(LoopbackServer):
    """Listens between `__enter__` and `__exit__`; its attributes control its behaviour."""

    def __init__(
        self,
        answer: str = "The lamp is lit at dusk [1].",
        *,
        mode: Mode = "answer",
        certificate: Path | None = None,
    ) -> None:
        self.answer = answer
        self.first_answers: list[str] = []  # for the first requests, before `answer`
        self.answer_to: Callable[[str], str] | None = None  # takes the prompt; replaces `answer`
        # In place of the answers to the first requests that offer tools: what is called in each.
        self.turns_with_calls: list[list[tuple[str, object]]] = []
        self.mode: Mode = mode
        self.dialect = Dialect(counts_usage=False)
        self.models: tuple[str, ...] = ("test-model",)
        # In these modes the list of models fails like the chat.
        self.modes_of_list: set[Mode] = {"html", "redirect", "silence", "close", "not_http"}
        self.has_model_list = True
        self.list_path = "/v1/models"
        self.model_list: object = None  # the whole body, in place of one made of `models`
        self.wanted_key = ""  # any key is accepted while this is empty
        self.is_echoing_key = False  # in the message of the 401
        self.piece_chars = 4
        self.finish_reason = "stop"  # of a whole answer
        self.pause_s = 0.0  # before each piece
        self.status = 500
        self.error: object = {"error": {"message": "Something broke."}}
        self.headers: dict[str, str] = {}  # of a "status", "redirect" or "packed" answer
        self.pack: Callable[[bytes], bytes] = bytes
        self.redirect_to = ""
        self.misbehaves_times: int | None = None  # after this many chats the mode is "answer"
        self.requests: list[Request] = []
        self.has_asked = threading.Event()  # a chat request came in
        self.has_sent = threading.Event()  # the first pieces were sent
        self.first_sent_at = 0.0  # the time of the last answer's first pieces, by time.monotonic()
        self.has_lost_client = threading.Event()  # the client closed the connection early
        self._is_tls = certificate is not None
        super().__init__(_Handler, tls_context(certificate) if certificate else None)

    @property
    def base_url(self) -> str:
        start = "https://localhost" if self._is_tls else "http://127.0.0.1"
        return f"{start}:{self.port}/v1"

    @property
    def chats(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests if request.method == "POST"]

    def embed(self, texts: list[str], /) -> object:
        return self.dialect.vectors(texts)

    def rerank(self, texts: list[str], /) -> object:
        return {"error": {"message": f"No order here for {len(texts)} texts."}}

    def endpoint(self, *, model: str = "test-model", timeout_s: float = 5.0) -> EndpointSettings:
        return EndpointSettings(base_url=self.base_url, model=model, timeout_s=timeout_s)


class _Handler(LoopbackHandler):
    @property
    def script(self) -> ChatServer:
        assert isinstance(self.owner, ChatServer)
        return self.owner

    def do_GET(self) -> None:  # noqa: N802
        self._record({})
        if self._is_key_wrong():
            return
        if not self.script.has_model_list or self.path.partition("?")[0] != self.script.list_path:
            self._send_json(404, {"error": {"message": "Not found"}})
        elif self.script.mode in self.script.modes_of_list:
            self._misbehave()
        else:
            made = {"data": [{"id": name} for name in self.script.models]}
            self._send_json(200, self.script.model_list or made)

    def do_POST(self) -> None:  # noqa: N802
        size = int(self.headers["Content-Length"])
        self._record(json.loads(self.rfile.read(size)))
        self.script.has_asked.set()
        if self._is_key_wrong():
            return
        if said := self.script.dialect.refusal(self._asked):
            self._send_json(400, {"error": {"message": said}})
            return
        if self.script.misbehaves_times is not None:
            self.script.misbehaves_times -= 1
            if self.script.misbehaves_times < 0:
                self._answer()
                return
        self._misbehave()

    def _answer(self) -> None:
        if self.path.endswith("/rerank"):
            self._send_json(200, self.script.rerank(self._asked["documents"]))
        elif self.path.endswith("/embeddings"):
            self._send_json(200, self.script.embed(self._asked["input"]))
        elif self._asked.get("stream") is False:
            self._send_json(200, self._completion())
        else:
            self._stream(self._pieces())

    def _record(self, body: dict[str, Any]) -> None:
        # Not the last of the server's: others may come at the same time.
        self._asked = body
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.script.requests.append(
            Request(self.command, self.path, headers, body, self.client_address[1])
        )

    def _is_key_wrong(self) -> bool:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not self.script.wanted_key or given == self.script.wanted_key:
            return False
        shown = f": {given}" if self.script.is_echoing_key else ""
        self._send_json(401, {"error": {"message": f"Incorrect API key provided{shown}."}})
        return True

    # --- answers ---------------------------------------------------------------------------------

    def _misbehave(self) -> None:
        mode = self.script.mode
        acts: dict[str, Callable[[], None]] = {
            "whole": lambda: self._send_json(200, self._completion()),
            "silence": self._wait_for_client,
            "close": self._close,
            "gzip": lambda: self._send(
                200, "text/event-stream", b"x", {"Content-Encoding": "gzip"}
            ),
            "packed": self._send_packed,
            "html": lambda: self._send(200, "text/html; charset=utf-8", _HTML.encode()),
            "not_http": lambda: self._close(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
            "redirect": lambda: self._send(307, "", b"", {"Location": self.script.redirect_to}),
            "status": self._send_status,
        }
        if mode in acts:
            acts[mode]()
        else:
            self._answer()

    def _send_status(self) -> None:
        script = self.script
        if isinstance(script.error, str):
            self._send(script.status, "text/html", script.error.encode(), script.headers)
        else:
            self._send_json(script.status, script.error, script.headers)

    def _send_packed(self) -> None:
        script, events = self.script, b"".join(self._pieces())
        self._send(200, "text/event-stream", script.pack(events), script.headers)

    def _send_json(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, "application/json", json.dumps(body).encode(), headers)

    def _send(
        self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _close(self, last_words: bytes = b"") -> None:
        self.wfile.write(last_words)
        self.close_connection = True

    def _wait_for_client(self) -> None:
        """Stay silent until the client has gone or the test is over."""
        while not self.script.released.wait(0.01):
            if select.select([self.connection], [], [], 0)[0]:
                self.script.has_lost_client.set()
                break
        self.close_connection = True

    def _stream(self, events: Iterable[bytes]) -> None:
        """The events as a chunked body; an incomplete one is not terminated."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.script.first_sent_at = 0.0
        try:
            for event in events:
                if self.script.released.wait(self.script.pause_s):
                    break
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                self.script.first_sent_at = self.script.first_sent_at or time.monotonic()
                self.script.has_sent.set()
            if not self.close_connection:
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.script.has_lost_client.set()
            self.close_connection = True

    def _completion(self) -> dict[str, Any]:
        self.script.released.wait(self.script.pause_s)
        message = {"role": "assistant", "content": self.script.answer}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    def _usual_answer(self) -> str:
        if self.script.answer_to is None:
            return self.script.answer
        turns = self._asked["messages"]
        return self.script.answer_to("\n".join(str(turn["content"]) for turn in turns))

    def _texts(self) -> list[bytes]:
        script = self.script
        text = script.first_answers.pop(0) if script.first_answers else self._usual_answer()
        text = script.dialect.answer(self._asked, text)
        step = script.piece_chars
        return [_delta(content=text[at : at + step]) for at in range(0, len(text), step)]

    def _calls(self) -> list[bytes]:
        """The pieces of the calls that take the place of this answer; none for any other."""
        is_offered = "tools" in self._asked and self.script.mode == "answer"
        if not (is_offered and self.script.turns_with_calls):
            return []
        pieces: list[bytes] = [_delta(content="Let me look. ")]
        for index, (name, arguments) in enumerate(self.script.turns_with_calls.pop(0)):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            named = {"index": index, "id": f"call-{index}", "type": "function"}
            pieces.append(_delta(tool_calls=[{**named, "function": {"name": name}}]))
            for at in range(0, len(text), self.script.piece_chars):
                part = text[at : at + self.script.piece_chars]
                pieces.append(
                    _delta(tool_calls=[{"index": index, "function": {"arguments": part}}])
                )
        return [*pieces, _end("tool_calls"), _DONE]

    def _pieces(self) -> Iterable[bytes]:
        if calls := self._calls():
            yield from calls
            return
        mode, texts = self.script.mode, self._texts()
        if mode in _ENDLESS:
            yield from _ENDLESS[mode]()
        if mode in ("no_done", "lingers"):
            yield from [*texts, _end("stop"), *([_DONE] if mode == "lingers" else [])]
            self._wait_for_client()
            return
        if mode == "pings":
            yield from [*texts[: len(texts) // 2], *([_PING] * 100_000)]
        if mode in _AFTER_HALF:
            yield from texts[: len(texts) // 2] if mode != "empty" else [_delta(role="assistant")]
            if mode == "stall":
                self._wait_for_client()
            self.close_connection = mode in ("stall", "cut")
            yield from _AFTER_HALF[mode]
            return
        yield from map(_event, self.script.dialect.progress_events(self._asked))
        yield from _FIRST.get(mode, list)()
        yield from texts if mode not in ("tools", "garbage", "deep") else []
        usage = self.script.dialect.usage_events(self._asked, self.script.answer)
        yield from [_end(_ENDS.get(mode, self.script.finish_reason)), *map(_event, usage), _DONE]


def _event(fields: object) -> bytes:
    return f"data: {json.dumps(fields)}\n\n".encode()


def _delta(**delta: object) -> bytes:
    return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def _end(reason: str) -> bytes:
    return _event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})


_DONE = b"data: [DONE]\n\n"
_PING = b": still here\n\n" + _event({"choices": [{"delta": {}}]})


def _giant_line() -> Iterator[bytes]:
    yield b'data: {"choices": [{"delta": {"content": "and so on'
    yield from itertools.repeat(b"x" * 65536)


_ENDLESS: dict[str, Callable[[], Iterable[bytes]]] = {
    "giant_line": _giant_line,
    "endless": lambda: (_delta(content=f"so on {n}, " * 10) for n in itertools.count()),
    "loops": lambda: itertools.repeat(_delta(content="so on, ") * 10),
}


def _odd_events() -> list[bytes]:
    return [
        b": a comment\r\n\r\n",
        b"retry: 10\nid: 7\n\n",
        b"event: execute\ndata: import os\n\n",
        b"event: ping\n\n",
        _event({"choices": []}),
        _event({"choices": None, "usage": {"total_tokens": 3}}),
        _event({"choices": [{"delta": None}]}),
        _event({"choices": [{"delta": {"content": 5, "tool_calls": [{"function": 1}]}}]}),
        _event([1, "two"]),
        _event(None),
    ]


_FIRST: dict[str, Callable[[], list[bytes]]] = {
    "think_tags": lambda: (
        [_delta(content=part) for part in ("\n<thi", "nk>", THINKING, "</th")]
        + [_delta(content="ink>\n\n")]
    ),
    "think_end": lambda: [_delta(content=f"{THINKING}\n</thi"), _delta(content="nk>\n\n")],
    "think_fields": lambda: [
        _delta(reasoning_content=THINKING[:9]),
        _delta(reasoning=THINKING[9:]),
    ],
    "tools": lambda: [_delta(tool_calls=[{"function": {"name": "rm", "arguments": "{}"}}])],
    "events": _odd_events,
    "bad_utf8": lambda: [_delta(content="caf? ").replace(b"?", b"\xe9\xff")],
    "garbage": lambda: [b"data: {not json\n\n"],
    "deep": lambda: [b"data: " + b"[" * 100_000 + b"\n\n"],
}
_ENDS = {"tools": "tool_calls"}
_AFTER_HALF: dict[str, list[bytes]] = {
    "stall": [],
    "cut": [],
    "unfinished": [],
    "length": [_end("length")],
    "filter": [_end("content_filter")],
    "empty": [_end("stop"), _DONE],
    "error_event": [_event({"error": {"message": "Out of memory", "code": 500}})],
}
