"""The embedder behind an OpenAI-compatible endpoint's /embeddings. Runs on the thread that asks.

Its vectors are checked as carefully as any answer of a server, since nobody would see what is wrong
with them. openai and its HTTP layer load with the first request.
"""

import base64
import logging
import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.core.text import rough_token_counts
from desktop_rag.models.address import host_of, normalise_base_url
from desktop_rag.models.chat_stream import load_json, read_whole
from desktop_rag.models.endpoint_errors import mapping_endpoint_errors
from desktop_rag.models.faults import EndpointFaultError, Fault, StreamError, server_message
from desktop_rag.models.ports import EmbedderFaultError, Vectors

if TYPE_CHECKING:
    from openai import OpenAI

    from desktop_rag.models.sockets import Interruption

log = logging.getLogger(__name__)

_SCHEMES = ("http://", "https://")
_MAX_TOKENS = 512
_TOKEN_CHARS = 3
_BATCH = 64
# Pauses before asking again; a server that wants a longer one is left alone by whoever asks.
_PAUSES_S = (0.5, 2.0)
_LONGEST_PAUSE_S = 10.0
# A question does not wait longer; and once the server did not answer, the next ones don't ask.
_QUERY_S = 8.0
_AWAY_S = 30.0
# Below this a text is not cut any shorter for a server that finds it too long.
_LEAST_TOKENS = 64
_EXAMPLE = "For example http://localhost:11434/v1#nomic-embed-text"


def is_address(spec: str) -> bool:
    """Whether what was chosen is the address of an endpoint, not a folder."""
    return spec.strip().lower().startswith(_SCHEMES)


def endpoint_of(spec: str) -> EndpointSettings:
    """The endpoint and model of `https://host/v1#model`; AppError when it is no such address."""
    address, _, model = spec.strip().partition("#")
    if not model.strip():
        raise AppError("The address does not name a model.", f"Add # and its name. {_EXAMPLE}.")
    return EndpointSettings(normalise_base_url(address), model.strip())


