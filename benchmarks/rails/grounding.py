"""The grounding rail at three settings: unsupported answers withheld, supported ones shown.

Usage: grounding.py PAIRS.jsonl [--limit N], rows {source, claim, label}; a claim stands for an
answer. The check is that of the app; an answer is withheld below the setting.
"""

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bars import reported, table

from desktop_rag.app import make_claim_checker
from desktop_rag.features.evaluation.measures.grounding import checked_claims
from desktop_rag.features.evaluation.measures.query_sets import load_claims

_SEED = 25
_STRICT = 0.75
# Assistants show an answer whose statements are supported, or near to their sources.
_ASSISTANTS, _PASSES = "assistants", 0.5


def main() -> None:
    """Check the claims, and print the shares at the threshold of the app and at a strict one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--limit", type=int, help="a sample of so many")
    arguments = parser.parse_args()
    claims = load_claims(arguments.pairs)
    if arguments.limit:
        claims = random.Random(_SEED).sample(claims, min(arguments.limit, len(claims)))
    checker = make_claim_checker()
    judged = checked_claims(claims, checker, print)
    bars = []
    settings = (("usual", checker.threshold), ("strict", _STRICT), (_ASSISTANTS, _PASSES))
    for name, least in settings:
        shown = [
            c for c in judged
            if c.checked.support >= least
            and (name != _ASSISTANTS or c.checked.is_likely)
        ]  # fmt: skip
        of_right = sum(c.labelled.is_supported for c in judged)
        shown_right = sum(c.labelled.is_supported for c in shown)
        shown_wrong = len(shown) - shown_right
        withheld = 1 - shown_wrong / (len(judged) - of_right)
        bars += [
            reported(f"{name} ({least:g}): unsupported withheld", withheld),
            reported(f"{name} ({least:g}): supported shown", shown_right / of_right),
        ]
    bars.append(reported("claims", len(judged)))
    bars.append(reported("ms a claim", sum(c.ms for c in judged) / len(judged)))
    print("\n".join(table(bars)))


if __name__ == "__main__":
    main()
