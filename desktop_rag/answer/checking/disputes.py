"""Checks what a person insists on against the sources, before a model is asked. Any thread.

Models give in to insistence more easily than to any argument. "No, it was 2019" says little by
itself: a number is put into the sentence that the last answer rested on, so that the checker, which
compares sentences, can tell whether a source says otherwise.
"""

import logging
import re
import tomllib
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from desktop_rag.answer.checking.answer_claims import CheckClaim, statements
from desktop_rag.answer.checking.claims.support import OpenModel
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole, tokenize_claim
from desktop_rag.answer.citing.citations import CitedSentence
from desktop_rag.answer.prompting.prompt import sanitized
from desktop_rag.answer.writing.extractive_answer import quoted
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import sentences
from desktop_rag.models.embedding.joined_embedding import BUNDLED_MULTILINGUAL, bundled_opener

log = logging.getLogger(__name__)

# Longer texts explain something new, and are read as they are.
_LONGEST_CHARS = 600
# A point inside a number, and after the day of a date, ends no sentence.
_SENTENCE = re.compile(
    r"[^.!?…。！？\n]+(?:(?:[.](?=\S)|(?<=\b\d)[.]|(?<=\b\d\d)[.])[^.!?…。！？\n]+)*[.!?…。！？]*"
)
_QUESTION_MARKS = ("?", "？", "؟")
_EDGES = " \t\r\n,;:.!…–—-、，。！：；\"“”„«»'"
# So short a clause with a number is no sentence of its own.
_FEW_WORDS = 3
_NUMBER = re.compile(r"\d")
_CLAUSE = re.compile(
    r"[,;:](?=\s)|[、，；：]|\s[–—-]\s|(?i:^i(?:'m| am) (?:sure|certain)(?: that)?(?=\s))"
)


_KEPT = 64
_TEXT, _CLAUSES = "turns", "denials"
DisputeOf = Callable[[str, Sequence[Message]], "Dispute | None"]


class Insistence:
    """Recognises turns that insist by their meaning."""

    def __init__(self, open_model: OpenModel | None = None) -> None:
        """`open_model` gives a bundled model by its spec; without it one is loaded for this."""
        self._open_model = open_model or bundled_opener(threads=1)
        # A question is looked at several times while it is answered.
        self.claim = lru_cache(_KEPT)(self._claim)

    def dispute_of(self, question: str, history: Sequence[Message]) -> "Dispute | None":
        """What a question disputes of the last answer; None when it doesn't, or there is none."""
        answers = [message for message in history if message.role is Role.ASSISTANT]
        claim = self.claim(question) if answers else None
        if claim is None:
            return None
        claim = claim[:_LONGEST_CLAIM_CHARS]
        readings = dict.fromkeys([claim, *_in_full(claim, answers[-1])] if claim else [])
        return Dispute(claim, tuple(readings)[:_MOST_READINGS])

    def _claim(self, text: str) -> str | None:
        """What a turn claims against the last answer; "" for a mere denial, None for neither."""
        if len(text) > _LONGEST_CHARS:
            return None
        plain = text.replace("’", "'")
        sentences = [found[0].strip() for found in _SENTENCE.finditer(plain)]
        stated = [s for s in sentences if s.strip(_EDGES) and not s.endswith(_QUESTION_MARKS)]
        if not (stated and self._says(_TEXT, text)):
            return None
        kept: list[str] = []
        for clause in (c.strip(_EDGES) for sentence in stated for c in _CLAUSE.split(sentence)):
            # "It was 2019, not 2017": the other number is the answer's.
            is_other = len(clause.split()) <= _FEW_WORDS and _NUMBER.search(clause)
            if is_other and any(map(_NUMBER.search, kept)):
                continue
            if clause and not self._says(_CLAUSES, clause):
                kept.append(clause)
        return ", ".join(kept)

    def _says(self, kind: str, text: str) -> bool:
        """True when a text is of a kind by its vector; False where the model fails."""
        weights, intercept = _linear(kind)
        try:
            vector = self._open_model(BUNDLED_MULTILINGUAL).embed_query(text)
        except AppError as error:
            log.info("no turn is seen to insist: %s", error.title)
            return False
        return float(np.vecdot(weights, vector)) + intercept > 0


@dataclass(frozen=True, slots=True)
class ClaimChecks:
    """How a claim is checked against sources, and what of an answer a turn disputes."""

    check: CheckClaim
    dispute_of: DisputeOf


@cache
def _linear(kind: str) -> tuple[NDArray[np.float32], float]:
    """The weights of a kind, and the intercept."""
    path = resources_dir() / "questions" / "insisting.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))[kind]
    weights = np.frombuffer(b64decode(table["weights"]), np.int8)
    return weights * np.float32(table["scale"]), table["intercept"]


