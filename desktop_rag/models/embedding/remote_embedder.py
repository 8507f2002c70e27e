"""The embedder over the /embeddings of an OpenAI-compatible endpoint. Runs on the calling thread.

Its vectors are validated carefully, as nobody would notice wrong ones. openai and its HTTP layer
are imported with the first request.
"""

import logging
from collections.abc import Callable, Sequence
from threading import Event, Lock

import numpy as np

from desktop_rag.activity.activity_event import Purpose
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.core.text import rough_token_counts
from desktop_rag.core.waits import Backoff, pause_s
from desktop_rag.models.endpoint_address import host_of, normalise_base_url
from desktop_rag.models.endpoints.client.endpoint_faults import EndpointFaultError, Fault
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests, parts_of, unit
from desktop_rag.models.ports import EmbedderFaultError, Vectors

log = logging.getLogger(__name__)

_SCHEMES = ("http://", "https://")
_MAX_TOKENS = 512
_BATCH = 64
# Pauses between retries; when a server asks for a longer one, the caller backs off.
_PAUSES_S = (0.5, 2.0)
_LONGEST_PAUSE_S = 10.0
# The time limit of a question; after a timeout, the next questions skip the server.
_QUERY_S = 8.0
_AWAY_S = 30.0
# Parts are not shortened below this for a server that rejects them as too long.
_LEAST_TOKENS = 64
_KEY_FAULTS = frozenset({Fault.NO_KEY, Fault.BAD_KEY, Fault.ODD_KEY, Fault.FORBIDDEN})
# With these faults the server is up, so the next question may use it.
_TOO_MUCH = frozenset({Fault.TOO_LONG, Fault.TOO_LARGE})
_ANSWERS = _KEY_FAULTS | _TOO_MUCH
_EXAMPLE = "For example http://localhost:11434/v1#nomic-embed-text"


def is_address(spec: str) -> bool:
    """True when a spec is the address of an endpoint, not a folder."""
    return spec.strip().lower().startswith(_SCHEMES)


def endpoint_of(spec: str) -> EndpointSettings:
    """The endpoint and model of `https://host/v1#model`; AppError for any other form."""
    address, _, model = spec.strip().partition("#")
    if not model.strip():
        raise AppError("The address does not name a model.", f"Add # and its name. {_EXAMPLE}.")
    return EndpointSettings(normalise_base_url(address), model.strip())