class RemoteEmbedder:
    """An `Embedder` over an endpoint. One for each address, for any thread, closed at the end."""

    def __init__(
        self, endpoint: EndpointSettings, key_of: Callable[[str], str], *, dimensions: int = 0
    ) -> None:
        """`key_of` gives the key for an address, asked on first use. `dimensions` 0 is found out
        with the first request.
        """
        self._endpoint = endpoint
        self._key_of = key_of
        self._key: str | None = None
        self._dimensions = dimensions
        self._lock = Lock()
        self._closing = Event()
        self._opened: tuple[OpenAI, Interruption] | None = None
        self._away_until = -math.inf
        self._away_error = EmbedderFaultError("")

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self.name!r})"

    @property
    def name(self) -> str:
        """Model and host: whether the host changes its weights can't be seen from here."""
        return f"{self._endpoint.model}@{host_of(self._endpoint.base_url)}"

    @property
    def dimensions(self) -> int:
        """Length of a vector; the server is asked if it is not known."""
        if not self._dimensions:
            self._ask(["a"])
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """What most models read at least, by a rough count."""
        return _MAX_TOKENS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """A rough count, as the tokenizer is elsewhere."""
        return rough_token_counts(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimensions)."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        parts = [self._embed(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
        return np.concatenate(parts)

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (dimensions,). Fails within seconds: somebody is waiting."""
        if time.monotonic() < self._away_until:
            raise self._away_error
        try:
            return self._request([_cut(text, _MAX_TOKENS)], _QUERY_S)[0]
        except AppError as exc:
            raise self._remember(_in_words(exc)) from exc
        except Cancelled as exc:
            if self._closing.is_set():
                raise
            slow = f"{self._endpoint.model} did not answer within {_QUERY_S:g} seconds."
            raise self._remember(EmbedderFaultError(slow, "Words were searched.")) from exc

    def set_threads(self, threads: int) -> None:
        """Nothing: it computes elsewhere."""

    def close(self) -> None:
        """Close the connections; requests under way end with Cancelled."""
        self._closing.set()
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()

    # --- asking ----------------------------------------------------------------------------------

    def _embed(self, texts: Sequence[str], max_tokens: int = _MAX_TOKENS) -> Vectors:
        try:
            return self._ask([_cut(text, max_tokens) for text in texts])
        except EmbedderFaultError as exc:
            is_long = isinstance(exc.__cause__, EndpointFaultError) and (
                exc.__cause__.fault is Fault.TOO_LONG
            )
            if not is_long or max_tokens < 2 * _LEAST_TOKENS:
                raise
        # The rough count was too low, as it is for scripts of which a token holds a sign or two.
        return self._embed(texts, max_tokens // 2)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        """One batch, asked again after a short pause if the server wants one."""
        pauses_s = iter(_PAUSES_S)
        while True:
            try:
                return self._request(texts, math.inf)
            except EndpointFaultError as exc:
                pause_s = next(pauses_s, None)
                wait_s = pause_s if exc.wait_s is None else exc.wait_s
                is_over = pause_s is None or wait_s is None or wait_s > _LONGEST_PAUSE_S
                if is_over or not exc.is_passing:
                    raise self._remember(_in_words(exc)) from exc
                log.info("Embedding: %s Asking again in %.1f s.", exc.title, wait_s)
            except AppError as exc:
                raise self._remember(_in_words(exc)) from exc
            if self._closing.wait(wait_s):
                raise Cancelled

    def _remember(self, error: EmbedderFaultError) -> EmbedderFaultError:
        self._away_error = error
        self._away_until = time.monotonic() + max(_AWAY_S, error.wait_s or 0.0)
        return error

    def _request(self, texts: Sequence[str], limit_s: float) -> Vectors:
        if self._closing.is_set():
            raise Cancelled
        key = self._known_key()
        with mapping_endpoint_errors(self._endpoint, key), ExitStack() as stack:
            client, interruption = self._client(key)
            with interruption.by(self._closing, after_s=limit_s):
                response = stack.enter_context(
                    client.embeddings.with_streaming_response.create(
                        # Servers refuse texts without anything in them.
                        input=[text if text.strip() else "." for text in texts],
                        model=self._endpoint.model,
                        encoding_format="float",
                    )
                )
                body = read_whole(response.http_response.iter_raw())
            vectors = _read_vectors(load_json(body), len(texts))
        found = self._checked(vectors)
        self._away_until = -math.inf
        return found

    def _known_key(self) -> str:
        with self._lock:
            if self._key is None:
                self._key = self._key_of(self._endpoint.base_url)
            return self._key

    def _client(self, key: str) -> "tuple[OpenAI, Interruption]":
        from desktop_rag.models.connection import open_client
        from desktop_rag.models.sockets import Interruption

        with self._lock:
            if self._opened is None:
                interruption = Interruption()
                client = open_client(self._endpoint, key, interruption)
                log.info("Embedding at %s", host_of(self._endpoint.base_url))
                self._opened = client, interruption
            return self._opened

    def _checked(self, vectors: Vectors) -> Vectors:
        """Divided by their length; EmbedderFaultError when they can't be what was asked for."""
        model, found = self._endpoint.model, vectors.shape[1]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderFaultError(
                f"{model} gave a vector that is none.",
                "It holds zeros only, or no numbers. Look into the server's log, or choose another"
                " model for meaning.",
            )
        if self._dimensions not in (0, found):
            raise EmbedderFaultError(
                f"{model} changed: its vectors have {found:,} numbers, not {self._dimensions:,}.",
                "Vectors of two models are never mixed. Start the app again to embed anew.",
            )
        self._dimensions = found
        return (vectors / lengths).astype(np.float32)


def _in_words(exc: AppError) -> EmbedderFaultError:
    match exc:
        case EmbedderFaultError():
            return exc
        case EndpointFaultError(fault=Fault.TOO_LONG):
            return EmbedderFaultError("A passage is too long for the embedding model.", exc.hint)
        case EndpointFaultError():
            return EmbedderFaultError(f"Embedding: {exc.title}", exc.hint, exc.wait_s)
        case _:
            return EmbedderFaultError(exc.title, exc.hint)


def _cut(text: str, max_tokens: int) -> str:
    return text[: max_tokens * _TOKEN_CHARS]


def _read_vectors(body: object, count: int) -> Vectors:
    """Shape (count, dimensions), in the order of the texts; StreamError when it is not that."""
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    if fields.get("error"):
        raise StreamError(Fault.FAILED, *server_message(fields))
    rows = fields.get("data")
    if not isinstance(rows, list) or len(cast("list[Any]", rows)) != count:
        raise StreamError(Fault.UNREADABLE)
    try:
        by_index = {int(row.get("index", n)): row for n, row in enumerate(rows)}
        vectors = [_read_vector(by_index[n]["embedding"]) for n in range(count)]
        found = np.stack(vectors)
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise StreamError(Fault.UNREADABLE) from exc
    if found.ndim != 2 or not found.shape[1]:  # noqa: PLR2004  rows of numbers
        raise StreamError(Fault.UNREADABLE)
    return found


def _read_vector(given: object) -> Vectors:
    if isinstance(given, str):  # some servers answer so whatever was asked for
        return np.frombuffer(base64.b64decode(given, validate=True), "<f4").astype(np.float32)
    return np.asarray(given, dtype=np.float32)
