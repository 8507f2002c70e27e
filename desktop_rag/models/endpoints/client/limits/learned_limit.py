"""The context length as far as refusals tell, kept apart from the measured one. Pure.

A refusal may be passing, or about something else: too many bytes, or too many tokens a minute. So a
limit is learned only where it fits what was sent and what was measured, and it is tried again.
"""

from collections.abc import Sequence

from desktop_rag.core.model_profile import LearnedLimit, ModelProfile
from desktop_rag.core.text import rough_token_counts
from desktop_rag.models.endpoints.client.endpoint_faults import EndpointFaultError, Fault
from desktop_rag.models.ports import ChatTurn

# The share of a refused request that is sent next, where the server doesn't state its limit.
_SHORTER = 0.5
SHORTEST_CONTEXT_TOKENS = 512
# A stated limit above this many times what was sent is not what the request exceeded.
_MOST_OVER = 4.0
# A request below this share of what was read whole was not refused for its length.
_SURELY_READ_SHARE = 0.5
# After these faults a shorter request may be accepted.
_SHORTEN = frozenset({Fault.TOO_LONG, Fault.TOO_LARGE, Fault.OVER_RATE})


def fitting_tokens(
    error: EndpointFaultError, turns: Sequence[ChatTurn], context_tokens: int
) -> int:
    """The context for which the next request may be short enough; 0 when none would be.

    Pictures are the cause of requests with too many bytes: text left out would not help.
    """
    if error.fault not in _SHORTEN:
        return 0
    if error.fault is Fault.TOO_LARGE and any(turn.images for turn in turns):
        return 0
    if error.limit_tokens and _is_credible(error.limit_tokens, turns):
        return min(error.limit_tokens, context_tokens)
    return max(SHORTEST_CONTEXT_TOKENS, min(int(_sent(turns) * _SHORTER), context_tokens))


def learned_limit(
    error: EndpointFaultError, turns: Sequence[ChatTurn], profile: ModelProfile, now: float
) -> LearnedLimit | None:
    """The limit to remember after a refusal, `now` as Unix time; None when it tells of none."""
    if error.fault is not Fault.TOO_LONG:
        return None
    if error.limit_tokens and _is_credible(error.limit_tokens, turns):
        return LearnedLimit(error.limit_tokens, now, is_stated=True)
    if _sent(turns) < _SURELY_READ_SHARE * profile.context_tokens:
        return None
    guess = max(SHORTEST_CONTEXT_TOKENS, int(_sent(turns) * _SHORTER))
    return LearnedLimit(guess, now, is_stated=False)


def is_disproved(limit: LearnedLimit | None, turns: Sequence[ChatTurn]) -> bool:
    """True when a request with these turns, which was answered, is longer than the limit."""
    return limit is not None and _sent(turns) > limit.tokens


def _sent(turns: Sequence[ChatTurn]) -> int:
    return sum(rough_token_counts([turn.text for turn in turns]))


def _is_credible(limit: int, turns: Sequence[ChatTurn]) -> bool:
    return limit <= max(_MOST_OVER * _sent(turns), SHORTEST_CONTEXT_TOKENS)
