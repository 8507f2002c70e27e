"""Measures the context length of a model by requests of growing length. Worker threads.

A server states what the model supports; what it was started with may be far less. A server that
refuses a long request often states its limit; one that truncates silently is detected by the tokens
it counts. Nearly every tokenizer has one token for each of the words sent.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto

# Short and frequent words: one token each, and nothing to merge.
_WORDS = (
    "time year people way day man thing woman life child world school state family student group "
    "country problem hand part place case week company system program question work government "
    "number night point home water room mother area money story fact month lot right study book "
    "eye job word business issue side kind head house service friend father power hour game line"
)
_STEP = 7  # a prime number of words, so that the order repeats as late as possible
_GRAIN_TOKENS = 256
# A share of the tokens expected from a request that was read whole.
_LEAST_READ_SHARE = 0.85


class ProbeOutcome(Enum):
    """The end of a request; unknown when the server was silent for too long, for example."""

    READ = auto()
    CUT = auto()
    REFUSED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one request: tokens `counted` by the server, 0 if it doesn't count.

    A refusal states the `limit` in tokens, 0 if it doesn't.
    """

    outcome: ProbeOutcome
    counted: int = 0
    limit: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a measurement: tokens, requests, and seconds for the next request."""

    first: int
    most: int
    requests: int
    longest_s: float


@dataclass(frozen=True, slots=True)
class MeasuredContext:
    """The longest request that was read whole; `is_open`: longer ones were not tried."""

    tokens: int
    is_open: bool


# For an endpoint on this computer or network, where a request costs time, and for any other.
NEAR = Bounds(first=2048, most=32_768, requests=12, longest_s=20.0)
FAR = Bounds(first=16_384, most=16_384, requests=3, longest_s=math.inf)


def filler(words: int, first: int = 0) -> str:
    """A text of this many words, from the word with number `first` on.

    A longer text begins like a shorter one, so that servers can reuse their cache.
    """
    known = _WORDS.split()
    count = len(known)
    order = (known[(n * _STEP + n // count) % count] for n in itertools.count(first))
    return " ".join(itertools.islice(order, words))


def measure(
    attempt: Callable[[int, int], Attempt], bounds: Bounds, tokens_a_word: float = 1.0
) -> MeasuredContext:
    """Send requests until the limit is known, or the bounds are reached.

    `attempt` is called with the number of words to send and the number of the first. The length
    doubles while requests are accepted; then a binary search narrows it down.
    """
    read, refused = 0, 0
    size, per_word = bounds.first, tokens_a_word
    for _ in range(bounds.requests):
        words = max(1, int(size / per_word))
        found = _confirmed(attempt, words, _LEAST_READ_SHARE * words * per_word)
        match found.outcome:
            case ProbeOutcome.UNKNOWN:
                break
            case ProbeOutcome.CUT:
                return MeasuredContext(found.counted, is_open=False)
            case ProbeOutcome.REFUSED if found.limit:
                return MeasuredContext(found.limit, is_open=False)
            case ProbeOutcome.REFUSED:
                refused = size
            case ProbeOutcome.READ:
                per_word = found.counted / words if found.counted else per_word
                read = max(size, found.counted // _GRAIN_TOKENS * _GRAIN_TOKENS)
        if _is_enough(read, refused, found.seconds, bounds):
            break
        size = (read + refused) // 2 if refused else min(2 * size, bounds.most)
    return MeasuredContext(read, is_open=bool(read) and not refused)


def _confirmed(attempt: Callable[[int, int], Attempt], words: int, least: float) -> Attempt:
    """The attempt, repeated if the server seems to have truncated it below `least` tokens."""
    found = attempt(words, 0)
    if found.outcome is ProbeOutcome.READ and 0 < found.counted < least:
        # Some servers don't count cached tokens; these words were never sent before.
        found = attempt(words, 1)
        if found.outcome is ProbeOutcome.READ and found.counted < least:
            return replace(found, outcome=ProbeOutcome.CUT)
    return found


def _is_enough(read: int, refused: int, seconds: float, bounds: Bounds) -> bool:
    if refused:
        return refused - read <= max(_GRAIN_TOKENS, read // 16)
    return read >= bounds.most or 2 * seconds > bounds.longest_s
