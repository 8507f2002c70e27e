"""Embedders over model folders, opened by their spec; joined and cached embeddings of short texts.

Called on the threads of indexing and of questions; a session may run on several at once.
"""

import hashlib
import logging
import os
import struct
import threading
import zlib
from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.log import disable_telemetry
from desktop_rag.core.paths import resources_dir
from desktop_rag.models.embedding.model_folder import (
    broken,
    check_files,
    identity,
    read_description,
)
from desktop_rag.models.embedding.remote_embedder import RemoteEmbedder, endpoint_of, is_address
from desktop_rag.models.endpoints.client.endpoint_requests import unit
from desktop_rag.models.ports import Embedder, Vectors

log = logging.getLogger(__name__)

disable_telemetry()
import onnxruntime as ort  # noqa: E402  (reads the switch while it is imported)

# The outputs of graphs by preference: pooled texts before tokens.
_SENTENCE = "sentence_embedding"
_OUTPUTS = (_SENTENCE, "last_hidden_state", "token_embeddings")
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_TOKENS_NDIM = 3
# One question is embedded for the search, and to see what kind it is.
_KEPT_QUESTIONS = 8
# A text far longer than any passage is truncated here.
_MOST_PARTS = 8


class OnnxEmbedder:
    """An `Embedder` over a model folder. `threads` = 0 uses every core."""

    def __init__(self, folder: Path, *, threads: int = 0, loads_at_once: bool = True) -> None:
        """Check the folder; AppError when anything is wrong with it.

        Unless it `loads_at_once`, the first text loads it if its description has the dimensions.
        """
        self._description = read_description(folder)
        check_files(folder, self._description)
        self._name = identity(folder, self._description)
        self._folder = folder
        self._threads = threads
        self._loading = threading.Lock()
        self._asked: dict[str, Vectors] = {}
        self._session: ort.InferenceSession | None = None
        self._tokenizer: Tokenizer | None = None
        self._inputs: frozenset[str] = frozenset()
        self._output = ""
        # True when `prepare` loads it.
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
        """The number of tokens of each text, without special tokens or a limit."""
        tokenizer = self._loaded_tokenizer()
        encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimensions).

        A text too long for the model gets the mean of its parts: the chunker may count the tokens
        of another model.
        """
        prefixed = [self._description.passage_prefix + text for text in texts]
        rows = [self._parts(row) for row in self._encode(prefixed)]
        vectors = np.zeros((len(rows), self.dimensions), np.float32)
        for place, parts in enumerate(rows):
            weighted = [len(part) * self._embed(part) for part in parts]
            vectors[place] = weighted[0] if len(parts) == 1 else np.sum(weighted, axis=0)
        return unit(vectors)

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (dimensions,). Those of the last questions are kept."""
        vector = self._asked.get(text)
        if vector is None:
            [row] = self._encode([self._description.query_prefix + text])
            vector = self._embed(self._parts(row)[0])
            if len(self._asked) >= _KEPT_QUESTIONS:
                self._asked.clear()
            self._asked[text] = vector
        return vector

    def set_threads(self, threads: int) -> None:
        """Set the number of cores from the next batch on; 0 means all."""
        if threads != self._threads:
            self._threads = threads
            # The number of threads of a session is fixed; batches under way finish in the old one.
            with self._loading:
                self._session = None

    def release(self) -> None:
        """Free the memory; the next text loads model and tokenizer in a fraction of a second.

        A multilingual tokenizer takes more of it than the weights.
        """
        with self._loading:
            self._session = self._tokenizer = None
            self._asked.clear()

    def prepare(self) -> None:
        """Load a released model again if a text has needed it; AppError when its file is gone."""
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
        """AppError when unknown inputs or unsupported modules would make the vectors wrong."""
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
        return unit(output)[0]


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


# The specs of the models that ship with the app: for English ("" also in earlier versions), and
# for many languages.
BUNDLED = ""
BUNDLED_MULTILINGUAL = "bundled:multilingual"
NAMES = {BUNDLED: "all-MiniLM-L6-v2", BUNDLED_MULTILINGUAL: "use-multilingual-3"}


def bundled_folders() -> dict[str, Path]:
    """The folder of each bundled model, by its spec."""
    return {spec: resources_dir() / "models" / name for spec, name in NAMES.items()}


