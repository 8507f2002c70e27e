"""The claims labelled by people that the checker is fitted to and measured on, as features.

Features take long, so those of each set are kept in a cache; delete it when features change.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.support import FEATURES, SIMILARITY, Meaning, compare
from desktop_rag.answer.checking.claims.tokens import tokenize_claim
from desktop_rag.core.language.languages import is_english
from desktop_rag.core.text import words
from desktop_rag.features.evaluation.measures.query_sets import LabelledClaim, load_claims

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# The sets that the shipped model learns from, all labelled by people; NOTICES.md names each with
# its licence. Two contain share-alike text: without them claims left out are told apart worse.
LEARNED = {
    "begin_wow": "train/begin_wow.jsonl",
    "bump": "train/bump.jsonl",
    "contract_nli": "train/contract_nli.jsonl",
    "factcheck_gpt": "train/factcheck_gpt.jsonl",
    "faithdial_audit": "train/faithdial_audit.jsonl",
    "q2_wow": "train/q2_wow.jsonl",
    "scifact_rationale": "train/scifact_rationale.jsonl",
    "fever_nli": "train/fever_nli.jsonl",
    "fm2": "train/fm2.jsonl",
}
# Small, or written by a model: the verdicts are bounded by them, but no weight is fitted to them.
MEASURED = {
    "dialfact_small": "train/dialfact_small.jsonl",
    "factcg_synth": "train/factcg_synth.jsonl",
}
# Benchmarks: nothing, not even a threshold, is fitted to them.
BENCHMARKS = {
    "summedits": "summedits/pairs.jsonl",
    "lfqa_verification": "lfqa_verification/pairs.jsonl",
    "wice": "wice/pairs_oracle.jsonl",
    "qags": "qags/pairs.jsonl",
}
# In other languages, measured only.
FOREIGN = {
    "farstail_fa": "train/farstail_fa.jsonl",
    "indonli_id": "train/indonli_id.jsonl",
    "jnli_ja": "train/jnli_ja.jsonl",
    "klue_nli_ko": "train/klue_nli_ko.jsonl",
}
_SEED = 7


@dataclass(frozen=True, slots=True)
class Measured:
    """The claims of a set: features in the order of FEATURES, labels, the share of the claim's
    words that the source has, and whether the checker takes claim and source for English.
    """

    rows: Floats
    labels: Flags
    overlap: Floats
    english: Flags


def measured_sets(grounding: Path, cache: Path, most: int) -> dict[str, Measured]:
    """All sets by name, at most so many claims of each, from the cache or computed on all cores."""
    cache.mkdir(parents=True, exist_ok=True)
    files = {**LEARNED, **MEASURED, **BENCHMARKS, **FOREIGN}
    missing = [name for name in files if not (cache / f"{name}.npz").exists()]
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        waiting = [
            pool.submit(_measure, grounding / files[name], cache / f"{name}.npz", most)
            for name in missing
        ]
        for name, result in zip(missing, waiting, strict=True):
            result.result()
            print(f"{name}: features computed", flush=True)
    return {name: _read(cache / f"{name}.npz") for name in files}


def _read(path: Path) -> Measured:
    with np.load(path) as kept:
        return Measured(kept["rows"], kept["labels"], kept["overlap"], kept["english"])


def _measure(path: Path, cached: Path, most: int) -> None:
    claims = load_claims(path)
    chosen = np.sort(np.random.default_rng(_SEED).permutation(len(claims))[:most])
    claims = [claims[place] for place in chosen.tolist()]
    meaning = Meaning()
    rows = [features_of(claim, meaning) for claim in claims]
    known = [place for place, row in enumerate(rows) if row]
    kept = [claims[place] for place in known]
    np.savez(
        cached,
        rows=np.asarray([rows[place] for place in known]),
        labels=np.asarray([claim.is_supported for claim in kept]),
        overlap=np.asarray([overlap_of(claim) for claim in kept]),
        english=np.asarray([is_english(f"{claim.claim}\n{claim.source}") for claim in kept]),
    )


def features_of(labelled: LabelledClaim, meaning: Meaning) -> Sequence[float]:
    """The features in order; none for what can't be checked."""
    claim, index = tokenize_claim(labelled.claim), SourceIndex(labelled.source)
    if not index.tokens or not any(token.is_content for token in claim):
        return []
    found = compare(claim, index)
    start, end = found.window.span
    [similarity] = meaning.similarities(labelled.claim, [labelled.source[start:end]])
    values = {**found.features, SIMILARITY: similarity}
    return [values[name] for name in FEATURES]


def overlap_of(labelled: LabelledClaim) -> float:
    """The share of the claim's words that the source has."""
    said = [word.casefold() for word in words(labelled.claim)]
    written = {word.casefold() for word in words(labelled.source)}
    return sum(word in written for word in said) / max(len(said), 1)
