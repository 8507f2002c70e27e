"""A set of sources, each with claims that are true by it and claims that are not.

A false claim differs from its source in one thing: a name, role, number, order, negation, date,
condition or neighbour in a list.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import Verdict

_PAIRS = Path(__file__).with_name("pairs.toml")


def pairs(label: str) -> Iterator[tuple[str, str]]:
    """The claims with this label, each with its source."""
    for source in tomllib.loads(_PAIRS.read_text("utf-8"))["sources"]:
        for claim in source[label]:
            yield source["text"], claim


@cache
def verdicts(label: str) -> dict[str, Verdict]:
    """The verdict on each claim with this label."""
    checker = ClaimChecker()
    return {claim: checker.check(claim, [source]).verdict for source, claim in pairs(label)}


def test_the_set_is_large_enough_to_tell() -> None:
    assert min(len(list(pairs(label))) for label in ("true", "false")) > 80


@pytest.mark.slow
def test_a_false_claim_is_never_called_supported() -> None:
    assert [claim for claim, v in verdicts("false").items() if v is Verdict.SUPPORTED] == []


@pytest.mark.slow
def test_most_true_claims_are_called_supported() -> None:
    found = list(verdicts("true").values())
    assert found.count(Verdict.SUPPORTED) >= 0.85 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("verdict", [Verdict.CONTRADICTED, Verdict.NOT_IN_SOURCES])
def test_no_true_claim_is_called_wrong(verdict: Verdict) -> None:
    assert [claim for claim, v in verdicts("true").items() if v is verdict] == []