class RemoteEmbedder:
    """An `Embedder` over an endpoint. One per address, for any thread, closed at the end."""

    def __init__(
        self,
        endpoint: EndpointSettings,
        key_of: Callable[[str], str],
        *,
        dimensions: int = 0,
        recorder: Recorder | None = None,
    ) -> None:
        """`key_of` returns the key for an address, on first use and after a refusal.

        With `dimensions` 0, the first request determines them.
        """
        self._endpoint = endpoint
        self._key_of = key_of
        self._key: str | None = None
        self._dimensions = dimensions
        self._recorder = recorder
        self._lock = Lock()
        self._closing = Event()
        # Each with its key. The last one is in use; another thread may still be reading from an
        # earlier one.
        self._requests: list[tuple[str, EndpointRequests]] = []
        self._backoff = Backoff(_AWAY_S, _AWAY_S)
        self._away_error = EmbedderFaultError("")

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self.name!r})"

    @property
    def name(self) -> str:
        """Model and host; a change of the weights on the host can't be detected."""
        return f"{self._endpoint.model}@{host_of(self._endpoint.base_url)}"

    @property
    def dimensions(self) -> int:
        """Length of a vector; takes a request when it is not known."""
        if not self._dimensions:
            self._ask(["a"])
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """A limit that nearly all models support, by a rough count."""
        return _MAX_TOKENS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """A rough count, as the tokenizer is on the server."""
        return rough_token_counts(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimensions).

        A text that is too long for the model gets the mean of its parts, weighted by length.
        """
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return unit(self._sums(texts, _MAX_TOKENS))

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (dimensions,). Fails within seconds, as a person is waiting."""
        if self._backoff.left_s:
            raise self._away_error
        try:
            return self._request([parts_of(text, _MAX_TOKENS)[0]], _QUERY_S)[0]
        except AppError as exc:
            if _fault_of(exc) is Fault.SLOW:
                slow = f"{self._endpoint.model} did not answer within {_QUERY_S:g} seconds."
                exc = EmbedderFaultError(slow, "Words were searched.")
            raise self._remember(exc) from exc

    def set_threads(self, threads: int) -> None:
        """No effect: the server computes."""

    def close(self) -> None:
        """Close the connections; requests under way end with Cancelled."""
        self._closing.set()
        with self._lock:
            opened, self._requests = self._requests, []
        for _, requests in opened:
            requests.close()

    # --- asking ----------------------------------------------------------------------------------

    def _sums(self, texts: Sequence[str], max_tokens: int) -> Vectors:
        """For each text, the sum of the vectors of its parts, weighted by length."""
        parts = [parts_of(text, max_tokens) for text in texts]
        flat = [part for of_text in parts for part in of_text]
        # A server may limit the whole request, so shorter parts go in smaller requests.
        batch = max(1, _BATCH * max_tokens // _MAX_TOKENS)
        batches = (flat[at : at + batch] for at in range(0, len(flat), batch))
        found = np.concatenate([self._sums_of_batch(batch, max_tokens) for batch in batches])
        starts = np.cumsum([0, *(len(of_text) for of_text in parts[:-1])])
        return np.add.reduceat(found, starts)

    def _sums_of_batch(self, parts: Sequence[str], max_tokens: int) -> Vectors:
        try:
            return self._ask(parts) * np.asarray([[max(len(p), 1)] for p in parts], np.float32)
        except EmbedderFaultError as exc:
            if _fault_of(exc.__cause__) not in _TOO_MUCH or max_tokens < 2 * _LEAST_TOKENS:
                raise
        # The rough count was too low, as for scripts with one or two characters per token.
        return self._sums(parts, max_tokens // 2)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        """Embed one batch, retrying after short pauses."""
        pauses_s = iter(_PAUSES_S)
        while True:
            try:
                return self._request(texts)
            except EndpointFaultError as exc:
                wait_s = pause_s(next(pauses_s, None), exc.wait_s, _LONGEST_PAUSE_S)
                if wait_s is None or not exc.is_passing:
                    raise self._remember(exc) from exc
                log.info("Embedding: %s Asking again in %.1f s.", exc.title, wait_s)
            except AppError as exc:
                raise self._remember(exc) from exc
            if self._closing.wait(wait_s):
                raise Cancelled

    def _remember(self, exc: AppError) -> EmbedderFaultError:
        error = _in_words(exc)
        if _fault_of(exc) not in _ANSWERS:
            self._away_error = error
            self._backoff.begin(error.wait_s)
        return error

    def _request(self, texts: Sequence[str], limit_s: float = 0.0) -> Vectors:
        if self._closing.is_set():
            raise Cancelled
        key = self._known_key()
        try:
            vectors = self._send(texts, key, limit_s)
        except EndpointFaultError as exc:
            if exc.fault not in _KEY_FAULTS or not self._has_other_key(key):
                raise
            vectors = self._send(texts, self._known_key(), limit_s)
        found = self._checked(vectors)
        self._backoff.forget()
        return found

    def _send(self, texts: Sequence[str], key: str, limit_s: float) -> Vectors:
        with self._lock:
            if not self._requests or self._requests[-1][0] != key:
                made = EndpointRequests(
                    self._endpoint, key, recorder=self._recorder, purpose=Purpose.EMBEDDING
                )
                self._requests.append((key, made))
            _, requests = self._requests[-1]
        return requests.vectors(texts, self._closing, limit_s=limit_s)

    def _known_key(self) -> str:
        """The cached key: a keyring is slow, and may ask the person for permission."""
        with self._lock:
            if self._key is None:
                self._key = self._key_of(self._endpoint.base_url)
            return self._key

    def _has_other_key(self, refused: str) -> bool:
        """True when another key is stored now. If not, the next request checks again."""
        found = self._key_of(self._endpoint.base_url)
        with self._lock:
            self._key = None if found == refused else found
        return found != refused

    def _checked(self, vectors: Vectors) -> Vectors:
        """The vectors as unit vectors; EmbedderFaultError when they can't be right."""
        model, found = self._endpoint.model, vectors.shape[1]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderFaultError(
                f"{model} gave a vector that is none.",
                "It contains only zeros, or no numbers. Check the server's log, or choose another"
                " model for meaning.",
            )
        if self._dimensions not in (0, found):
            raise EmbedderFaultError(
                f"{model} changed: its vectors have {found:,} numbers, not {self._dimensions:,}.",
                "Vectors of two models are never mixed. Restart the app to embed everything again.",
            )
        self._dimensions = found
        return (vectors / lengths).astype(np.float32)


def _in_words(exc: AppError) -> EmbedderFaultError:
    match exc:
        case EmbedderFaultError():
            return exc
        case EndpointFaultError(fault=Fault.TOO_LONG | Fault.TOO_LARGE):
            return EmbedderFaultError("A passage is too long for the embedding model.", exc.hint)
        case EndpointFaultError():
            return EmbedderFaultError(f"Embedding: {exc.title}", exc.hint, exc.wait_s)
        case _:
            return EmbedderFaultError(exc.title, exc.hint)


def _fault_of(exc: BaseException | None) -> Fault | None:
    return exc.fault if isinstance(exc, EndpointFaultError) else None
