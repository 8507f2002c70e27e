"""A real endpoint for /embeddings on this computer, for tests. It counts words into vectors.

    with EmbeddingServer() as server:
        embedder = RemoteEmbedder(endpoint_of(server.address), key_of)

`mode` and the rest of ChatServer say how it misbehaves; `embed` may be replaced for single answers.
"""

import base64
import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.text import words
from tests.servers.chat_server import ChatServer


class EmbeddingServer(ChatServer):
    """Texts with common words get similar vectors."""

    def __init__(self, *, dimensions: int = 32, is_base64: bool = False) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.is_base64 = is_base64
        self.longest_chars = 1_000_000
        self.embedded: list[str] = []

    @property
    def address(self) -> str:
        return f"{self.base_url}#tiny-embed"

    def embed(self, texts: list[str], /) -> object:
        if any(len(text) > self.longest_chars for text in texts):
            return {"error": {"message": "This exceeds the maximum context length."}}
        self.embedded += texts
        rows: list[dict[str, Any]] = [
            {"object": "embedding", "index": n, "embedding": self._shown(self.vector(text))}
            for n, text in enumerate(texts)
        ]
        # Servers may answer in any order.
        return {"object": "list", "data": rows[::-1], "model": "tiny-embed"}

    def vector(self, text: str) -> NDArray[np.float32]:
        made = np.full(self.dimensions, 0.01, np.float32)
        for word in words(text.casefold()):
            digest = hashlib.sha256(word.encode()).digest()
            made[int.from_bytes(digest[:4], "little") % self.dimensions] += 1
        return made

    def _shown(self, vector: NDArray[np.float32]) -> object:
        if self.is_base64:
            return base64.b64encode(vector.astype("<f4").tobytes()).decode()
        return vector.tolist()
