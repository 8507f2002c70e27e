"""The two ports behind which everything slow or far lives. Called on worker threads only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.attachment import Image
from desktop_rag.core.errors import AppError

Vectors = NDArray[np.float32]


class EmbedderFaultError(AppError):
    """An embedder that is elsewhere can't embed now; its work waits, everything else goes on.

    `wait_s` is how long it asks to be left alone, None when it doesn't say.
    """

    def __init__(self, title: str, hint: str = "", wait_s: float | None = None) -> None:
        super().__init__(title, hint)
        self.wait_s = wait_s


class Embedder(Protocol):
    """Turns text into unit vectors whose inner product is their similarity.

    One that is elsewhere raises EmbedderFaultError from `dimensions` and the `embed` methods, and
    Cancelled when it was closed meanwhile.
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
        """The longest passage the model reads, special tokens included. A longer one is cut,
        or embedded in parts.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens and without a limit."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimensions). One call is one batch: keep it small."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimensions,)."""
        ...

    def set_threads(self, threads: int) -> None:
        """How many cores to use from the next batch on; 0 is every one."""
        ...

    def close(self) -> None:
        """Give up connections; calls under way end soon. Nothing is embedded any more."""
        ...


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One turn sent to a chat model, with images for one that takes them."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer; `is_thinking` pieces are not part of the answer.

    One without text says in its `status` what is waited for.
    """

    text: str
    is_thinking: bool = False
    status: str = ""


class ChatModel(Protocol):
    """Streams an answer to a conversation."""

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it, shown beside its answers."""
        ...

    @property
    def context_tokens(self) -> int:
        """How much it reads: conversation, question and answer together.

        Less than before after a request that was too long.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text takes of `context_tokens`, as far as that is known."""
        ...

    def stream(self, turns: Sequence[ChatTurn], cancel: Event) -> Iterator[Delta]:
        """Pieces of the answer as they arrive; ends early, connection closed, once `cancel` is set.

        Raises AppError for whatever the endpoint or the network did wrong, also in mid-stream.
        """
        ...

    def warm_up(self) -> None:
        """Load what the first answer needs, without asking anything."""
        ...

    def close(self) -> None:
        """Give up its connections. Nothing is streamed any more."""
        ...
