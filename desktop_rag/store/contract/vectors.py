"""The vectors of models, the search by meaning, and which model answers. Any thread."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.database import Connection, Database, OwnConnection, fetched
from desktop_rag.store.contract.search import EVERYWHERE, Scope

# The SQL type of packed vectors: they do not compress, and compressed columns are slow to read.
COLUMN = "BLOB USING COMPRESSION uncompressed"

_BITS_PER_WORD = 64
_BYTE = 127
# Half a byte holds -7 to 7. Components are clipped at this many root mean squares, near the optimum
# for a normal distribution (Max, 1960, "Quantizing for Minimum Distortion").
_HALF_BYTE = 7
_CLIP = 2.6
_TINY = 1e-6


def packed(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each vector in one byte per dimension, scaled on its own."""
    peaks = np.abs(vectors).max(axis=1, keepdims=True, initial=_TINY)
    return [row.tobytes() for row in np.rint(vectors * (_BYTE / peaks)).astype(np.int8)]


def unpacked(rows: Sequence[bytes | bytearray], dimensions: int) -> NDArray[np.float32]:
    """The unit vectors of packed rows; shape (vectors, dimensions)."""
    return _unit(np.frombuffer(b"".join(rows), np.int8).reshape(-1, dimensions))


def packed_windows(windows: NDArray[np.float32]) -> bytes:
    """All windows of a passage, half a byte per dimension, each padded to whole bytes."""
    clip = np.maximum(_CLIP * np.sqrt(np.square(windows).mean(axis=1, keepdims=True)), _TINY)
    halves = np.clip(np.rint(windows * (_HALF_BYTE / clip)), -_HALF_BYTE, _HALF_BYTE)
    # Values from 1 to 15; 0 pads the last byte of an odd number of dimensions.
    padded = np.zeros((len(windows), 2 * window_bytes(windows.shape[1])), np.uint8)
    padded[:, : windows.shape[1]] = halves + _HALF_BYTE + 1
    return (padded[:, ::2] << 4 | padded[:, 1::2]).tobytes()


def unpacked_windows(rows: Sequence[bytes | bytearray], dimensions: int) -> NDArray[np.float32]:
    """The unit vectors of packed windows; shape (windows, dimensions)."""
    packed_rows = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, window_bytes(dimensions))
    width = 2 * window_bytes(dimensions)  # named, since there may be no rows
    halves = np.stack([packed_rows >> 4, packed_rows & 15], axis=2).reshape(-1, width)
    return _unit(halves[:, :dimensions].astype(np.int8) - (_HALF_BYTE + 1))


