"""Fits the numbers in resources/claims/checker.toml to claims labelled by people.

python training/fit_checker.py GROUNDING PASSAGES [--write]

GROUNDING contains the sets of SETS, files of rows {source, claim, label}; PASSAGES contains folders
in BEIR format, from whose passages further claims are made by edits (claim_edits.py). Prints for
each set the balanced accuracy at the single threshold and the AUC of three fits: on everything;
without a fifth of each set's sources in turn, which are then judged; and without the whole set. The
first shows the quality on training data, the second on further claims of that kind, the third on
other kinds.
"""

import argparse
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from boosted_trees import Bins, Floats, Grower, Tree, score
from claim_edits import make_claims
from numpy.typing import NDArray

from desktop_rag.answer.checking.claims.features import FEATURES, compare
from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.tokens import tokenize_claim
from desktop_rag.core.paths import resources_dir
from desktop_rag.evaluate.grounding import LabelledClaim, load_claims
from desktop_rag.evaluate.metrics import area_under_curve, balanced_accuracy
from desktop_rag.evaluate.query_sets import load_set

SETS = {
    "lfqa_verification": "pairs.jsonl",
    "summedits": "pairs.jsonl",
    "wice": "pairs_oracle.jsonl",
    "qags": "pairs.jsonl",
}
# For evaluation only, and of other kinds: whole articles, whole answers, correctness of figures.
OTHERS = ("wice/pairs.jsonl", "summedits/pairs_answer.jsonl", "financebench_answers/pairs.jsonl")
PASSAGE_SETS = ("squad", "pubmedqa")
MADE = "made"
# The weight of each set: higher where the target is harder to reach.
WEIGHTS = {"lfqa_verification": 5.0, "summedits": 1.5, "wice": 1.0, "qags": 1.3, MADE: 4.0}
_MADE_CLAIMS = 12_000
_PARTS = 5
_SEED = 7
DIRECTIONS = tuple(FEATURES.values())
_TREES = 240
# The number of claims that a set counts as, times its weight, half of them for each label.
_WEIGHT_OF_ONE = 1000.0
_THRESHOLD = 0.5
_SUPPORTED_FROM = 0.6
_UNSUPPORTED_BELOW = 0.4
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Judged:
    """A set's claims as feature rows, with labels and the fold of each source."""

    claims: Sequence[LabelledClaim]
    rows: Floats
    labels: Floats
    parts: Bins

    def only(self, chosen: NDArray[np.bool_]) -> "Judged":
        """The selected claims."""
        claims = [self.claims[place] for place in np.flatnonzero(chosen).tolist()]
        return Judged(claims, self.rows[chosen], self.labels[chosen], self.parts[chosen])

    def beside(self, column: Floats) -> "Judged":
        """The same with an additional feature."""
        return replace(self, rows=np.column_stack([self.rows, column]))


