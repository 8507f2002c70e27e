"""Figures that a source gives in thousands or millions, as its heading says. Pure, any thread."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole

_SCALE = re.compile(
    r"\bin\s+(?:[€$£]\s?)?(?:(thousand|million|billion)s"
    r"(?=\s*(?:[),;:|\n]|$|except|of\s+(?:U\.?\s?S\.?\s+)?(?:euro|dollar|pound|yen|crown|franc|EUR|USD)"
    r"|EUR|USD|GBP|[€$£]))|(Tausend|Tsd|Millionen|Mio|Milliarden|Mrd)\b)",
    re.IGNORECASE,
)
_FACTORS = {
    "thousand": Decimal(10**3), "tausend": Decimal(10**3), "tsd": Decimal(10**3),
    "million": Decimal(10**6), "millionen": Decimal(10**6), "mio": Decimal(10**6),
    "billion": Decimal(10**9), "milliarden": Decimal(10**9), "mrd": Decimal(10**9),
}  # fmt: skip


def scale_of(text: str) -> Decimal | None:
    """What the figures of a text stand for, such as 1,000,000; None when it doesn't say."""
    found = _SCALE.search(text)
    return _FACTORS[(found[1] or found[2]).casefold()] if found else None


def in_scale(
    claim: Sequence[ClaimToken], scale: Decimal | None, stems: frozenset[str]
) -> list[ClaimToken]:
    """A claim whose large numbers are in the scale of a source, unless that has them in full."""
    return [
        token if scale is None or token.stem in stems else _in_scale(token, scale)
        for token in claim
    ]


def _in_scale(token: ClaimToken, scale: Decimal) -> ClaimToken:
    if token.role is not TokenRole.NUMBER:
        return token
    try:
        value = Decimal(token.stem) / scale
    except InvalidOperation:
        return token
    return replace(token, stem=f"{value.normalize():f}") if value >= 1 else token
