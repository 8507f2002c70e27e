"""Random requests to the local server, from nearly right to noise, and what comes back of them.

They are written to the socket by hand: no client library would send most of them.
"""

import json
import random
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import Any

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_ODD_METHODS = ("HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", "G" * 300)
_ODD_TEXTS = (
    "", " ", "\0", "\ud800", "a" * 5_000, "../../etc/passwd", "%00", "%2e%2e%2f", "{}", "null",
    "\u202eabc", "💥" * 50, "<script>alert(1)</script>", "' OR 1=1 --", "\r\nX: y", "-1", "9" * 400,
    "type:pdf before:never", '"', "a:b", "http://127.0.0.1:9/", "*", "\x1f", "İ", "ß" * 99,
)  # fmt: skip
_ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, 1e308, -0.0, 0.1, [], {}, [[]],
    [None], {"": {}}, [1, "a"],
)  # fmt: skip
_OTHER_PATHS = (
    "/", "/health", "/v1/models", "/v1/chat/completions", "/v1/responses", "/v1/embeddings",
    "/mcp", "/source.css", "/chat/ask", "/chat/models", "/client.js", "/api/docs", "/api",
    "/api/openapi.json", "/api/v1", "/api/v1/", "/api/v2/x", "//", "/..", "/%", "/%zz", "/%ff",
    "/source/a/b/0-1/2", "/source/a/b/99999999999999999999999-1/2", "*", "?", "/?a=b&a=c",
)  # fmt: skip
# Longer than the server waits for the rest of a request.
_TIMEOUT_S = 45.0


@dataclass
class Outcome:
    """What came back: the number of responses by status, and requests that broke a promise."""

    statuses: Counter[int] = field(default_factory=Counter[int])
    faults: list[str] = field(default_factory=list[str])


