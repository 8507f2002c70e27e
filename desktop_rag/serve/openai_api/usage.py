"""The tokens of a request, as clients expect them. Pure.

An estimate: what the endpoint counts covers the app's own prompt and sources, and several requests
at times. It covers what the caller sent and got.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.text import rough_token_counts


@dataclass(frozen=True, slots=True)
class EstimatedUsage:
    """Estimated tokens of the messages that came and of the text that went."""

    given: int
    answered: int

    @classmethod
    def of(cls, given: Sequence[str], answer: str) -> "EstimatedUsage":
        """The usage of these texts."""
        return cls(sum(rough_token_counts(given)), sum(rough_token_counts([answer])))

    def of_chat(self) -> dict[str, int]:
        """As chat completions have it."""
        return {
            "prompt_tokens": self.given,
            "completion_tokens": self.answered,
            "total_tokens": self.given + self.answered,
        }

    def of_response(self) -> dict[str, object]:
        """As the Responses API has it."""
        return {
            "input_tokens": self.given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": self.answered,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self.given + self.answered,
        }