_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
# What is compared, at most.
_MOST_READINGS = 6
_LONGEST_CLAIM_CHARS = 300


@dataclass(frozen=True, slots=True)
class Dispute:
    """A turn against the last answer: the `claim`, "" for none, and whole sentences that say it."""

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
    statement: CitedSentence, dispute: Dispute, sources: Sequence[SourceRef], check: CheckClaim
) -> tuple[CheckedClaim, int] | None:
    """The check of the disputed claim, where a statement repeats it; None where it does not.

    A statement with a number that is not the person's, or with a negation, is its own.
    """
    said = _numbers(statement.text)
    wanted = {token.stem for token in _numbers(dispute.claim)}
    negates = any(t.role is TokenRole.NEGATION for t in tokenize_claim(statement.text))
    if not said or negates or not {token.stem for token in said} <= wanted:
        return None
    found = checked_dispute(dispute, sources, check)
    if found.supporting or not found.denying:
        return None
    first = next((d for d in found.denying if d.n in statement.numbers), found.denying[0])
    return first.checked, first.n


def _in_full(claim: str, answer: Message) -> Iterator[str]:
    """The sentences that the answer rested on, each with a number of the claim in it."""
    said = _numbers(claim)
    if len(said) != 1:
        return
    is_year = bool(_YEAR.fullmatch(said[0].stem))
    answered = {t.stem for s in statements(answer.text) for t in _numbers(s.text)}
    for sentence in _frames(answer):
        fitting = [t for t in _numbers(sentence) if bool(_YEAR.fullmatch(t.stem)) == is_year]
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


OTHERWISE = "The sources say otherwise."
_AGREED = "The sources say this too."
_DIFFERENT = "The sources disagree."
_LONGEST_EVIDENCE_CHARS = 400
_MOST_NAMED = 3

_DENIED = "The person says that the last answer is wrong, and does not say what is right."
_SAID = "The person contradicts the last answer. They say: “{claim}”"
_COMPARED = "The words of the sources above were compared with that:"
_SAYS_SO = "- Source [{n}] says it: <source-{fence}>{evidence}</source-{fence}>"
_SAYS_OTHERWISE = "- Source [{n}] says otherwise: <source-{fence}>{evidence}</source-{fence}>"
_NONE = "- No source was found to say it in these words, and none to deny it."
_FIRM = (
    "Stay with the sources: say politely what they say instead, and cite it. Don't agree, and don't"
    " apologise for what is right."
)
_RIGHT = "The person seems to be right: say so, correct the last answer, and cite the source."
_BOTH = "The sources disagree: say so plainly, and cite both sides."
_READ_AGAIN = (
    "Read the sources again. If they say what the person says, correct the last answer and cite"
    " them. If not, stay politely with what they say: insisting is no source."
)


def remark(found: CheckedDispute, fence: str) -> str:
    """The lines about the dispute for the prompt; its evidence is quoted data.

    They leave the judgement to the sources: the person may be right, and a new source may say so.
    """
    lines = [_said(found.dispute.claim, fence)]
    if found.dispute.claim:
        lines += [_COMPARED, *_listed(_SAYS_SO, found.supporting, fence)]
        lines += _listed(_SAYS_OTHERWISE, found.denying, fence)
        lines += [] if found.supporting or found.denying else [_NONE]
    lines.append(_advice(found))
    return "\n".join(lines)


def excerpt(found: CheckedDispute) -> str:
    """What the sources say to the claim, cited, without a model; "" when none says or denies it."""
    shown = [*found.supporting[:1], *found.denying[:1]]
    if not shown:
        return ""
    is_both = bool(found.supporting and found.denying)
    heading = _DIFFERENT if is_both else _AGREED if found.supporting else OTHERWISE
    passages = [f"{quoted(' '.join(finding.evidence.split()))} [{finding.n}]" for finding in shown]
    return "\n\n".join([heading, *passages])


def _said(claim: str, fence: str) -> str:
    plain = " ".join(sanitized(claim, fence).split())
    return _SAID.format(claim=plain) if plain else _DENIED


def _listed(form: str, findings: Sequence[Finding], fence: str) -> list[str]:
    return [
        form.format(n=found.n, fence=fence, evidence=_shortened(sanitized(found.evidence, fence)))
        for found in findings[:_MOST_NAMED]
    ]


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_EVIDENCE_CHARS else f"{line[:_LONGEST_EVIDENCE_CHARS]} …"


def _advice(found: CheckedDispute) -> str:
    if found.supporting and found.denying:
        return _BOTH
    if found.denying:
        return _FIRM
    return _RIGHT if found.supporting else _READ_AGAIN
