"""Tells the kind of a refusal from its words, codes and status. Pure."""

import re
from functools import cache

from desktop_rag.models.endpoints.client.endpoint_faults import Fault
from desktop_rag.models.endpoints.client.refusals.length_limit import tokens_in
from desktop_rag.models.endpoints.client.refusals.refusal_table import REFUSALS

_ADDRESS = re.compile(r"https?://\S+")
# The words of a hostile server must not take long to match.
_LONGEST_TEXT_CHARS = 1_000
# After these words a missing model is one that is away for a moment.
_FOR_A_MOMENT = re.compile(
    r"(?i)overload|capacity|temporar|busy|high demand|right now|at the moment|try again later"
    r"|繁忙|过载"
)
_FAULT_OF_STATUS = {
    401: Fault.BAD_KEY,
    402: Fault.NO_CREDIT,
    403: Fault.FORBIDDEN,
    404: Fault.NOTHING_THERE,
    405: Fault.NOTHING_THERE,
    408: Fault.FAILED,
    409: Fault.FAILED,
    425: Fault.FAILED,
    413: Fault.TOO_LARGE,
    429: Fault.BUSY,
    529: Fault.OVERLOADED,
}
# What the words may say in place of the fault of a status that is usually right.
_WORDS_FOR_STATUS = {
    401: {Fault.NO_CREDIT, Fault.FILTERED},
    402: {Fault.BUSY},
    405: set[Fault](),
    429: {Fault.NO_CREDIT, Fault.OVERLOADED, Fault.LOADING, Fault.BAD_KEY},
    529: {Fault.LOADING},
}
_SERVER_FAILED = 500
_STATUSES = range(400, 600)
# Groq: "on tokens per minute (TPM): Limit 6000, Used 0, Requested 6530"
_ALLOWANCE = re.compile(r"(?i)limit:? (\d[\d,]*).{0,40}?requested:? (\d[\d,]*)")


def fault_of(said: str, codes: str = "", status: int = 0, *, has_wait: bool = False) -> Fault:
    """The fault that a refusal reports. FAILED or REJECTED when neither words nor status tell.

    `status` is 0 for an error inside a stream; its code may be one. A refusal that `has_wait`
    passes: it is no missing credit.
    """
    status = status if status >= _STATUSES.start else _status_in(codes)
    words = _by_words(f"{codes} {said}")
    if words is Fault.NO_CREDIT and has_wait:
        words = Fault.BUSY
    if words is Fault.BUSY and allowance_in(said):
        return Fault.OVER_RATE
    expected = _FAULT_OF_STATUS.get(status)
    if words and words in _WORDS_FOR_STATUS.get(status, {words}):
        return words
    if expected:
        return expected
    return Fault.FAILED if status >= _SERVER_FAILED or not status else Fault.REJECTED


def allowance_in(said: str) -> int:
    """The tokens a minute that an endpoint allows, where one request alone exceeds them; else 0."""
    found = _ALLOWANCE.search(said)
    if not found:
        return 0
    limit, requested = tokens_in(found[1]), tokens_in(found[2])
    return limit if requested > limit else 0


def _status_in(codes: str) -> int:
    """The first of the codes that is a status of HTTP; 0 for none."""
    numbers = (int(code) for code in codes.split() if code.isdecimal())
    return next((number for number in numbers if number in _STATUSES), 0)


def _by_words(words: str) -> Fault | None:
    plain = " ".join(words[:_LONGEST_TEXT_CHARS].replace("’", "'").split())
    text = _ADDRESS.sub(" ", plain)
    for fault, pattern in _patterns():
        if pattern.search(text):
            is_away = fault is Fault.UNKNOWN_MODEL and _FOR_A_MOMENT.search(text)
            return Fault.OVERLOADED if is_away else fault
    return None


@cache
def _patterns() -> tuple[tuple[Fault, re.Pattern[str]], ...]:
    return tuple((row.fault, re.compile(row.pattern, re.IGNORECASE)) for row in REFUSALS)
