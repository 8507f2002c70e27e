"""The ONNX embedder over a model folder.

Called on the threads of indexing and of questions; a session may run on several at once.
"""

import os
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from desktop_rag.core.log import disable_telemetry
from desktop_rag.models.embedding.model_folder import (
    broken,
    check_files,
    identity,
    read_description,
)
from desktop_rag.models.ports import Vectors

disable_telemetry()
import onnxruntime as ort  # noqa: E402  (reads the switch while it is imported)

# The output of a graph that is used: the first of these, pooled texts before tokens.
_SENTENCE = "sentence_embedding"
_OUTPUTS = (_SENTENCE, "last_hidden_state", "token_embeddings")
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_TOKENS_NDIM = 3
# A text far longer than any passage is truncated here.
_MOST_PARTS = 8


class OnnxEmbedder:
    """An `Embedder` over a model folder. `threads` = 0 uses every core."""

    def __init__(self, folder: Path, *, threads: int = 0, loads_at_once: bool = True) -> None:
        """Check the folder and load it; AppError when anything is wrong with it.

        Otherwise the first text loads it, if its description tells the length of its vectors.
        """
        self._description = read_description(folder)
        check_files(folder, self._description)
        self._name = identity(folder, self._description)
        self._folder = folder
        self._threads = threads
        self._loading = threading.Lock()
        self._session: ort.InferenceSession | None = None
        self._tokenizer: Tokenizer | None = None
        self._inputs: frozenset[str] = frozenset()
        self._output = ""
        # Whether `prepare` is to load it.
        self._is_in_use = loads_at_once or not self._description.dimensions
        self.prepare()
        self._dimensions = self._description.dimensions or self._test_run(folder)

    @property
    def name(self) -> str:
        """The model name with the first digits of its hash."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included."""
        return self._description.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, without special tokens; no limit."""
        tokenizer = self._loaded_tokenizer()
        encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimensions).

        A text that is too long for the model gets the mean of its parts: the chunker may count the
        tokens of another model.
        """
        prefixed = [self._description.passage_prefix + text for text in texts]
        rows = [self._parts(row) for row in self._encode(prefixed)]
        vectors = np.zeros((len(rows), self.dimensions), np.float32)
        for place, parts in enumerate(rows):
            weighted = [len(part) * self._embed(part) for part in parts]
            vectors[place] = weighted[0] if len(parts) == 1 else np.sum(weighted, axis=0)
        return _unit(vectors)

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (dimensions,)."""
        [row] = self._encode([self._description.query_prefix + text])
        return self._embed(self._parts(row)[0])

    def set_threads(self, threads: int) -> None:
        """Set the number of cores from the next batch on; 0 means all."""
        if threads != self._threads:
            self._threads = threads
            # The number of threads of a session is fixed; batches under way finish in the old one.
            with self._loading:
                self._session = None

    def let_go(self) -> None:
        """Free the memory of the model; the next text loads it again, in a fraction of a second.

        A tokenizer with a vocabulary of many languages takes more of it than the weights.
        """
        with self._loading:
            self._session = self._tokenizer = None

    def prepare(self) -> None:
        """Load the model again, if it was let go; not one that no text has needed yet.

        AppError when its file is gone.
        """
        if self._is_in_use:
            self._loaded_tokenizer()
            self._loaded_session()

    def close(self) -> None:
        """No effect: the session ends with the last batch that uses it."""

    def _loaded_session(self) -> ort.InferenceSession:
        with self._loading:
            if self._session is None:
                with self._naming_the_folder():
                    weights = self._folder / self._description.weights
                    session = _load_session(weights, self._threads)
                self._inputs = frozenset(node.name for node in session.get_inputs())
                self._output = _chosen_output([node.name for node in session.get_outputs()])
                self._refuse_unusable()
                self._session = session
            return self._session

    def _loaded_tokenizer(self) -> Tokenizer:
        self._is_in_use = True
        with self._loading:
            if self._tokenizer is None:
                with self._naming_the_folder():
                    self._tokenizer = _load_tokenizer(self._folder / self._description.tokenizer)
            return self._tokenizer

    @contextmanager
    def _naming_the_folder(self) -> Generator[None]:
        try:
            yield
        except Exception as exc:  # both libraries raise bare types of their own
            raise broken(self._folder, str(exc).splitlines()[0]) from exc

    def _refuse_unusable(self) -> None:
        """AppError when unknown inputs or missing outputs would make the vectors wrong."""
        folder, further = self._folder, self._description.further_module
        if unknown := sorted(self._inputs - _INPUTS):
            raise broken(folder, f"It needs {', '.join(unknown)} as input, which is not supported")
        if further and self._output != _SENTENCE:
            raise broken(folder, f"Its module {further} is not in the ONNX file: export it whole")

    def _test_run(self, folder: Path) -> int:
        """The number of dimensions, from a test vector; AppError when the model fails."""
        try:
            vector = self._embed(self._encode(["a"])[0].ids)
        except Exception as exc:  # onnxruntime raises bare types of its own
            raise broken(folder, str(exc).splitlines()[0]) from exc
        if not np.isfinite(vector).all() or not vector.any():
            raise broken(folder, "Its output is not a vector")
        return len(vector)

    def _encode(self, texts: list[str]) -> list[Encoding]:
        if self._description.is_lower_case:
            texts = [text.lower() for text in texts]
        return self._loaded_tokenizer().encode_batch_fast(texts)

    def _parts(self, row: Encoding) -> list[list[int]]:
        """Token ids in parts that fit the model, each with its special tokens."""
        ids: list[int] = row.ids
        own = [place for place, is_special in enumerate(row.special_tokens_mask) if not is_special]
        if len(ids) <= self.max_tokens or not own:
            return [ids]
        first, last = own[0], own[-1] + 1
        step = max(1, self.max_tokens - first - (len(ids) - last))
        starts = range(first, min(last, first + _MOST_PARTS * step), step)
        return [[*ids[:first], *ids[at : min(at + step, last)], *ids[last:]] for at in starts]

    def _embed(self, row: list[int]) -> Vectors:
        """The unit vector of one text's token ids.

        One text at a time: with a quantised model the vector depends on the other texts of a batch
        (cosine .996), and on two cores padding costs a third more than batching saves.
        """
        ids = np.asarray([row], np.int64)
        feed = {
            "input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": 0 * ids
        }  # fmt: skip
        session = self._loaded_session()
        wanted = {name: value for name, value in feed.items() if name in self._inputs}
        output: NDArray[np.float32] = np.asarray(session.run([self._output], wanted)[0], np.float32)
        if output.ndim == _TOKENS_NDIM:  # a graph without pooling inside
            output = _pool(output, self._description.pooling)
        return _unit(output)[0]


def _unit(vectors: NDArray[np.float32]) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(norms, 1e-12)).astype(np.float32)


def _pool(tokens: NDArray[np.float32], pooling: str) -> NDArray[np.float32]:
    """One vector from those of the tokens, shape (1, tokens, dimensions)."""
    match pooling:
        case "cls":
            return tokens[:, 0]
        case "lasttoken":
            return tokens[:, -1]
        case "max":
            return tokens.max(axis=1)
        case _:
            return tokens.mean(axis=1)


def _chosen_output(names: Sequence[str]) -> str:
    return next((name for name in _OUTPUTS if name in names), names[0])


def _load_tokenizer(path: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _load_session(path: Path, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads or os.cpu_count() or 1
    options.inter_op_num_threads = 1
    # Spinning threads would take the cores from the window and the parser between batches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session: Any = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session