def main() -> None:
    """Measure, fit and print; with --write replace the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grounding", type=Path)
    parser.add_argument("passages", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    sets = {
        name: judged(load_claims(arguments.grounding / name / file)) for name, file in SETS.items()
    }
    sets[MADE] = judged(made_claims(arguments.passages))
    trees = fit(sets)
    report("all", {name: (score(trees, of.rows), of.labels) for name, of in sets.items()})
    report("further sources", crossed(sets))
    report("further sets", {name: without(sets, name) for name in SETS})
    others = {name: judged(load_claims(arguments.grounding / name)) for name in OTHERS}
    report("others", {name: (score(trees, of.rows), of.labels) for name, of in others.items()})
    text = as_toml(trees)
    if arguments.write:
        path = resources_dir() / "claims" / "checker.toml"
        path.write_text(text, encoding="utf-8")
    assert len(tomllib.loads(text)["trees"]) == _TREES


def made_claims(folder: Path) -> list[LabelledClaim]:
    """Claims made by edits from passages that no set of claims uses."""
    corpora = [load_set(folder / name).corpus for name in PASSAGE_SETS]
    passages = [row["text"] for corpus in corpora for row in corpus]
    return [
        LabelledClaim(str(made.passage), made.source, made.claim, made.is_supported)
        for made in make_claims(passages, _MADE_CLAIMS, _SEED)
    ]


def judged(claims: Sequence[LabelledClaim]) -> Judged:
    """The features of a set; claims with a common source, and equal claims, share a fold."""
    rows = [features(claim) for claim in claims]
    known = [place for place, row in enumerate(rows) if row]
    groups: dict[str, int] = {}
    numbers: list[int] = []
    for claim in (claims[place] for place in known):
        number = groups.get(claim.claim, groups.get(claim.source, len(groups)))
        groups[claim.claim] = groups[claim.source] = number
        numbers.append(number)
    shuffled = np.random.default_rng(_SEED).permutation(max(numbers) + 1)
    return Judged(
        [claims[place] for place in known],
        np.asarray([rows[place] for place in known]),
        np.asarray([float(claims[place].is_supported) for place in known]),
        shuffled[numbers] % _PARTS,
    )


def features(labelled: LabelledClaim) -> list[float]:
    """The features in order, without uncheckable claims."""
    claim, index = tokenize_claim(labelled.claim), SourceIndex(labelled.source)
    if not index.tokens or not any(token.is_content for token in claim):
        return []
    found = compare(claim, index).features
    return [found[name] for name in FEATURES]


def fit(sets: Mapping[str, Judged], directions: Sequence[int] = DIRECTIONS) -> list[Tree]:
    """Trees for all sets, with the monotonic constraints of the features."""
    weights = [weights_of(of.labels) * WEIGHTS[name] for name, of in sets.items()]
    return Grower(
        np.vstack([of.rows for of in sets.values()]),
        np.concatenate([of.labels for of in sets.values()]),
        np.concatenate(weights),
        directions,
        _SEED,
    ).grow(_TREES)


def weights_of(labels: Floats) -> Floats:
    """A weight per claim that balances the labels."""
    supported = labels > 0
    shares = np.where(supported, 0.5 / supported.sum(), 0.5 / (~supported).sum())
    return _WEIGHT_OF_ONE * shares


Scored = tuple[Floats, Floats]


def crossed(
    sets: Mapping[str, Judged], directions: Sequence[int] = DIRECTIONS
) -> dict[str, Scored]:
    """Scores of each fold of every set, from fits without that fold."""
    scores = {name: np.zeros(len(sets[name].labels)) for name in SETS}
    for part in range(_PARTS):
        kept = {
            name: of.only(of.parts != part) if name in SETS else of for name, of in sets.items()
        }
        trees = fit(kept, directions)
        for name in SETS:
            inside = sets[name].parts == part
            scores[name][inside] = score(trees, sets[name].rows[inside])
    return {name: (scores[name], sets[name].labels) for name in SETS}


def without(
    sets: Mapping[str, Judged], name: str, directions: Sequence[int] = DIRECTIONS
) -> Scored:
    """Scores of a set from a fit without it."""
    trees = fit({other: of for other, of in sets.items() if other != name}, directions)
    return score(trees, sets[name].rows), sets[name].labels


def report(heading: str, scored: Mapping[str, Scored]) -> None:
    """One line per set: balanced accuracy at the threshold, and AUC."""
    limit = math.log(_THRESHOLD / (1 - _THRESHOLD))
    for name, (scores, labels) in scored.items():
        kinds = [label > 0 for label in labels.tolist()]
        accuracy = balanced_accuracy([value >= limit for value in scores.tolist()], kinds)
        auc = area_under_curve(scores.tolist(), kinds)
        print(f"{heading:<16} {name:<34} {accuracy:.3f}  AUC {auc:.3f}", flush=True)


def as_toml(trees: Sequence[Tree]) -> str:
    """The file contents, with the rounding used at load time."""
    lines = [
        "# The model of a source's support for a claim. Written by training/fit_checker.py, which",
        "# describes its training data. Read by desktop_rag/answer/checking/claims/model.py.",
        "",
        f"threshold = {_THRESHOLD}",
        f"supported_from = {_SUPPORTED_FROM}",
        f"unsupported_below = {_UNSUPPORTED_BELOW}",
        "features = [",
        *(f'    "{name}",' for name in FEATURES),
        "]",
    ]
    for tree in trees:
        values = [round(value, _DIGITS) for value in tree.values]
        lines += ["", "[[trees]]", f"features = {tree.features}", f"cuts = {tree.cuts}"]
        lines.append(f"values = {json.dumps(values)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
