"""The ports to embedders and chat models: all that is slow or remote. Worker threads only."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.conversation import Image
from desktop_rag.core.errors import AppError

Vectors = NDArray[np.float32]


class EmbedderFaultError(AppError):
    """A remote embedder can't embed now; its work waits, everything else continues.

    `wait_s` is the pause it asks for, None when it doesn't say.
    """

    def __init__(self, title: str, hint: str = "", wait_s: float | None = None) -> None:
        super().__init__(title, hint)
        self.wait_s = wait_s


class Embedder(Protocol):
    """Turns text into unit vectors whose inner product is their similarity.

    A remote one raises EmbedderFaultError from `dimensions` and the `embed` methods, and Cancelled
    when it was closed meanwhile.
    """

    @property
    def name(self) -> str:
        """Identifies the model and its exact weights; vectors of different names never mix."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, with special ones; more is truncated or embedded in parts."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, without special tokens and without a limit."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimensions). One call is one batch: keep it small."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimensions,)."""
        ...

    def set_threads(self, threads: int) -> None:
        """Set the number of cores from the next batch on; 0 means all."""
        ...

    def close(self) -> None:
        """Close connections; calls under way end soon. Nothing is embedded afterwards."""
        ...


# A JSON Schema of an object.
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call with an object of this schema; it must call a needed one."""

    name: str
    description: str
    parameters: Schema
    is_needed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it: the arguments may be anything."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One turn sent to a chat model, with images for a model that accepts them.

    An assistant's turn may end with `calls`; each is answered by a turn of the role tool with its
    `call_id`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    images: tuple[Image, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer; `is_thinking` pieces are not part of the answer."""

    text: str
    is_thinking: bool = False
    status: str = ""  # without text: the reason for a wait
    was_thinking: bool = False  # without text: all text so far was thinking
    is_unsure: bool = False  # the text may turn out to be thinking
    calls: tuple[ToolCall, ...] = ()  # at the end of a turn: the model waits for their results


@dataclass(slots=True)
class HeardAnswer:
    """Accumulates the text and the thinking of an answer."""

    text: str = ""
    thinking: str = ""

    def add(self, delta: Delta) -> None:
        """Add a piece."""
        if delta.was_thinking:
            self.text, self.thinking = "", self.thinking + self.text
        elif delta.is_thinking:
            self.thinking += delta.text
        else:
            self.text += delta.text


class ServedAt(NamedTuple):
    """Where the app's own server listens, until its next start, and the key it wants."""

    base_url: str
    key: str


class OwnServer(Protocol):
    """The server that the app runs itself, behind OWN_ADDRESS. Any thread."""

    def begin(self, model: str, cancel: Event) -> Generator[Delta, None, ServedAt]:
        """Have the model ready for a request, which `end` ends; a status says why it takes long.

        Raises AppError when it can't be loaded, and Cancelled once `cancel` is set.
        """
        ...

    def end(self) -> None:
        """Say that a request is over."""
        ...

    def fault(self) -> AppError | None:
        """Why the server ended by itself, just now; None while it runs."""
        ...

    def close(self) -> None:
        """End the server. Idempotent."""
        ...


class Reader(Protocol):
    """What is known of a model that reads a prompt."""

    @property
    def context_tokens(self) -> int:
        """The context length for conversation and answer; may shrink after a too long request."""
        ...

    @property
    def read_tokens_per_s(self) -> float:
        """The tokens of a prompt that the model was measured to read a second; 0 if unknown."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The approximate number of `context_tokens` that each text takes."""
        ...

    def ranked(self, question: str, texts: Sequence[str], cancel: Event) -> Sequence[int]:
        """The places of the texts, best first, by a reranker beside the model; none without one."""
        ...


class ChatModel(Reader, Protocol):
    """Streams an answer to a conversation."""

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it, shown beside its answers."""
        ...

    @property
    def calls_tools(self) -> bool | None:
        """True for a model that called a tool when asked to, None when that is not known."""
        ...

    @property
    def is_weak(self) -> bool:
        """True for a model that was measured to answer simple questions wrongly."""
        ...

    @property
    def judging(self) -> float | None:
        """How well it was measured to judge claims, 0 to 1; None before that."""
        ...

    def note_judging(self, share: float) -> None:
        """Keep how well it judges claims."""
        ...

    def stream(
        self,
        turns: Sequence[ChatTurn],
        cancel: Event,
        tools: Sequence[Tool] = (),
        schema: Schema | None = None,
    ) -> Iterator[Delta]:
        """Pieces of the answer as they arrive; ends early, connection closed, once `cancel` is set.

        A model that does not take tools, or a `schema` for its answer, answers without them. Raises
        AppError for any fault of the endpoint or the network, also in mid-stream.
        """
        ...

    def warm_up(self) -> None:
        """Load what the first answer needs, without sending a request."""
        ...

    def close(self) -> None:
        """Close the connections. Nothing is streamed afterwards."""
        ...
