"""Badges of checked claims in the text of an answer, and their wording. Pure; Qt thread.

A private-use character is inserted after each claim. The renderer replaces it by a badge, or by
nothing where a badge would change the formatting. Private-use characters of the model are removed.
"""

import html
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from desktop_rag.core.claims import SIGNS, Claim, Verdict, place_of_sign
from desktop_rag.core.language.translation import tr


class Badge(NamedTuple):
    """The verdict of a claim; `is_near` if the sources say something near to it.

    `named` is the first thing in it that no source has.
    """

    verdict: Verdict
    is_near: bool = False
    named: str = ""


Badges = Mapping[int, Badge]

_FIRST = 0x100000
_MAX_CLAIMS = 0xFFFD
MARK = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + _MAX_CLAIMS)}]")
_TONES = {
    Verdict.SUPPORTED: "success",
    Verdict.PARTLY: "warning",
    Verdict.NOT_IN_SOURCES: "warning",
    Verdict.CONTRADICTED: "danger",
    Verdict.NOT_CHECKED: "muted",
}
VERDICTS = {
    Verdict.SUPPORTED: tr("Backed by sources"),
    Verdict.PARTLY: tr("Partly supported"),
    Verdict.NOT_IN_SOURCES: tr("Not found in the sources"),
    Verdict.CONTRADICTED: tr("Contradicted by a source"),
    Verdict.NOT_CHECKED: tr("Not checked"),
}
# Words on the badges of doubtful sentences; others have only a sign. So have those that are near to
# the sources: most true sentences of a model are, and words on each would hide what matters.
_CAUTIONS = {Verdict.NOT_IN_SOURCES: tr("not in sources"), Verdict.CONTRADICTED: tr("contradicted")}
# A longer name is cut: the chip doesn't break.
_MOST_NAMED_CHARS = 24
_NO_BREAK = "\u2060\u00a0"
_BEFORE_CLOSING = re.compile(rf"({MARK.pattern}+)([.!?…。！？\"'”’»)\]]+)")


def with_marks(text: str, claims: Sequence[Claim]) -> str:
    """The text with a mark after the last word of each claim, where it is safest for Markdown."""
    parts: list[str] = []
    done = 0
    for index, claim in enumerate(claims[:_MAX_CLAIMS]):
        place = max(done, place_of_sign(text, claim))
        if place > claim.start:
            parts += [MARK.sub("", text[done:place]), chr(_FIRST + index)]
            done = place
    return "".join([*parts, MARK.sub("", text[done:])])


def marks_behind(text: str) -> str:
    """The text with its marks moved after the punctuation that ends a sentence."""
    return _BEFORE_CLOSING.sub(r"\2\1", text)


def badges_in(piece: str, claims: Sequence[Claim]) -> dict[int, Badge]:
    """The badges of the claims whose marks are in a piece of an answer."""
    return {n: _badge(claims[n]) for n in (ord(mark) - _FIRST for mark in MARK.findall(piece))}


def _badge(claim: Claim) -> Badge:
    named = next(iter(claim.checked.named), "")
    return Badge(claim.verdict, claim.checked.is_near, named)


def badge_html(mark: str, badges: Badges, colours: Mapping[str, str]) -> str:
    """The badge for a mark; "" for an unknown one."""
    index = ord(mark) - _FIRST
    if index not in badges:
        return ""
    verdict, is_near, _ = badges[index]
    tone, sign = _TONES[verdict], SIGNS[verdict][0]
    style = "text-decoration:none; font-style:normal; font-size:small; font-weight:600; "
    if caution := _caution(badges[index]):
        # A chip that doesn't break and is as wide as its words.
        words = f"{sign} {caution}".replace(" ", "\u00a0")
        style += (
            f"color:{colours[f'{tone}_soft_text']}; background-color:{colours[f'{tone}_soft']};"
        )
        return f'{_NO_BREAK}<a href="claim:{index}" style="{style}">\u00a0{words}\u00a0</a>'
    colour = colours["muted" if is_near else tone]
    return f'{_NO_BREAK}<a href="claim:{index}" style="{style}color:{colour};">{sign}</a>'


def _caution(badge: Badge) -> str:
    """The words on a badge; what no source has is named."""
    if badge.named and badge.verdict in (Verdict.PARTLY, Verdict.NOT_IN_SOURCES):
        named = html.escape(badge.named[:_MOST_NAMED_CHARS])
        return tr("not in its source: {named}", named=named)
    return "" if badge.is_near else _CAUTIONS.get(badge.verdict, "")


def claim_index(href: str, claims: Sequence[Claim]) -> int | None:
    """The index of the claim a `claim:n` link points to."""
    scheme, _, number = href.partition(":")
    is_number = scheme == "claim" and number.isascii() and number.isdigit()
    return int(number) if is_number and int(number) < len(claims) else None


def tone_of(claim: Claim) -> str:
    """The colour role of a claim."""
    return "muted" if claim.checked.is_near else _TONES[claim.verdict]


def verdict_in_words(claim: Claim) -> str:
    """The verdict on a claim in words."""
    return tr("Near to the sources") if claim.checked.is_near else VERDICTS[claim.verdict]


def worst(claims: Sequence[Claim]) -> int:
    """The index of the claim with the worst verdict, contradicted first."""
    order = [
        Verdict.CONTRADICTED, Verdict.NOT_IN_SOURCES, Verdict.PARTLY, Verdict.NOT_CHECKED,
        Verdict.SUPPORTED,
    ]  # fmt: skip
    return min(range(len(claims)), key=lambda n: order.index(claims[n].verdict))


def summary(claims: Sequence[Claim], *, is_checking: bool = False) -> tuple[str, str]:
    """The overall result of the check so far in words, with its tone; "" without claims."""
    verdicts = [claim.verdict for claim in claims]
    unchecked = verdicts.count(Verdict.NOT_CHECKED)
    if unchecked == len(verdicts):
        if is_checking and claims:
            return tr("Checking against the sources…"), "muted"
        return (tr("No sentence could be checked"), "muted") if claims else ("", "")
    if is_checking:
        # A model may still check the others.
        result, tone = _overall([each for each in verdicts if each is not Verdict.NOT_CHECKED])
        return result + tr(" · checking…"), tone
    result, tone = _overall(verdicts)
    if unchecked:
        result += " · " + tr("{count:,} could not be checked", count=unchecked)
    if near := sum(claim.checked.is_near for claim in claims):
        result += " · " + tr("{count:,} nearly", count=near)
        others = {claim.verdict for claim in claims if not claim.checked.is_near}
        tone = tone if others - {Verdict.SUPPORTED, Verdict.NOT_CHECKED} else "muted"
    return result, tone


def _overall(verdicts: Sequence[Verdict]) -> tuple[str, str]:
    supported, total = verdicts.count(Verdict.SUPPORTED), len(verdicts)
    if count := verdicts.count(Verdict.CONTRADICTED):
        subject = tr("{count} sentences contradict", count=count)
        subject = tr("1 sentence contradicts") if count == 1 else subject
        return tr("{subject} the sources", subject=subject), "danger"
    if supported == total:
        return tr("Backed by sources"), "success"
    if not supported:
        return tr("No sentence is backed by sources"), "warning"
    if supported == 1:
        return tr("1 of {total} sentences is backed by sources", total=total), "warning"
    counts = {"supported": supported, "total": total}
    return tr("{supported} of {total} sentences are backed by sources", **counts), "warning"
