"""Ranking quality of the small model against the full-precision one, on sets with known answers.

Used by build_model.py --verify on its only thread. Exact inner products over all passages measure
the model alone.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from model_graph import INPUTS, OUTPUT, BuildError
from tokenizers import Tokenizer

from desktop_rag.core.log import disable_telemetry

disable_telemetry()
import onnxruntime  # noqa: E402  (reads the switch while it is imported)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

SETS = ("squad", "lfqa_docs")
# The maximum loss of nDCG@10 for the small model.
BAR = 0.01
MAX_TOKENS = 256
BATCH_SIZE = 16
DEPTH = 10
REPORT_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class RankingSet:
    """Passages, questions, and the relevance grades of each question's passages."""

    name: str
    passage_ids: list[str]
    passages: list[str]
    query_ids: list[str]
    queries: list[str]
    grades: dict[str, dict[str, int]]


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def read_set(folder: Path) -> RankingSet:
    """Reads corpus.jsonl, queries.jsonl and qrels.tsv; questions without a judgement are left out.

    Raises BuildError when a file is missing.
    """
    paths = [folder / name for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")]
    if missing := [path for path in paths if not path.is_file()]:
        msg = f"no retrieval set at {folder}: {missing[0].name} is missing (see --bench)"
        raise BuildError(msg)
    corpus, queries = _rows(paths[0]), _rows(paths[1])
    grades: dict[str, dict[str, int]] = {}
    for line in paths[2].read_text(encoding="utf-8").splitlines()[1:]:
        query, passage, grade = line.split("\t")
        grades.setdefault(query, {})[passage] = int(grade)
    queries = [row for row in queries if row["_id"] in grades]
    return RankingSet(
        name=folder.name,
        passage_ids=[row["_id"] for row in corpus],
        passages=[f"{row.get('title', '')}\n{row['text']}".strip() for row in corpus],
        query_ids=[row["_id"] for row in queries],
        queries=[row["text"] for row in queries],
        grades=grades,
    )


class Encoder:
    """One ONNX file with the shipped tokenizer: texts to unit vectors."""

    def __init__(self, graph: Path, tokenizer: Path, label: str) -> None:
        self.label = label
        self._session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimensions), in the order of the texts."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        parts = [
            self._run_batch([ids[at] for at in order[start : start + BATCH_SIZE]])
            for start in _reported(range(0, len(order), BATCH_SIZE), self.label)
        ]
        vectors = np.concatenate(parts)
        return vectors[np.argsort(order)]

    def _run_batch(self, ids: list[list[int]]) -> NDArray[np.float32]:
        tokens = np.zeros((len(ids), max(map(len, ids))), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        feed = dict(zip(INPUTS, (tokens, mask, np.zeros_like(tokens)), strict=True))
        return np.asarray(self._session.run([OUTPUT], feed)[0], dtype=np.float32)


def _reported(starts: range, label: str) -> Iterator[int]:
    """Yields the batch starts, and reports progress on stderr."""
    last = time.monotonic()
    for start in starts:
        if time.monotonic() - last > REPORT_EVERY_S:
            last = time.monotonic()
            print(f"{label}: {100 * start / starts.stop:.1f} %", file=sys.stderr, flush=True)
        yield start


def ndcg(ranked_ids: list[str], grades: dict[str, int]) -> float:
    """Normalised discounted cumulative gain of one ranking with linear gain, at its own length."""
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    ideal = np.array(sorted(grades.values(), reverse=True)[:DEPTH])
    gains = np.array([grades.get(passage, 0) for passage in ranked_ids])
    return float((gains * discounts[: len(gains)]).sum() / (ideal * discounts[: len(ideal)]).sum())


def mean_ndcg(
    data: RankingSet, passages: NDArray[np.float32], queries: NDArray[np.float32]
) -> float:
    """Mean nDCG@10 over the questions of a set, by exact inner products."""
    ranked = np.argsort(-(queries @ passages.T), axis=1, kind="stable")[:, :DEPTH]
    scores = [
        ndcg([data.passage_ids[at] for at in row], data.grades[query])
        for query, row in zip(data.query_ids, ranked, strict=True)
    ]
    return float(np.mean(scores))


def verify(model_folder: Path, fp32: Path, bench: Path) -> bool:
    """Prints both models' figures on each set; True when the small one passes on all."""
    sets = [read_set(bench / name) for name in SETS]
    tokenizer = model_folder / "tokenizer.json"
    full = Encoder(fp32, tokenizer, "fp32")
    small = Encoder(model_folder / "model.onnx", tokenizer, "int8")
    # Every set is measured and printed, even after one has failed.
    passed = [_verify_set(data, full, small) for data in sets]
    return all(passed)


def _verify_set(data: RankingSet, full: Encoder, small: Encoder) -> bool:
    print(f"{data.name}: {len(data.passages)} passages", file=sys.stderr, flush=True)
    passages = {encoder: encoder.encode(data.passages) for encoder in (full, small)}
    # Each question alone, as in the app: rounding depends on the rest of the batch.
    queries = {
        encoder: np.concatenate([encoder.encode([query]) for query in data.queries])
        for encoder in passages
    }
    scores = {encoder: mean_ndcg(data, passages[encoder], queries[encoder]) for encoder in passages}
    cosines = (passages[full] * passages[small]).sum(axis=1)
    loss = scores[full] - scores[small]
    print(
        f"{data.name}: nDCG@10 fp32 {scores[full]:.4f}, int8 {scores[small]:.4f}, "
        f"loss {loss:+.4f} (bar {BAR}): {'pass' if loss <= BAR else 'FAIL'}; "
        f"cosine int8 to fp32 mean {cosines.mean():.4f}, least {cosines.min():.4f}; "
        f"{len(data.queries)} questions, {len(data.passages)} passages",
        flush=True,
    )
    return loss <= BAR
