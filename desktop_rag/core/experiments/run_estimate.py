"""What runs may take, before they begin. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.experiments.run import RunAnswer
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.settings import Settings

# What surrounds the sources in a prompt, and a usual answer, where nothing was measured yet.
_PROMPT_TOKENS = 700
_ANSWER_TOKENS = 300
_PRICED_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """Tokens of all answers; seconds is None where none was measured, cost where no price is set.

    The cost is in the currency of the prices that the person entered. Without tokens no model is
    asked.
    """

    answers: int
    tokens_in: int
    tokens_out: int
    seconds: float | None
    cost: float | None

    def in_words(self) -> str:
        """`20 answers, about 62,000 tokens, about 3 minutes, no price is set.`"""
        said = [count_of(self.answers, tr("answer"), tr("answers"))]
        if not self.tokens_in:
            said.append(tr("nothing is sent anywhere"))
            return ", ".join(said) + "."
        said.append(tr("about {count:,} tokens", count=self.tokens_in + self.tokens_out))
        if self.seconds is not None:
            minutes = max(1, round(self.seconds / 60))
            said.append(tr("about {time}", time=count_of(minutes, tr("minute"), tr("minutes"))))
        if self.cost is None:
            said.append(tr("no price is set for the endpoint"))
        else:
            said.append(tr("about {cost:,.4g} in the currency of your prices", cost=self.cost))
        return ", ".join(said) + "."


def estimate(
    questions: int, settings: Sequence[Settings], known: Sequence[RunAnswer]
) -> RunEstimate:
    """For each of the settings that answer, by earlier answers of the same model where known."""
    tokens_in = tokens_out = 0
    seconds: float | None = 0.0
    cost: float | None = 0.0
    for each in settings:
        endpoint = each.endpoint
        if not endpoint.is_set:
            continue
        like = [a for a in known if a.model == endpoint.model and not a.has_failed]
        counted = [a for a in like if a.tokens_in >= 0]
        asked = each.retrieval.source_tokens + _PROMPT_TOKENS
        answered = _ANSWER_TOKENS
        if counted:
            asked = sum(a.tokens_in for a in counted) // len(counted)
            answered = sum(a.tokens_out for a in counted) // len(counted)
        tokens_in += questions * asked
        tokens_out += questions * answered
        mean_s = sum(a.seconds for a in like) / len(like) if like else None
        seconds = None if seconds is None or mean_s is None else seconds + questions * mean_s
        price = asked * endpoint.price_in + answered * endpoint.price_out
        cost = None if cost is None or not price else cost + questions * price / _PRICED_TOKENS
    return RunEstimate(questions * len(settings), tokens_in, tokens_out, seconds, cost)
