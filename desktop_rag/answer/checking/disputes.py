"""Checks what a person insists on against the sources, before a model is asked. Any thread.

"No, it was 2019" says little by itself. Where it has a number, it is read as the sentence that the
last answer rested on, with that number in place of the one there. So the checker, which compares
sentences, can tell whether a source says otherwise.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from desktop_rag.answer.checking.answer_checking import CheckClaim, Statement, statements
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole, tokenize_claim
from desktop_rag.answer.checking.insisting import insisted_claim
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.core.text import sentences

_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
# What is compared, at most.
_MOST_READINGS = 6
_LONGEST_CLAIM_CHARS = 300


@dataclass(frozen=True, slots=True)
class Dispute:
    """A turn against the last answer: what the person claims, "" for a mere denial.

    `readings` are whole sentences that say the same, the claim itself first.
    """

    claim: str
    readings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a source says to a claim: its number, and the check with the evidence in its text."""

    n: int
    checked: CheckedClaim
    evidence: str


@dataclass(frozen=True, slots=True)
class CheckedDispute:
    """A dispute, with the sources that say the claim and those that say otherwise."""

    dispute: Dispute
    supporting: tuple[Finding, ...] = ()
    denying: tuple[Finding, ...] = ()


def dispute_of(question: str, history: Sequence[Message]) -> Dispute | None:
    """What a question disputes of the last answer; None when it doesn't, or there is none."""
    answers = [message for message in history if message.role is Role.ASSISTANT]
    claim = insisted_claim(question) if answers else None
    if claim is None:
        return None
    claim = claim[:_LONGEST_CLAIM_CHARS]
    readings = dict.fromkeys([claim, *_in_full(claim, answers[-1])] if claim else [])
    return Dispute(claim, tuple(readings)[:_MOST_READINGS])


def checked_dispute(
    dispute: Dispute, sources: Sequence[SourceRef], check: CheckClaim
) -> CheckedDispute:
    """Each source against each reading: the first that it supports, or else contradicts."""
    supporting: list[Finding] = []
    denying: list[Finding] = []
    for source in sources:
        found = [check(reading, [source.text]) for reading in dispute.readings]
        right = [checked for checked in found if checked.verdict is Verdict.SUPPORTED]
        wrong = [checked for checked in found if checked.verdict is Verdict.CONTRADICTED]
        for checked in (right or wrong)[:1]:
            place = checked.evidence
            evidence = source.text[place.start : place.end] if place else ""
            (supporting if right else denying).append(Finding(source.n, checked, evidence))
    return CheckedDispute(dispute, tuple(supporting), tuple(denying))


def given_in(
    statement: Statement, dispute: Dispute, sources: Sequence[SourceRef], check: CheckClaim
) -> tuple[CheckedClaim, int] | None:
    """The check of the disputed claim, where a statement repeats it; None where it does not.

    A statement with a number that is not the person's, or with a negation, is its own.
    """
    said = _numbers(statement.text)
    wanted = {token.stem for token in _numbers(dispute.claim)}
    if not said or not {token.stem for token in said} <= wanted or _negates(statement.text):
        return None
    found = checked_dispute(dispute, sources, check)
    if found.supporting or not found.denying:
        return None
    first = next((d for d in found.denying if d.n in statement.cited), found.denying[0])
    return first.checked, first.n


def _in_full(claim: str, answer: Message) -> Iterator[str]:
    """The sentences that the answer rested on, each with a number of the claim in it."""
    said = _numbers(claim)
    if len(said) != 1:
        return
    answered = {t.stem for s in statements(answer.text) for t in _numbers(s.text)}
    for sentence in _frames(answer):
        fitting = [token for token in _numbers(sentence) if _is_of_a_kind(token, said[0])]
        known = [token for token in fitting if token.stem in answered] or fitting
        for token in known:
            if token.stem != said[0].stem:
                written = claim[said[0].start : said[0].end]
                yield sentence[: token.start] + written + sentence[token.end :]


def _frames(answer: Message) -> Iterator[str]:
    """The sentences of the sources that the answer quotes, then its own."""
    for source in answer.sources:
        if source.is_cited and source.quote:
            yield from (source.quote[start:end].strip() for start, end in sentences(source.quote))
    yield from (statement.text for statement in statements(answer.text))


def _numbers(text: str) -> list[ClaimToken]:
    return [token for token in tokenize_claim(text) if token.role is TokenRole.NUMBER]


def _negates(text: str) -> bool:
    return any(token.role is TokenRole.NEGATION for token in tokenize_claim(text))


def _is_of_a_kind(one: ClaimToken, other: ClaimToken) -> bool:
    """True when both are years, or neither is."""
    return bool(_YEAR.fullmatch(one.stem)) == bool(_YEAR.fullmatch(other.stem))