# 20,000 vectors of the bundled models are 70 MB.
_MOST_ROWS = 20_000
_MAGIC = b"vectors1"
_KEY_BYTES = 32
# The header: the magic bytes, the hash of the model, the length of a vector.
_HEAD = struct.Struct("<8s32sI")
_MOST_DIMENSIONS = 65_536
_NUMBER = np.dtype("<f4")
# Texts embedded at once: stopping in the middle of ten thousand keeps finished ones.
_AT_ONCE = 512

Embed = Callable[[Sequence[str]], Vectors]
# The vectors by the hashes of their texts, the oldest first.
_Rows = dict[bytes, NDArray[np.float32]]


class KeptVectors:
    """Caches the vectors of texts that rarely change in a file, for the next start.

    A row is the hash of a text, a checksum and the vector. Rows of another model are dropped, and
    the oldest rows once there are more than `most_rows`. Texts of damaged rows are embedded again.
    """

    def __init__(
        self, path: Path, model: Callable[[], str], embed: Embed, most_rows: int = _MOST_ROWS
    ) -> None:
        """`model` identifies the model of `embed` and its weights. Nothing is read yet."""
        self._path = path
        self._model = model
        self._embed = embed
        self._most_rows = most_rows
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """The vectors, shape (len(texts), dimensions); raises what `embed` does."""
        if not texts:
            return self._embed(texts)
        with self._lock:
            model = _hash(self._model())
            known = _read(self._path, model)
            wanted = {_hash(text): text for text in texts}
            missing = [key for key in wanted if key not in known]
            for start in range(0, len(missing), _AT_ONCE):
                keys = missing[start : start + _AT_ONCE]
                vectors = self._embed([wanted[key] for key in keys])
                added = dict(zip(keys, np.asarray(vectors, np.float32), strict=True))
                known.update(added)
                self._keep(model, known, added, wanted)
        return np.stack([known[_hash(text)] for text in texts])

    def _keep(self, model: bytes, known: _Rows, added: _Rows, wanted: Container[bytes]) -> None:
        """Append rows to the file, or rewrite one that is foreign, torn or full."""
        head = _HEAD.pack(_MAGIC, model, len(next(iter(added.values()))))
        try:
            if _has_room(self._path, head, self._most_rows - len(added)):
                with self._path.open("ab") as file:
                    file.write(_packed(added))
                return
            others = [key for key in known if key not in wanted]
            used = [key for key in known if key in wanted][-self._most_rows :]
            # Half of the room for others, so that not every addition rewrites the file.
            room = max(0, self._most_rows - len(used)) // 2
            kept = [*others[max(0, len(others) - room) :], *used]
            write_atomically(self._path, head + _packed({key: known[key] for key in kept}))
        except OSError as exc:
            log.info("%s could not be written: %s", self._path.name, exc.strerror)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _layout(dimensions: int) -> np.dtype[np.void]:
    return np.dtype([("key", f"V{_KEY_BYTES}"), ("check", "<u4"), ("vector", _NUMBER, dimensions)])


def _check(key: bytes, vector: NDArray[np.float32]) -> int:
    return zlib.crc32(vector.tobytes(), zlib.crc32(key))


def _packed(rows: _Rows) -> bytes:
    packed = [
        key + struct.pack("<I", _check(key, vector)) + vector.astype(_NUMBER).tobytes()
        for key, vector in rows.items()
    ]
    return b"".join(packed)


def _has_room(path: Path, head: bytes, most_rows: int) -> bool:
    """True when rows can be appended: the file is whole, of this model, and not full."""
    try:
        with path.open("rb") as file:
            is_ours = file.read(len(head)) == head
        row_bytes = _layout(int(_HEAD.unpack(head)[2])).itemsize
        rows, torn = divmod(path.stat().st_size - len(head), row_bytes)
    except FileNotFoundError:
        return False
    return is_ours and not torn and rows <= most_rows