def best_windows(
    query: NDArray[np.float32], rows: Sequence[bytes | bytearray | None]
) -> NDArray[np.float64]:
    """The similarity of the best window in each row, NaN for rows without windows."""
    best = np.full(len(rows), np.nan)
    filled = [(n, windows) for n, windows in enumerate(rows) if windows]
    if filled:
        vectors = unpacked_windows([windows for _, windows in filled], len(query))
        similarities = np.vecdot(vectors, query)
        sizes = [len(windows) // window_bytes(len(query)) for _, windows in filled]
        begins = np.cumsum([0, *sizes[:-1]])
        best[[n for n, _ in filled]] = np.maximum.reduceat(similarities, begins)
    return best


def window_bytes(dimensions: int) -> int:
    """The size of a packed window in bytes."""
    return -(-dimensions // 2)


def _unit(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    floats = vectors.astype(np.float32)
    return floats / np.maximum(np.linalg.norm(floats, axis=1, keepdims=True), _TINY)


def words_of(dimensions: int) -> int:
    """The number of 64-bit words that the sign bits take."""
    return -(-dimensions // _BITS_PER_WORD)


def sign_bits(vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """One bit per dimension, 64 to a word, padded with zeros; shape (n, words)."""
    bits = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(vectors), words_of(vectors.shape[1]) * _BITS_PER_WORD // 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.int64)


def signs(bits: NDArray[np.int64], dimensions: int) -> NDArray[np.float32]:
    """The inverse of `sign_bits`: 1 or -1, shape (n, dimensions)."""
    ones = np.unpackbits(bits.view(np.uint8), axis=1, count=dimensions)
    return ones.astype(np.float32) * 2 - 1


# Below this number of vectors the search is exact.
EXACT_UP_TO = 1000
# The largest error of a similarity: an engine may store a byte per dimension.
ROUNDING = 0.005


@dataclass(frozen=True, slots=True)
class VectorMatches:
    """Chunks with a vector of one model, compared with a query.

    `similarities` are right to ±ROUNDING. `vectors` are unit vectors that may be rounded, shape
    (len(chunk_ids), dimensions); chunks of equal content have equal rows. `window_similarities` are
    those of each chunk's best window, right to ±4 ROUNDING, NaN for chunks without windows.
    """

    chunk_ids: list[int]
    similarities: NDArray[np.float32]
    vectors: NDArray[np.float32]
    window_similarities: NDArray[np.float64]


def vector_table(model_id: int) -> str:
    """The name of the table with the vectors of a model, so that those of two never mix."""
    return f"vectors_{model_id:d}"


class VectorStore(ABC):
    """The vectors of one model, by content hash (32 lower-case hexadecimal digits).

    It knows no chunks and no documents: `ChunkStore` says which contents need a vector. Vectors are
    unit vectors of 32-bit floats. `model_id` is from 1 up, distinct for each pair of name and
    dimensions.
    """

    def __init__(self, database: Database, model_id: int, dimensions: int) -> None:
        self.database = database
        self.model_id = model_id
        self.dimensions = dimensions
        self.table = vector_table(model_id)

    @abstractmethod
    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store vectors, shape (len(hashes), dimensions), in one transaction.

        The hashes are distinct; one that has a vector keeps it. No chunk need have them.
        """

    def missing(self, hashes: Sequence[str]) -> set[str]:
        """The content hashes that have no vector."""
        rows = fetched(
            self.database,
            f"SELECT DISTINCT content_hash FROM {self.table}"
            " WHERE content_hash IN (SELECT unnest(?::UUID[]))",
            [list(hashes)],
        )
        return set(hashes) - {row[0].hex for row in rows}

    @abstractmethod
    def stored(self, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The unit vectors by content hash, for a copy; absent for contents without one.

        Right to ±ROUNDING; storing them again loses nothing more.
        """

    def stored_windows(self, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The unit vectors of windows by content hash, shape (windows, dimensions), for a copy.

        Absent for contents whose windows were not made yet. Rounded as `window_similarities` are.
        """
        rows = self.packed("windows", hashes)
        return {key: unpacked_windows([value], self.dimensions) for key, value in rows}

    def packed(self, column: str, hashes: Sequence[str], sent: str = "") -> list[tuple[str, bytes]]:
        """(content hash, value of the column) of those that have one; `sent` is SQL for it."""
        rows = fetched(
            self.database,
            f"SELECT DISTINCT ON (content_hash) content_hash, {sent or column} FROM {self.table}"
            f" WHERE content_hash IN (SELECT unnest(?::UUID[])) AND {column} IS NOT NULL"
            " ORDER BY content_hash",
            [list(hashes)],
        )
        return [(key.hex, value) for key, value in rows]

    # --- windows: a few sentences each, parts of a passage -----------------------------------

    @abstractmethod
    def add_windows(self, hashes: Sequence[str], windows: Sequence[NDArray[np.float32]]) -> None:
        """Store the unit vectors of each content's windows, shape (windows, dimensions) or (0, …).

        In one transaction. The contents have a vector and no windows yet. One stored with zero
        windows counts as done.
        """

    @abstractmethod
    def window_counts(self) -> tuple[int, int]:
        """(contents with a vector, those of them without windows yet)."""

    def drop_windows(self) -> None:
        """Remove all windows; from then on their contents are without windows again."""
        sql = f"UPDATE {self.table} SET windows = NULL WHERE windows IS NOT NULL"
        self.database.write_uncached(lambda con: con.execute(sql))


class VectorSearch(ABC):
    """Finds chunks by the vectors of one model; similarity is the inner product."""

    @abstractmethod
    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> VectorMatches:
        """The `limit` chunks most similar to a unit vector, best first.

        While the scope has at most EXACT_UP_TO vectors, the choice is right to ±ROUNDING; of equal
        ones the lower id comes first. For any number, recall@10 is at least .99 over real
        questions.
        """

    @abstractmethod
    def compare(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> VectorMatches:
        """The chunks that have a vector, compared with the query, in any order."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that has made vectors."""

    model_id: int
    name: str
    dimensions: int
    spec: str  # a folder, the address of an endpoint, or "" for the bundled one


class ModelStore(ABC):
    """The models that made vectors, and which of them answer for which collection.

    Each has a table of vectors, so that those of two never mix; an engine says how it is kept and
    searched.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        # Dropping a model must not overlap with opening one: numbers are used again.
        self._lock = threading.Lock()
        # The numbers of the models that were opened, by name and dimensions.
        self._numbers: dict[tuple[str, int], int] = {}

    @abstractmethod
    def create_table(self, con: OwnConnection, model_id: int, dimensions: int) -> None:
        """Create the table of a model, inside a transaction."""

    @abstractmethod
    def vectors_in(self, model_id: int, dimensions: int) -> VectorStore:
        """The vectors in the table of a model."""

    @abstractmethod
    def search_in(self, model_id: int, dimensions: int) -> VectorSearch:
        """The search over the table of a model."""

    @abstractmethod
    def forget(self, model_ids: Collection[int]) -> None:
        """Forget tables that were dropped: their numbers may be used again."""

    def vectors(self, name: str, dimensions: int, spec: str | None = None) -> VectorStore:
        """The vectors of a model, identified by name and dimensions; empty for a new one.

        `spec`, if given, is where to find the model from now on.
        """
        with self._lock:
            vectors = self.vectors_in(self._opened(name, dimensions), dimensions)
        if spec is not None:
            sql = (
                "UPDATE models SET folder = $spec"
                " WHERE model_id = $model::INTEGER AND folder <> $spec"
            )
            values = {"spec": spec, "model": vectors.model_id}
            self.database.write(lambda con: con.execute(sql, values))
        return vectors

    def _opened(self, name: str, dimensions: int) -> int:
        numbers = self._numbers
        if (name, dimensions) not in numbers:
            # A library open for reading can't get new tables.
            with self.database.read() as con:
                known = _number_of(con, name, dimensions)
            numbers[name, dimensions] = known or self.database.write(
                lambda con: self._found_or_made(con, name, dimensions)
            )
        return numbers[name, dimensions]

    def _found_or_made(self, con: Connection, name: str, dimensions: int) -> int:
        if known := _number_of(con, name, dimensions):
            return known
        [(number,)] = con.execute("SELECT coalesce(max(model_id), 0) + 1 FROM models").fetchall()
        con.execute(
            "INSERT INTO models (model_id, name, dimensions) VALUES (?, ?, ?)",
            [number, name, dimensions],
        )
        self.create_table(con, number, dimensions)
        return number

    def stored(self) -> list[ModelRow]:
        """Every model that has vectors here, whether it answers or not, by its number."""
        sql = "SELECT model_id, name, dimensions, folder FROM models ORDER BY model_id"
        return [ModelRow(*row) for row in fetched(self.database, sql)]

    def search(self, model_id: int) -> VectorSearch:
        """The search over vectors that `vectors` has opened."""
        with self._lock:
            opened = self._numbers.items()
            [dimensions] = [length for (_, length), number in opened if number == model_id]
            return self.search_in(model_id, dimensions)

    def answering(self) -> dict[str, ModelRow]:
        """Collection id → the model whose vectors answer; absent for a collection without any."""
        rows = fetched(
            self.database,
            "SELECT c.collection_id, m.model_id, m.name, m.dimensions, m.folder"
            " FROM collections c JOIN models m ON m.model_id = c.answering",
        )
        return {row[0]: ModelRow(*row[1:]) for row in rows}

    def answer(self, model_id: int, collection_ids: Sequence[str]) -> None:
        """Let the vectors of this model answer for these collections from now on, all at once."""
        self.database.write(
            lambda con: con.execute(
                "UPDATE collections SET answering = ?"
                " WHERE collection_id IN (SELECT unnest(?::VARCHAR[]))",
                [model_id, list(collection_ids)],
            )
        )

    def drop_unused(self, wanted: Collection[str]) -> None:
        """Remove models, with their vectors, that neither answer nor are being filled.

        The newest model of each `wanted` spec is kept. Nobody may be using the others' vectors.
        """

        def work(con: Connection) -> set[int]:
            rows = con.execute(
                "SELECT model_id, folder FROM models WHERE model_id NOT IN"
                " (SELECT answering FROM collections) ORDER BY model_id"
            ).fetchall()
            latest = {spec: model_id for model_id, spec in rows if spec in wanted}
            unused = {model_id for model_id, spec in rows if latest.get(spec) != model_id}
            for model_id in unused:
                con.execute(f"DROP TABLE IF EXISTS {vector_table(model_id)}")
                con.execute("DELETE FROM models WHERE model_id = ?", [model_id])
            return unused

        with self._lock:
            dropped = self.database.write(work)
            self.forget(dropped)
            for key in [key for key, number in self._numbers.items() if number in dropped]:
                del self._numbers[key]


def _number_of(con: Connection, name: str, dimensions: int) -> int:
    """The number of a model; 0 for an unknown one."""
    rows = con.execute(
        "SELECT model_id FROM models WHERE name = ? AND dimensions = ?", [name, dimensions]
    ).fetchall()
    return int(rows[0][0]) if rows else 0
