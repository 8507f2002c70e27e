"""A synthetic library of any size, in the app's own tables. Not a script.

Words follow Zipf's law with exponent 1, roughly like real texts; a passage has 130 of them, a fifth
from a subject of its own. Vectors form 2,000 clusters of different size around a common direction,
as those of sentence models do: passages of one cluster have a similarity of about .5.
"""

import time
import uuid
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.domain import Document, DocumentState, FileStat, Source
from desktop_rag.core.files.file_state import stat_of
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.chunking.document_chunker import chunking_signature
from desktop_rag.ingest.indexing.indexer import READERS
from desktop_rag.models.embedding.joined_embedding import (
    BUNDLED,
    BUNDLED_MULTILINGUAL,
    OnnxEmbedder,
    bundled_folders,
)
from desktop_rag.store.contract.database import key_of, sql_plain_name
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.vectors import VectorStore
from desktop_rag.store.duckdb.database.connections import Columns, Connection, insert
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import engine_over, library_file
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.postings import PostingsMerge
from desktop_rag.store.duckdb.search.vector_store import DuckdbModelStore

DIMENSIONS = 384
PASSAGES_A_DOCUMENT = 20
_VOCABULARY = 400_000
_TERMS = 130
_SUBJECT_TERMS = 26
_SUBJECTS = 2_000
_SUBJECT_VOCABULARY = 300
_BATCH = 20_000
_WINDOWS = 3
# The app's own limit of a passage, in tokens.
_LONGEST_PASSAGE = 512


@dataclass(frozen=True)
class Generator:
    """Generates the same passages every time."""

    seed: int = 11

    def word(self, number: int) -> str:
        """A made-up word; low numbers are frequent."""
        letters = "etaonirshdlu"
        text = ""
        number += 20
        while number:
            number, digit = divmod(number, len(letters))
            text += letters[digit]
        return f"{text}q"

    def words(self) -> NDArray[np.object_]:
        """The whole vocabulary."""
        return np.array([self.word(n) for n in range(_VOCABULARY)], dtype=object)

    def centres(self) -> NDArray[np.float32]:
        """The directions of the clusters."""
        return _unit(np.random.default_rng(self.seed).standard_normal((_SUBJECTS, DIMENSIONS)))

    def vectors(self, subjects: NDArray[np.int64], batch: int) -> NDArray[np.float32]:
        """Unit vectors of passages about these subjects."""
        random = np.random.default_rng((self.seed, batch, 1))
        common = _unit(np.random.default_rng(self.seed + 1).standard_normal((1, DIMENSIONS)))
        noise = random.standard_normal((len(subjects), DIMENSIONS)) / np.sqrt(DIMENSIONS)
        return _unit(0.6 * self.centres()[subjects] + 0.25 * common + 0.75 * noise)

    def subjects(self, batch: int, count: int) -> NDArray[np.int64]:
        """The subject of each passage; some subjects are far more frequent than others."""
        random = np.random.default_rng((self.seed, batch, 2))
        return (random.random(count) ** 2 * _SUBJECTS).astype(np.int64)

    def terms(self, subjects: NDArray[np.int64], batch: int) -> NDArray[np.int64]:
        """The numbers of the words of each passage, shape (passages, _TERMS)."""
        random = np.random.default_rng((self.seed, batch, 3))
        common = np.cumsum(1 / np.arange(1, _VOCABULARY + 1))
        drawn = np.searchsorted(common / common[-1], random.random((len(subjects), _TERMS)))
        own = random.integers(0, _SUBJECT_VOCABULARY, (len(subjects), _SUBJECT_TERMS))
        # The words of a subject are neither frequent nor unique.
        drawn[:, :_SUBJECT_TERMS] = 2_000 + (subjects[:, None] * 97 + own * 131) % 100_000
        return np.minimum(drawn, _VOCABULARY - 1)


@dataclass(frozen=True)
class Layout:
    """How passages are spread over documents.

    With `writes_files` every document has a small file on the disk, as its row says, so that the
    app finds nothing to do. `chunking` is the signature of the app's own chunks.
    """

    passages_a_document: int = PASSAGES_A_DOCUMENT
    chunking: str = ""
    writes_files: bool = False


def build(
    database: Database, model: str, passages: int, folder: Path, layout: Layout | None = None
) -> VectorStore:
    """Fill an empty store as indexing would; returns its vectors."""
    made, layout = Generator(), layout or Layout()
    sources = engine_over(database).sources
    collection = sources.default_collection("Made up")
    source = sources.add_source(folder, collection.collection_id)
    models = DuckdbModelStore(database, IndexCache(database))
    vectors = models.vectors(model, DIMENSIONS)
    vocabulary = made.words()
    for batch, first in enumerate(range(0, passages, _BATCH)):
        count = min(_BATCH, passages - first)
        subjects = made.subjects(batch, count)
        terms = made.terms(subjects, batch)
        ids = _ids(first, count)
        database.write(
            partial(
                _insert_passages, source=source, first=first, ids=ids, terms=vocabulary[terms],
                layout=layout,
            )
        )  # fmt: skip
        units = made.vectors(subjects, batch)
        vectors.add(ids, units)
        vectors.add_windows(ids, windows_like(units))
    return vectors


