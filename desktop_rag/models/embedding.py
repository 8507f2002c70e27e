"""The ONNX embedder: any model folder with model.onnx, tokenizer.json and model.toml.

Called from the indexer's and the asking threads; a session may run on several threads at once.
"""

import hashlib
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Tokenizer

from desktop_rag.core.errors import AppError
from desktop_rag.models.ports import Vectors

_HINT = "Words are still searched. Install the app again, or choose another model folder."


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """What model.toml says. `files` maps a file's name to its (sha256, size in bytes)."""

    name: str
    dimensions: int
    max_tokens: int
    pooling: str
    query_prefix: str
    passage_prefix: str
    files: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])


def read_description(folder: Path) -> ModelDescription:
    """Read model.toml; AppError when it is missing or incomplete."""
    try:
        table = tomllib.loads((folder / "model.toml").read_text(encoding="utf-8"))
        files = {name: (f["sha256"], f["size_bytes"]) for name, f in table["files"].items()}
        return ModelDescription(
            name=str(table["name"]),
            dimensions=int(table["dimensions"]),
            max_tokens=int(table["max_tokens"]),
            pooling=str(table.get("pooling", "mean")),
            query_prefix=str(table.get("query_prefix", "")),
            passage_prefix=str(table.get("passage_prefix", "")),
            files=files,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise _broken(folder, f"Its model.toml is missing or incomplete ({exc})") from exc


def check_files(folder: Path, description: ModelDescription) -> None:
    """AppError when a file is missing, truncated or altered."""
    for required in ("model.onnx", "tokenizer.json"):
        if required not in description.files:
            raise _broken(folder, f"model.toml does not list {required}")
    for name, (sha256, size_bytes) in description.files.items():
        path = folder / name
        if Path(name).name != name:
            raise _broken(folder, f"{name} points outside the folder")
        if not path.is_file():
            raise _broken(folder, f"{name} is missing")
        found_bytes = path.stat().st_size
        if found_bytes != size_bytes:
            raise _broken(folder, f"{name} has {found_bytes:,} bytes instead of {size_bytes:,}")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise _broken(folder, f"{name} was altered")


class OnnxEmbedder:
    """An `Embedder` over a model folder. `threads` = 0 uses every core."""

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        """Check and load the folder; AppError when anything is wrong with it."""
        self._description = read_description(folder)
        check_files(folder, self._description)
        digest = self._description.files["model.onnx"][0]
        self._name = f"{self._description.name}@{digest[:12]}"
        self._weights = folder / "model.onnx"
        self._threads = threads
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._session = _load_session(self._weights, threads)
        except Exception as exc:  # both libraries raise bare types of their own
            raise _broken(folder, str(exc).splitlines()[0]) from exc
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._inputs = {node.name for node in self._session.get_inputs()}

    @property
    def name(self) -> str:
        """Model name and the head of its weights' hash."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._description.dimensions

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included."""
        return self._description.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text without special tokens; no limit."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimensions)."""
        return self._embed([self._description.passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (dimensions,)."""
        return self._embed([self._description.query_prefix + text])[0]

    def set_threads(self, threads: int) -> None:
        """How many cores to use from the next batch on; 0 is every one."""
        if threads != self._threads:
            self._threads = threads
            # A session keeps its number of threads; one under way ends with the old one.
            self._session = _load_session(self._weights, threads)

    def _embed(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        ids, mask = self._encode(texts)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {name: value for name, value in feed.items() if name in self._inputs}
        output: NDArray[np.float32] = np.asarray(self._session.run(None, wanted)[0])
        if output.ndim == 3:  # noqa: PLR2004  token vectors: a graph without pooling inside
            output = _pool(output, mask, self._description.pooling)
        norms = np.linalg.norm(output, axis=1, keepdims=True)
        return (output / np.maximum(norms, 1e-12)).astype(np.float32)

    def _encode(self, texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Token ids and mask, both (n, longest), padded on the right."""
        encodings = self._tokenizer.encode_batch_fast(texts)
        rows = [_cut(encoding.ids, self.max_tokens) for encoding in encodings]
        longest = max(len(row) for row in rows)
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.int64)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        return ids, mask


def _cut(ids: list[int], max_tokens: int) -> list[int]:
    """At most `max_tokens`, the closing special token kept."""
    return ids if len(ids) <= max_tokens else [*ids[: max_tokens - 1], ids[-1]]


def _pool(
    output: NDArray[np.float32], mask: NDArray[np.int64], pooling: str
) -> NDArray[np.float32]:
    if pooling == "cls":
        return output[:, 0]
    weights = mask[:, :, np.newaxis].astype(np.float32)
    return (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)


def _load_session(path: Path, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads or os.cpu_count() or 1
    options.inter_op_num_threads = 1
    # Spinning threads would take the cores from the window and the parser between two batches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session: Any = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session


def _broken(folder: Path, what: str) -> AppError:
    return AppError(f"The embedding model in {folder} cannot be used.", f"{what}. {_HINT}")
