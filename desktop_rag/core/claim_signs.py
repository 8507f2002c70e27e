"""The signs of checked claims, and their places in the text of an answer. Pure, any thread."""

import re

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import Verdict

# Sign and words per verdict; distinct without colours.
SIGNS = {
    Verdict.SUPPORTED: ("✓", "Supported by the sources"),
    Verdict.PARTLY: ("≈", "Partly supported"),
    Verdict.NOT_IN_SOURCES: ("?", "Not found in the sources"),
    Verdict.CONTRADICTED: ("✗", "Contradicted by a source"),
    Verdict.NOT_CHECKED: ("…", "Not checked yet"),
}
# Characters after the last word of a sentence. To Markdown the window's mark is neither space nor
# punctuation, so that a "**" after it would not close.
_CLOSING = " \t\n\r.!?…。！？*_~\\\"'”’»)]"
_FENCE = re.compile(r"^[ \t>]*(?:`{3}|~{3})", re.MULTILINE)
# A sign must not split a citation or a link target.
_WHOLE = re.compile(r"\[[\d,\s]{1,40}\]|\]\([^()\s]*\)")
_MAX_WHOLE_CHARS = 2_000


def place_of_sign(text: str, claim: Claim) -> int:
    """The offset after the last word of the claim, where it is safest for Markdown."""
    place = claim.start + len(_up_to_last_word(text[claim.start : claim.end]))
    for opening in "[", "](":
        at = text.rfind(opening, max(0, place - _MAX_WHOLE_CHARS), place)
        whole = _WHOLE.match(text, at) if at >= 0 else None
        place = max(place, whole.end() if whole else 0)
    return place


def _up_to_last_word(said: str) -> str:
    """A sentence up to its last word, or up to the code block that ends it."""
    fences = [match.start() for match in _FENCE.finditer(said)]
    if fences and "\n" not in said[fences[-1] :].rstrip():
        said = said[: fences[-2:][0]]
    return said.rstrip(_CLOSING)
