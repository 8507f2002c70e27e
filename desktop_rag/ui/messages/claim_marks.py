"""Badges of checked claims in the text of an answer, and what they say. Pure; Qt thread.

Behind each claim the text gets one character of a private range; the renderer puts a badge in its
place, or nothing where it would change what the text looks like. Characters of that range that a
model wrote are taken out.
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
# What may follow the last word of a sentence. A mark behind it would be neither space nor
# punctuation to Markdown, and then "**" closes nothing.
_CLOSING = " \t\n\r.!?…。！？*_~\\\"'”’»)]"
_FENCE = re.compile(r"^[ \t>]*(?:`{3}|~{3})", re.MULTILINE)
# No mark inside: a citation, or where a link leads.
_WHOLE = re.compile(r"\[[\d,\s]{1,40}\]|\]\([^()\s]*\)")
_LONGEST_WHOLE_CHARS = 2_000
_BEFORE_CLOSING = re.compile(rf"({MARK.pattern}+)([.!?…。！？\"'”’»)\]]+)")


def with_marks(text: str, claims: Sequence[Claim]) -> str:
    """The text with the mark of each claim behind its last word, where Markdown minds it least."""
    parts: list[str] = []
    done = 0
    for index, claim in enumerate(claims[:_MOST]):
        place = max(done, _mark_place(text, claim))
        if place > claim.start:
            parts += [MARK.sub("", text[done:place]), chr(_FIRST + index)]
            done = place
    return "".join([*parts, MARK.sub("", text[done:])])


def _mark_place(text: str, claim: Claim) -> int:
    place = claim.start + len(_up_to_last_word(text[claim.start : claim.end]))
    for opening in "[", "](":
        at = text.rfind(opening, max(0, place - _LONGEST_WHOLE_CHARS), place)
        whole = _WHOLE.match(text, at) if at >= 0 else None
        place = max(place, whole.end() if whole else 0)
    return place


def _up_to_last_word(said: str) -> str:
    """Of a sentence that a code block ends, the part before the block."""
    fences = [match.start() for match in _FENCE.finditer(said)]
    if fences and "\n" not in said[fences[-1] :].rstrip():
        said = said[: fences[-2:][0]]
    return said.rstrip(_CLOSING)


def marks_behind(text: str) -> str:
    """The text with its marks behind the punctuation that ends a sentence, as a person expects."""
    return _BEFORE_CLOSING.sub(r"\2\1", text)


def badges_in(piece: str, claims: Sequence[Claim]) -> dict[int, Verdict]:
    """What the claims came to whose marks stand in a piece of an answer."""
    indexes = (ord(mark) - _FIRST for mark in MARK.findall(piece))
    return {index: claims[index].verdict for index in indexes}


def badge_html(mark: str, badges: Badges, colours: Mapping[str, str]) -> str:
    """The badge in the place of a mark, nothing for one that is not known."""
    index = ord(mark) - _FIRST
    if index not in badges:
        return ""
    sign, role, _ = _SIGNS[badges[index]]
    style = (
        "text-decoration:none; font-style:normal; font-size:small; font-weight:600; "
        f"color:{colours[role]};"
    )
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
    """What the claims come to so far, in words, and the tone of it; "" without any."""
    verdicts = [claim.verdict for claim in claims if claim.verdict is not Verdict.NOT_CHECKED]
    if not verdicts:
        return ("Checking against the sources…", "muted") if claims and is_checking else ("", "")
    said, tone = _in_sum(verdicts)
    return said + (" · checking…" if is_checking else ""), tone


def _in_sum(verdicts: Sequence[Verdict]) -> tuple[str, str]:
    backed, total = verdicts.count(Verdict.SUPPORTED), len(verdicts)
    if count := verdicts.count(Verdict.CONTRADICTED):
        said = "One sentence contradicts" if count == 1 else f"{count} sentences contradict"
        return f"{said} the sources", "danger"
    if backed == total:
        return "Backed by the sources", "success"
    if not backed:
        fully = "fully " if Verdict.PARTLY in verdicts else ""
        return f"No sentence is {fully}backed by the sources", "warning"
    are = "is" if backed == 1 else "are"
    return f"{backed} of {total} sentences {are} backed by the sources", "warning"
