"""Asks another application which documents its user may read. Worker threads.

Anything but a clear answer is a refusal: none, a late or a large one, a redirect, another form, a
document that was not asked about.
"""

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, cast

import httpcore2

from desktop_rag.core.errors import Cancelled
from desktop_rag.core.waits import Backoff
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.models.endpoints.client.interruptible_sockets import (
    InterruptibleBackend,
    Interruption,
)

log = logging.getLogger(__name__)

BATCH = 1_000
# For all batches together.
_LIMIT_S = 10.0
_LARGEST_ANSWER_BYTES = 1024 * 1024
# Answers are kept for this long, so a right may outlive its end by as much.
KEPT_S = 30.0
# An application that does not answer holds up the requests of others.
_ALONE_S = 5.0
_MOST_KEPT = 1_000
_OK = 200
_NOT_THIS_USER = (401, 403)


@dataclass(frozen=True, slots=True)
class AskedDocument:
    """A document as the application gets it: our id, the id by which it sent it, path, address.

    Whoever may read it may read what is `inside` it, such as attachments.
    """

    document_id: str
    own_id: str = ""
    path: str = ""
    url: str = ""
    inside: tuple[str, ...] = ()

    def to_json(self) -> dict[str, str]:
        """The form in a request."""
        return {"id": self.document_id, "own_id": self.own_id, "path": self.path, "url": self.url}


@dataclass
class _Kept:
    """An answer, when it expires, and the lock that lets only one thread ask for it."""

    until: float = 0.0
    document_ids: tuple[str, ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)


class RightsAddress:
    """Asks applications, and keeps their answers for a short time."""

    def __init__(self) -> None:
        self._interruption = Interruption()
        self._kept: dict[tuple[str, str, str], _Kept] = {}
        self._lock = threading.Lock()
        self._backoffs: dict[str, Backoff] = {}

    def readable(
        self,
        address: str,
        collection_id: str,
        collection: str,
        token: str,
        documents: Callable[[], Sequence[AskedDocument]],
    ) -> tuple[str, ...]:
        """The `documents` that the user of a token may read; refuses if that can't be told."""
        key = (address, collection_id, hashlib.sha256(token.encode()).hexdigest())
        with self._lock:
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            kept = self._kept.setdefault(key, _Kept())
        with kept.lock:
            if time.monotonic() >= kept.until:
                kept.document_ids = self._asked(address, collection, token, documents())
                kept.until = time.monotonic() + KEPT_S
            return kept.document_ids

    def _asked(
        self, address: str, collection: str, token: str, documents: Sequence[AskedDocument]
    ) -> tuple[str, ...]:
        backoff = self._backoffs.setdefault(address, Backoff(_ALONE_S, _ALONE_S, time.monotonic))
        if backoff.left_s:
            raise _unknown("it did not answer a moment ago")
        readable: list[str] = []
        try:
            with self._interruption.by(Event(), after_s=_LIMIT_S), self._pool(address) as pool:
                for begin in range(0, len(documents), BATCH):
                    some = documents[begin : begin + BATCH]
                    readable += _batch(pool, address, collection, token, some)
        except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError,
                OSError, Cancelled) as exc:  # fmt: skip
            backoff.begin()
            raise _unknown(type(exc).__name__) from exc
        inside = {each.document_id: each.inside for each in documents}
        return tuple(i for root in readable for i in (root, *inside[root]))

    def _pool(self, address: str) -> httpcore2.ConnectionPool:
        """A connection to an address, without a proxy: the token is for the application alone."""
        return httpcore2.ConnectionPool(
            ssl_context=httpcore2.default_ssl_context() if address.startswith("https:") else None,
            max_connections=1,
            network_backend=InterruptibleBackend(self._interruption),
        )


def _batch(
    pool: httpcore2.ConnectionPool,
    address: str,
    collection: str,
    token: str,
    documents: Sequence[AskedDocument],
) -> list[str]:
    body = {"collection": collection, "documents": [each.to_json() for each in documents]}
    headers = [
        ("Authorization", f"Bearer {token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
        ("Accept-Encoding", "identity"),
        ("User-Agent", "desktop-rag"),
    ]
    timeout = dict.fromkeys(("connect", "read", "write", "pool"), _LIMIT_S)
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    with pool.stream(
        "POST", address, headers=headers, content=content, extensions={"timeout": timeout}
    ) as answer:
        if answer.status in _NOT_THIS_USER:
            raise Refusal(401, "The token of the user is not valid.", code="invalid_user_token")
        if answer.status != _OK:
            raise _unknown(f"status {answer.status}")
        received = bytearray()
        for piece in answer.iter_stream():
            received += piece
            if len(received) > _LARGEST_ANSWER_BYTES:
                raise _unknown("its answer is too large")
    return _readable_in(bytes(received), {each.document_id for each in documents})


def _readable_in(content: bytes, asked: set[str]) -> list[str]:
    """The ids in an answer; refuses any other form, and ids that were not asked about."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as exc:
        raise _unknown("its answer is not JSON") from exc
    found = cast("Mapping[str, Any]", answer).get("readable") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise _unknown("its answer has another form")
    ids = cast("list[object]", found)
    if not all(isinstance(each, str) and each in asked for each in ids):
        raise _unknown("it names documents that it was not asked about")
    return list(dict.fromkeys(cast("list[str]", ids)))


def _unknown(why: str) -> Refusal:
    log.info("an application did not tell what its user may read: %s", why)
    return Refusal(
        503, "What this user may read can't be found out now.",
        code="rights_unknown", retry_after_s=_ALONE_S,
    )  # fmt: skip