class RandomRequests:
    """Makes requests from the server's own OpenAPI document, with the ids that it has seen."""

    def __init__(
        self, seed: int, document: Mapping[str, Any], secrets: Sequence[str], host: str
    ) -> None:
        self._random = random.Random(seed)
        self._schemas: Mapping[str, Any] = document["components"]["schemas"]
        self._operations = [
            (method.upper(), path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        ]
        self._secrets = secrets
        self._host = host
        self.ids: list[str] = ["api"]

    def one(self) -> bytes:
        """A request, as it goes over the wire."""
        pick = self._random.random()
        if pick < 0.75:
            return self._of_operation()
        if pick < 0.95:
            path = self._random.choice((*_OTHER_PATHS, *(o[1] for o in self._operations)))
            method = self._random.choice((*_METHODS, *_ODD_METHODS))
            return self._wired(method, path, self._noise_body())
        noise = self._random.randbytes(self._random.randrange(1, 200))
        return self._random.choice((noise + b"\r\n\r\n", b"GET " + noise + b" HTTP/1.1\r\n\r\n"))

    def _of_operation(self) -> bytes:
        method, path, operation = self._random.choice(self._operations)
        if operation["operationId"] == "ask" and self._random.random() < 0.95:
            # An answer takes as long as a hundred other requests.
            method, path, operation = self._operations[0]
        parts, query = path, list[str]()
        for parameter in operation["parameters"]:
            value = _quoted(self._text_for(parameter["schema"]))
            if parameter["in"] == "path":
                parts = parts.replace(f"{{{parameter['name']}}}", value or "x")
            elif parameter["required"] or self._random.random() < 0.3:
                query.append(f"{parameter['name']}={value}")
        if self._random.random() < 0.05:
            query.append(f"{_quoted(self._odd_text())}={_quoted(self._odd_text())}")
        target = parts + (f"?{'&'.join(query)}" if query else "")
        return self._wired(method, target, self._body_for(operation))

    def _body_for(self, operation: Mapping[str, Any]) -> bytes:
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            return self._noise_body() if content or self._random.random() < 0.05 else b""
        if self._random.random() < 0.05:
            return self._noise_body()
        value = self._value_for(content["application/json"]["schema"], 0)
        try:
            return json.dumps(value, ensure_ascii=self._random.random() < 0.5).encode()
        except UnicodeEncodeError:
            return json.dumps(value).encode()

    def _noise_body(self) -> bytes:
        kinds = (
            b"", b"{}", b"[]", b"null", b"NaN", b'"', b"{" * 2000, b"[" * 50_000, b"\xff\xfe",
            b'{"a":1,"a":2}', b'{"query":"lamp"}', b'{"model":"desktop-rag","messages":[]}',
            b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        )  # fmt: skip
        noise = self._random.randbytes(self._random.randrange(300))
        return self._random.choice((*kinds, noise))

    def _value_for(self, schema: Mapping[str, Any], depth: int) -> Any:
        if self._random.random() < 0.04 or depth > 6:
            return self._random.choice((*_ODD_VALUES, self._odd_text()))
        if "$ref" in schema:
            return self._value_for(self._schemas[schema["$ref"].rpartition("/")[2]], depth)
        if kinds := schema.get("anyOf"):
            return self._value_for(self._random.choice(kinds), depth + 1)
        if choices := schema.get("enum"):
            return self._random.choice(choices)
        match schema.get("type"):
            case "object":
                return self._object_for(schema, depth)
            case "array":
                items, count = schema.get("items", {}), self._random.randrange(4)
                return [self._value_for(items, depth + 1) for _ in range(count)]
            case "string":
                return self._text_for(schema)
            case kind:
                plain = {"boolean": (False, False, True), "null": (None,)}
                numbers = (0, 1, 3, 10, 100, 10_000, -1, 2**60, 0.5)
                return self._random.choice(plain.get(str(kind), numbers))

    def _object_for(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        needed = schema.get("required", ())
        fields = {
            name: self._value_for(field, depth + 1)
            for name, field in schema.get("properties", {}).items()
            if name in needed or self._random.random() < 0.4
        }
        if schema.get("additionalProperties"):
            fields |= {"team": "people", self._odd_text(): self._random.choice(_ODD_VALUES)}
        if self._random.random() < 0.03:
            fields[self._odd_text()] = self._random.choice(_ODD_VALUES)
        return fields

    def _text_for(self, schema: Mapping[str, Any]) -> str:
        if choices := schema.get("enum"):
            return str(self._random.choice(choices))
        if schema.get("type") in ("integer", "number"):
            return str(self._random.choice((0, 1, 2, 50, -1, 10**20, "x", "1e3")))
        pick = self._random.random()
        if pick < 0.1:
            return self._odd_text()
        words = ("lamp", "The lamp is lit at dusk.", "a", "en", "api", "https://wiki.example/a")
        return self._random.choice((*words, *self.ids[-20:], *self.ids[-20:]))

    def _odd_text(self) -> str:
        return self._random.choice(_ODD_TEXTS)

    def _wired(self, method: str, target: str, body: bytes) -> bytes:
        pick = self._random.random()
        secret = self._random.choice(self._secrets) if pick < 0.95 else "drag-wrong"
        lines = [f"{method} {target} HTTP/1.1"]
        if self._random.random() < 0.99:
            lines.append(f"Host: {self._host}")
        lines.append(f"Authorization: Bearer {secret}")
        kinds = ("text/plain", "application/xml", "", "multipart/form-data", "é/ü")
        kind = "application/json" if self._random.random() < 0.95 else self._random.choice(kinds)
        lines.append(f"Content-Type: {kind}")
        if self._random.random() < 0.05:
            names = ("Origin", "Accept", "Range", "If-None-Match", "Expect", "Transfer-Encoding",
                     "X-" + "a" * 500, "Cookie", "Upgrade", "Connection")  # fmt: skip
            values = ("null", "bytes=0-1", "chunked", "100-continue", "*/*;q=x", "h2c", "é" * 50)
            lines.append(f"{self._random.choice(names)}: {self._random.choice(values)}")
        length = len(body) if self._random.random() < 0.99 else self._random.choice((-1, 10**12))
        lines.append(f"Content-Length: {length}")
        head = "\r\n".join(lines).encode("utf-8", "replace")
        return head + b"\r\n\r\n" + body


class Sender:
    """Sends requests over a connection that it opens again when the server closes it."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._connection: socket.socket | None = None
        self.outcome = Outcome()

    def send(self, request: bytes) -> bytes:
        """The body of the response; b"" when the server closed the connection without one."""
        try:
            if self._connection is None:
                self._connection = socket.create_connection(self._address, _TIMEOUT_S)
            self._connection.sendall(request)
            method = request.split(b" ", 1)[0].decode("latin-1")
            response = HTTPResponse(self._connection, method=method)
            response.begin()
            body = response.read()
        except TimeoutError:
            # A request that promises more than it sends is waited for, and then refused.
            self.outcome.faults.append(f"no answer: {request[:300]!r}")
            self.close()
            return b""
        except (OSError, HTTPException):
            self.outcome.statuses[0] += 1
            self.close()
            return b""
        self.outcome.statuses[response.status] += 1
        if response.status == 500:
            self.outcome.faults.append(f"500: {request[:2000]!r}")
        # A response before the end of the request leaves the rest of it in the way.
        if response.will_close or response.status >= 400:
            self.close()
        return body

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def noted_ids(body: bytes) -> list[str]:
    """The ids in a response, to be used in later requests."""
    try:
        found = json.loads(body)
    except ValueError:
        return []
    ids: list[str] = []
    waiting: list[Any] = [found]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            ids += [v for k, v in value.items() if k.endswith("id") and isinstance(v, str)]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value[:10]
    return [each for each in ids if each][:10]


def _quoted(text: str) -> str:
    """Percent-encoded half of the time is not needed: the odd ones are what is tested."""
    raw = text.encode("utf-8", "replace")
    safe = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%/"
    return "".join(chr(byte) if byte in safe else f"%{byte:02X}" for byte in raw)
