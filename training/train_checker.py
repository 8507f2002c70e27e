"""Trains and evaluates a small cross-encoder that decides if evidence supports a claim.

python training/train_checker.py GROUNDING PASSAGES [--pairs N]

Needs the [model] extra. The bundled encoder, with frozen word embeddings, learns from N pairs made
from PASSAGES by edits (claim_pairs.py); it never sees the sets in GROUNDING. Prints its AUC on each
of them, alone, and then the figures of fit_checker.py with its score as an additional feature of
the trees. Nothing is written: the results are in docs/decisions/027-claim-checks.md. Seeded;
another number of cores or other tool versions may change the last digits. About 70 pairs a second
on two cores with bfloat16.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from boosted_trees import Floats, score
from claim_pairs import Pair, gather_evidence, load_passages, make_pairs
from fit_checker import (
    DIRECTIONS,
    MADE,
    SETS,
    Judged,
    crossed,
    fit,
    judged,
    made_claims,
    report,
    without,
)
from model_graph import DIMENSIONS, find_source, load_encoder
from tokenizers import Tokenizer

from desktop_rag.core.paths import resources_dir
from desktop_rag.evaluate.grounding import load_claims
from desktop_rag.evaluate.metrics import area_under_curve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor, nn

_TOKENIZER = Path("models") / "all-MiniLM-L6-v2" / "tokenizer.json"
_MOST_TOKENS = 144
# Limits a long claim, to leave room for its evidence.
_MOST_CLAIM_CHARACTERS = 450
_PAIRS = 64_000
_SEED = 1000
_BATCH = 32
# Pairs of similar length are batched; lengths are rounded up, since each new one is compiled.
_SORTED_TOGETHER = 64 * _BATCH
_ROUNDED_TO = 16
_RATE, _RATE_OF_HEAD = 5e-5, 1e-3
_DECAY = 0.01
_WARMING_STEPS = 150
_LEAST_RATE = 0.02
_REPORTED_STEPS = 200
# The weight of the last step in the running mean of the loss.
_LATEST = 0.01

Encoded = tuple[list[int], list[int]]


def main() -> None:
    """Train, then print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grounding", type=Path)
    parser.add_argument("passages", type=Path)
    parser.add_argument("--pairs", type=int, default=_PAIRS)
    arguments = parser.parse_args()
    checker = CrossEncoder()
    checker.train(load_passages(arguments.passages), arguments.pairs)
    sets = {
        name: judged(load_claims(arguments.grounding / name / file)) for name, file in SETS.items()
    }
    sets[MADE] = judged(made_claims(arguments.passages))
    joined = {name: _joined(name, of, checker) for name, of in sets.items()}
    directions = (*DIRECTIONS, 1)
    trees = fit(joined, directions)
    report("joined", {name: (score(trees, of.rows), of.labels) for name, of in joined.items()})
    report("further sources", crossed(joined, directions))
    report("further sets", {name: without(joined, name, directions) for name in SETS})


def _joined(name: str, of: Judged, checker: CrossEncoder) -> Judged:
    scores = checker.scores(
        [
            Pair(claim.claim, gather_evidence(claim.claim, claim.source), claim.is_supported)
            for claim in of.claims
        ]
    )
    auc = area_under_curve(scores.tolist(), [label > 0 for label in of.labels.tolist()])
    print(f"{'alone':<16} {name:<34} AUC {auc:.3f}", flush=True)
    return of.beside(scores)


class CrossEncoder:
    """The encoder with a head on the mean and the maximum of the claim's tokens.

    The maximum, because a single wrong word makes a claim wrong. Without dropout: no pair is
    repeated, and drawing the random numbers takes a third of the time.
    """

    def __init__(self) -> None:
        import torch

        torch.manual_seed(_SEED)
        self._tokenizer = Tokenizer.from_file(str(resources_dir() / _TOKENIZER))
        self._tokenizer.enable_truncation(_MOST_TOKENS, strategy="longest_first")
        self._encoder = load_encoder(find_source())
        self._encoder.get_input_embeddings().weight.requires_grad_(False)
        self._head: nn.Module = torch.nn.Linear(2 * DIMENSIONS, 1)
        torch.nn.init.normal_(self._head.weight, std=0.02)

    def train(self, passages: Sequence[str], count: int) -> None:
        """Learn from a number of pairs, each seen once."""
        import torch

        steps = count // _BATCH
        learned = [value for value in self._encoder.parameters() if value.requires_grad]
        groups = [
            {"params": learned, "lr": _RATE},
            {"params": self._head.parameters(), "lr": _RATE_OF_HEAD},
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=_DECAY)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda n: min(1.0, n / _WARMING_STEPS) * max(_LEAST_RATE, 1 - n / steps)
        )
        mean = 0.0
        for step, batch in enumerate(islice(self._batches(passages), steps), 1):
            labels = torch.tensor([float(pair.is_supported) for pair in batch])
            found = self._forward([self._encoded(pair) for pair in batch])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(found, labels)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            schedule.step()
            mean = loss.item() if step == 1 else mean + _LATEST * (loss.item() - mean)
            if step % _REPORTED_STEPS == 0:
                print(f"{step * _BATCH} pairs, loss {mean:.3f}", file=sys.stderr, flush=True)

    def scores(self, pairs: Sequence[Pair]) -> Floats:
        """Log odds per pair, in order."""
        import torch

        encoded = [self._encoded(pair) for pair in pairs]
        order = sorted(range(len(encoded)), key=lambda n: len(encoded[n][0]))
        scores = np.zeros(len(encoded))
        with torch.no_grad():
            for first in range(0, len(order), _BATCH):
                places = order[first : first + _BATCH]
                scores[places] = self._forward([encoded[n] for n in places]).numpy()
        return scores

    def _batches(self, passages: Sequence[str]) -> Iterator[list[Pair]]:
        random = np.random.default_rng(_SEED)
        pairs = make_pairs(passages, _SEED)
        while True:
            some = list(islice(pairs, _SORTED_TOGETHER))
            some.sort(key=lambda pair: len(pair.claim) + len(pair.evidence))
            for first in random.permutation(len(some) // _BATCH) * _BATCH:
                yield some[first : first + _BATCH]

    def _encoded(self, pair: Pair) -> Encoded:
        found = self._tokenizer.encode(pair.claim[:_MOST_CLAIM_CHARACTERS], pair.evidence)
        return found.ids, found.type_ids

    def _forward(self, encoded: Sequence[Encoded]) -> Tensor:
        import torch

        longest = max(len(ids) for ids, _ in encoded)
        shape = len(encoded), -(-longest // _ROUNDED_TO) * _ROUNDED_TO
        ids, types, mask = (torch.zeros(shape, dtype=torch.int64) for _ in range(3))
        for row, (of_tokens, of_types) in enumerate(encoded):
            ids[row, : len(of_tokens)] = torch.tensor(of_tokens)
            types[row, : len(of_types)] = torch.tensor(of_types)
            mask[row, : len(of_tokens)] = 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = self._encoder(input_ids=ids, attention_mask=mask, token_type_ids=types)[0]
            of_claim = ((types == 0) & (mask == 1)).unsqueeze(-1)
            mean = (hidden * of_claim).sum(1) / of_claim.sum(1)
            greatest = hidden.masked_fill(~of_claim, -1e4).max(1).values
            return self._head(torch.cat([mean, greatest], 1)).squeeze(-1).float()


if __name__ == "__main__":
    main()
