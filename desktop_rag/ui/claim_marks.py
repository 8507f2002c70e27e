"""Badges of checked claims in the text of an answer, and what they say. Pure; Qt thread.

Behind each claim the text gets one character of a private range, which Markdown leaves alone; the
renderer puts a badge in its place. Characters of that range that a model wrote are taken out.
"""

import re
from collections.abc import Mapping, Sequence

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import Verdict

Badges = Mapping[int, Verdict]

_FIRST = 0x100000
_MOST = 0xFFFD
MARK = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + _MOST)}]")
# Told apart without colours: sign, role of its colour, words.
_SIGNS = {
    Verdict.SUPPORTED: ("✓", "success", "Supported by the sources"),
    Verdict.PARTLY: ("≈", "warning", "Partly supported"),
    Verdict.NOT_IN_SOURCES: ("?", "warning", "Not in the sources"),
    Verdict.CONTRADICTED: ("✗", "danger", "Contradicted by a source"),
    Verdict.NOT_CHECKED: ("…", "muted", "Not checked yet"),
}
_NO_BREAK = "\u2060\u00a0"


def with_marks(text: str, claims: Sequence[Claim]) -> str:
    """The text with the mark of each claim behind it."""
    parts: list[str] = []
    done = 0
    for index, claim in enumerate(claims[:_MOST]):
        parts += [MARK.sub("", text[done : claim.end]), chr(_FIRST + index)]
        done = claim.end
    return "".join([*parts, MARK.sub("", text[done:])])


def badge_html(mark: str, badges: Badges, colours: Mapping[str, str]) -> str:
    """The badge in the place of a mark, nothing for one that is not known."""
    index = ord(mark) - _FIRST
    if index not in badges:
        return ""
    sign, role, _ = _SIGNS[badges[index]]
    style = f"text-decoration:none; font-size:small; font-weight:600; color:{colours[role]};"
    return f'{_NO_BREAK}<a href="claim:{index}" style="{style}">{sign}</a>'


def tone_of(verdict: Verdict) -> str:
    """The role of the colour that says a verdict."""
    return _SIGNS[verdict][1]


def claim_index(href: str, claims: Sequence[Claim]) -> int | None:
    """Which of the claims a `claim:n` link speaks of."""
    scheme, _, number = href.partition(":")
    is_number = scheme == "claim" and number.isascii() and number.isdigit()
    return int(number) if is_number and int(number) < len(claims) else None


def in_words(verdict: Verdict) -> str:
    """A verdict as a person reads it."""
    return _SIGNS[verdict][2]


def worst(claims: Sequence[Claim]) -> int:
    """Which claim is most in need of a look: contradicted before missing before in part."""
    order = [
        Verdict.CONTRADICTED, Verdict.NOT_IN_SOURCES, Verdict.PARTLY, Verdict.NOT_CHECKED,
        Verdict.SUPPORTED,
    ]  # fmt: skip
    return min(range(len(claims)), key=lambda n: order.index(claims[n].verdict))


def summary(claims: Sequence[Claim], *, is_checking: bool = False) -> tuple[str, str]:
    """What the claims come to, in words, and the tone of it; "" without any."""
    verdicts = [claim.verdict for claim in claims]
    if not verdicts:
        return "", ""
    if is_checking:
        return "Checking against the sources…", "muted"
    backed, total = verdicts.count(Verdict.SUPPORTED), len(verdicts)
    if Verdict.CONTRADICTED in verdicts:
        count = verdicts.count(Verdict.CONTRADICTED)
        said = "One sentence contradicts" if count == 1 else f"{count} sentences contradict"
        return f"{said} the sources", "danger"
    if backed == total:
        return "Backed by the sources", "success"
    return f"{backed} of {total} sentences backed by the sources", "warning"