def fill_home(place: Path, files: int, passages_a_file: int) -> None:
    """Make a home and a folder of small files in which the app finds nothing to do, unless there
    is one already.
    """
    home = Home(place / "home")
    if library_file(home).exists():
        return
    home.create()
    folder = place / "files"
    folder.mkdir()
    settings = Settings().index
    embedder = OnnxEmbedder(bundled_folders()[BUNDLED])
    limit = min(embedder.max_tokens, _LONGEST_PASSAGE)
    chunking = chunking_signature(ChunkSettings(), limit, embedder.name.partition("@")[0])
    memory_mb = settings.database_memory_mb
    database = Database(library_file(home), memory_mb=memory_mb, backups=home.backups)
    try:
        layout = Layout(passages_a_file, chunking, writes_files=True)
        passages = files * passages_a_file
        vectors = build(database, embedder.name, passages, folder, layout)
        engine = engine_over(database)
        collections = [each.collection_id for each in engine.sources.collections()]
        engine.models.answer(vectors.model_id, collections)
        _add_companions(engine, passages)
        PostingsMerge(database).run()
    finally:
        database.close()


def _add_companions(engine: Engine, passages: int) -> None:
    """The vectors by which questions in another language find English passages."""
    embedder = OnnxEmbedder(bundled_folders()[BUNDLED_MULTILINGUAL])
    dimensions = embedder.dimensions
    vectors = engine.models.vectors(embedder.name, dimensions, BUNDLED_MULTILINGUAL)
    random = np.random.default_rng(Generator.seed + 2)
    for first in range(0, passages, _BATCH):
        count = min(_BATCH, passages - first)
        vectors.add(_ids(first, count), _unit(random.standard_normal((count, dimensions))))


def windows_like(units: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """For each passage the vectors of some windows, with the same variance as the passages."""
    around = np.concatenate((units, units[:_WINDOWS]))
    return [around[n : n + _WINDOWS] for n in range(len(units))]


def _ids(first: int, count: int) -> list[str]:
    return [uuid.UUID(int=first + n + 1).hex for n in range(count)]


def _insert_passages(
    con: Connection,
    source: Source,
    first: int,
    ids: list[str],
    terms: NDArray[np.object_],
    layout: Layout,
) -> None:
    numbers = np.arange(first + 1, first + len(ids) + 1)
    owners = [f"document{(n - 1) // layout.passages_a_document}" for n in numbers]
    texts = [" ".join(row) for row in terms]
    whole: dict[str, list[str]] = {}
    for owner, text in zip(owners, texts, strict=True):
        whole.setdefault(owner, []).append(text)
    firsts = dict(zip(reversed(owners), reversed(numbers.tolist()), strict=True))
    lasts = dict(zip(owners, numbers.tolist(), strict=True))
    rows = _rows(list(dict.fromkeys(owners)), source.source_id, source.path, layout)
    insert(con, "documents", rows, {"plain_name": ("path", sql_plain_name)})
    insert(
        con,
        "document_texts",
        {
            "key": list(map(key_of, whole)),
            "document_id": list(whole),
            "text": ["\n\n".join(parts) for parts in whole.values()],
            "places": [""] * len(whole),
            "first_chunk": [firsts[owner] for owner in whole],
            "last_chunk": [lasts[owner] for owner in whole],
        },
    )
    insert(
        con,
        "chunks",
        {
            "chunk_id": numbers,
            "document_id": owners,
            "position": (numbers - 1) % layout.passages_a_document,
            "start_offset": np.zeros(len(ids), np.int64),
            "end_offset": np.array([len(text) for text in texts]),
            "text": texts,
            "context": [""] * len(ids),
            "anchor": ["{}"] * len(ids),
            "content_hash": ids,
            "term_count": np.full(len(ids), _TERMS),
        },
    )
    _insert_postings(con, numbers, terms)


def _insert_postings(
    con: Connection, numbers: NDArray[np.int64], terms: NDArray[np.object_]
) -> None:
    postings = [
        (t, n, c) for n, row in zip(numbers, terms, strict=True) for t, c in Counter(row).items()
    ]
    insert(
        con,
        "recent_postings",
        {
            "term": [term for term, _, _ in postings],
            "chunk_id": [number for _, number, _ in postings],
            "tf": [count for _, _, count in postings],
            "term_count": [_TERMS] * len(postings),
        },
        {"key": ("term", lambda term: f"md5_number_lower({term})")},
    )


def _rows(ids: list[str], source_id: str, folder: Path, layout: Layout) -> Columns:
    row = Document(
        "", source_id, folder / "x.txt", "Made up", "text", FileStat(1, 1, 1), "hash",
        DocumentState.SEARCHABLE, chunk_count=layout.passages_a_document, indexed_at=time.time(),
        language="en", readers=READERS, chunking=layout.chunking,
    )  # fmt: skip
    fixed = {
        "source_id": row.source_id, "title": row.title, "format": row.format,
        "content_hash": row.content_hash, "state": row.state.value,
        "reason": "", "chunk_count": row.chunk_count, "indexed_at": row.indexed_at,
        "language": row.language, "readers": row.readers, "chunking": row.chunking,
    }  # fmt: skip
    columns: Columns = {name: [value] * len(ids) for name, value in fixed.items()}
    columns["document_id"] = list(ids)
    columns["key"] = list(map(key_of, ids))
    paths = [folder / f"{document_id}.txt" for document_id in ids]
    columns["path"] = list(map(str, paths))
    stats = [_written(path) if layout.writes_files else row.stat for path in paths]
    columns["size_bytes"] = [stat.size_bytes for stat in stats]
    columns["mtime_ns"] = [stat.mtime_ns for stat in stats]
    columns["inode"] = [stat.inode for stat in stats]
    return columns


def _written(path: Path) -> FileStat:
    path.write_text(path.name, encoding="utf-8")
    return stat_of(path)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