def _read(path: Path, model: bytes) -> _Rows:
    """The undamaged rows of this model, the oldest first."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    if len(content) < _HEAD.size:
        return {}
    mark, kept_model, dimensions = _HEAD.unpack_from(content)
    if (mark, kept_model) != (_MAGIC, model) or not 0 < dimensions <= _MOST_DIMENSIONS:
        return {}
    layout = _layout(dimensions)
    count = (len(content) - _HEAD.size) // layout.itemsize
    rows = np.frombuffer(content, layout, count, _HEAD.size)
    found: _Rows = {}
    for key, check, vector in zip(rows["key"], rows["check"], rows["vector"], strict=True):
        if _check(key.tobytes(), vector) == check:
            found[key.tobytes()] = vector
    return found


# The share of the multilingual model in a similarity: see decision 061.
_SHARE = 0.3
_BATCH = 32


def joined_embedding(open_model: Callable[[str], Embedder]) -> Callable[[Sequence[str]], Vectors]:
    """A function for unit vectors, shape (len(texts), 896), of both bundled models joined.

    `open_model` gets the spec of each; what it raises is passed on. The similarity of two vectors
    is the weighted mean of the similarities by both models.
    """

    def embed(texts: Sequence[str]) -> Vectors:
        parts = [
            np.sqrt(share) * _vectors(open_model(spec), texts)
            for spec, share in ((BUNDLED, 1 - _SHARE), (BUNDLED_MULTILINGUAL, _SHARE))
        ]
        return np.concatenate(parts, axis=1).astype(np.float32)

    return embed


def rail_embeddings(
    path: Path, open_model: Callable[[str], Embedder]
) -> tuple[Callable[[Sequence[str]], Vectors], Callable[[Sequence[str]], Vectors]]:
    """The joined embedding, and the same with a cache file for texts that rarely change."""

    def names() -> str:
        parts = [open_model(spec).name for spec in (BUNDLED, BUNDLED_MULTILINGUAL)]
        return " ".join([*parts, str(_SHARE)])

    embed = joined_embedding(open_model)
    return embed, KeptVectors(path, names, embed)


def bundled_opener(*, threads: int = 0) -> Callable[[str], Embedder]:
    """A function that loads each bundled model on first use, for work without a library."""
    opened: dict[str, Embedder] = {}

    def open_model(spec: str) -> Embedder:
        if spec not in opened:
            opened[spec] = OnnxEmbedder(bundled_folders()[spec], threads=threads)
        return opened[spec]

    return open_model


def _vectors(model: Embedder, texts: Sequence[str]) -> Vectors:
    batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
    found = [model.embed_passages(list(batch)) for batch in batches]
    return np.concatenate(found) if found else np.zeros((0, model.dimensions), np.float32)


# Reading its tokenizer blocks the interpreter, and so the window, for a third of a second.
_LOADED_WHEN_NEEDED = frozenset({BUNDLED_MULTILINGUAL})


class EmbedderOpener:
    """Opens embedders by their spec: a bundled model, a folder, or the address of an endpoint."""

    def __init__(
        self,
        bundled: Mapping[str, Path],
        key_of: Callable[[str], str],
        recorder: Recorder | None = None,
    ) -> None:
        """`bundled` are the folders of the models that ship with the app, by their specs."""
        self._bundled = bundled
        self._key_of = key_of
        self._recorder = recorder
        self._folders: WeakSet[OnnxEmbedder] = WeakSet()

    def release(self) -> None:
        """Free the memory of the models; each is loaded again when needed."""
        for embedder in list(self._folders):
            embedder.release()

    def prepare(self) -> None:
        """Load released models again. AppError when the files of a model are gone."""
        for embedder in list(self._folders):
            embedder.prepare()

    def open(self, spec: str, threads: int, dimensions: int = 0) -> Embedder:
        """The embedder of a spec; AppError when it can't be opened.

        Loading a folder takes a second or more; the multilingual bundled model is loaded when the
        first text needs it. An endpoint gets no request yet; its vectors must have this number of
        dimensions, 0 means any.
        """
        if is_address(spec):
            return RemoteEmbedder(
                endpoint_of(spec), self._key_of, dimensions=dimensions, recorder=self._recorder
            )
        embedder = OnnxEmbedder(
            self._folder(spec), threads=threads, loads_at_once=spec not in _LOADED_WHEN_NEEDED
        )
        self._folders.add(embedder)
        return embedder

    def check(self, spec: str) -> str:
        """A sentence that confirms a usable model; AppError says what is wrong with another."""
        if is_address(spec):
            embedder = RemoteEmbedder(endpoint_of(spec), self._key_of, recorder=self._recorder)
            try:
                return f"{embedder.name} answers with vectors of {embedder.dimensions:,} numbers."
            finally:
                embedder.close()
        folder = self._folder(spec)
        description = read_description(folder)
        check_files(folder, description)
        return f"{description.name} is complete and unaltered."

    def _folder(self, spec: str) -> Path:
        try:
            return self._bundled.get(spec) or Path(spec).expanduser()
        except RuntimeError:
            return Path(spec)  # "~user" of an unknown user
