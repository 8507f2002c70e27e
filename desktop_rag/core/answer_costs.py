"""What a number of answers may take and cost, estimated before they are written. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.settings import ASSUMED_CONTEXT_TOKENS, EndpointSettings, Settings

# What surrounds the sources in a prompt, and a usual answer, where nothing was measured yet.
_PROMPT_TOKENS = 700
_ANSWER_TOKENS = 300
_PRICED_TOKENS = 1_000_000


class MeasuredAnswer(Protocol):
    """An earlier answer; its tokens are negative where they were not counted."""

    @property
    def model(self) -> str:
        """The model that answered."""
        ...

    @property
    def tokens_in(self) -> int:
        """The tokens that were sent."""
        ...

    @property
    def tokens_out(self) -> int:
        """The tokens that came back."""
        ...

    @property
    def seconds(self) -> float:
        """How long it took."""
        ...

    @property
    def has_failed(self) -> bool:
        """True without an answer."""
        ...


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """Estimated tokens, time and cost. `seconds` is None where nothing was measured, `cost` where
    no price is set.

    The cost is in the currency of the prices. Without tokens no model is asked. `asks_above` is the
    limit that the cost of its endpoint exceeds, 0 if none is exceeded. `guessed` answers have no
    measured tokens to go by, of any model.
    """

    answers: int
    tokens_in: int
    tokens_out: int
    seconds: float | None
    cost: float | None
    asks_above: float = 0.0
    guessed: int = 0

    @property
    def needs_consent(self) -> bool:
        """True when the cost exceeds a limit that the person set."""
        return bool(self.asks_above)

    def in_words(self) -> str:
        """`20 answers, about 62,000 tokens, about 3 minutes, no price is set.`"""
        said = [count_of(self.answers, tr("answer"), tr("answers"))]
        if not self.tokens_in:
            said.append(tr("nothing is sent anywhere"))
            return ", ".join(said) + "."
        said.append(tr("about {count:,} tokens", count=_rounded(self.tokens_in + self.tokens_out)))
        said.append(self._basis())
        if self.seconds is not None:
            minutes = max(1, round(self.seconds / 60))
            said.append(tr("about {time}", time=count_of(minutes, tr("minute"), tr("minutes"))))
        if self.cost is None:
            said.append(tr("no price is set for the endpoint"))
        else:
            said.append(tr("about {cost:,.4g} in the currency of your prices", cost=self.cost))
        if self.needs_consent:
            said.append(tr("more than the {sum:,.4g} that you set", sum=self.asks_above))
        return ", ".join(said) + "."

    def _basis(self) -> str:
        """What the token count is based on."""
        if not self.guessed:
            return tr("by what earlier answers took")
        if self.guessed >= self.answers:
            return tr("a guess before the first answers are counted")
        return tr("in part by what earlier answers took")


class CostlyError(AppError):
    """A run may cost more than the person's limit, and they were not asked."""

    def __init__(self, found: RunEstimate) -> None:
        super().__init__(
            tr("This may cost more than you set for its endpoint: {said}", said=found.in_words()),
            tr(
                "Run it yourself (in a terminal with --yes), or raise the sum in the settings of"
                " the endpoint."
            ),
        )


def estimate(
    questions: int, settings: Sequence[Settings], known: Sequence[MeasuredAnswer]
) -> RunEstimate:
    """The estimate for asking all questions under each of these settings.

    Earlier answers of the same model are the best guide, then those of others: most of a prompt is
    the same.
    """
    tokens_in = tokens_out = guessed = 0
    seconds: float | None = 0.0
    cost: float | None = 0.0
    by_endpoint: dict[EndpointSettings, float] = {}
    for each in settings:
        endpoint = each.endpoint
        if not endpoint.is_set:
            continue
        like = [a for a in known if a.model == endpoint.model and not a.has_failed]
        measured = [a for a in known if a.tokens_in >= 0 and not a.has_failed]
        counted = [a for a in like if a.tokens_in >= 0] or measured
        context = endpoint.context_tokens or ASSUMED_CONTEXT_TOKENS
        asked = each.retrieval.room.tokens(context, 0.0) + _PROMPT_TOKENS
        answered = _ANSWER_TOKENS
        if counted:
            asked = sum(a.tokens_in for a in counted) // len(counted)
            answered = sum(a.tokens_out for a in counted) // len(counted)
        guessed += 0 if counted else questions
        tokens_in += questions * asked
        tokens_out += questions * answered
        mean_s = sum(a.seconds for a in like) / len(like) if like else None
        seconds = None if seconds is None or mean_s is None else seconds + questions * mean_s
        price = asked * endpoint.price_in + answered * endpoint.price_out
        own = questions * price / _PRICED_TOKENS
        cost = None if cost is None or not price else cost + own
        limited = EndpointSettings(endpoint.base_url, ask_above=endpoint.ask_above)
        by_endpoint[limited] = by_endpoint.get(limited, 0.0) + own
    above = [e.ask_above for e, spent in by_endpoint.items() if 0 < e.ask_above < spent]
    return RunEstimate(
        questions * len(settings), tokens_in, tokens_out, seconds, cost, min(above, default=0.0),
        guessed,
    )  # fmt: skip


def _rounded(count: int) -> int:
    """Two significant digits: a forecast is no better."""
    step = 10 ** max(0, len(str(count)) - 2)
    return round(count / step) * step
