"""An answer shown sentence by sentence while it is written, each after the rails passed it.

The answering thread.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from desktop_rag.core.conversation import AnswerEvent, AnswerRestated, SourcesFound, TextDelta
from desktop_rag.core.text import sentences

# The whole beginning is checked each time, so that nothing passes by being cut in two. A piece
# grows with what was checked before, so that a long answer costs no square of its length.
_GROWTH = 8


@dataclass(frozen=True, slots=True)
class Beginning:
    """The finished sentences of an answer so far, with the sources it was given."""

    text: str
    found: SourcesFound


# The beginning as the rails let it through: "" where it tells nothing yet, None where they don't.
Passes = Callable[[Beginning], str | None]


class PassingPieces:
    """Takes the events of an answer, and gives those that may be shown."""

    def __init__(
        self,
        passes: Passes,
        as_shown: Callable[[SourcesFound], SourcesFound] = lambda found: found,
    ) -> None:
        """`as_shown` gives the sources as they may be seen, with the first words that passed."""
        self._passes = passes
        self._as_shown = as_shown
        self._text = self._shown = ""
        self._checked_chars = 0
        self._found = SourcesFound(())
        self._is_over = False

    def add(self, event: AnswerEvent) -> Iterator[SourcesFound | TextDelta]:
        """The sentences that passed by this event. Once one didn't, nothing more is shown."""
        if isinstance(event, SourcesFound):
            self._found = event
        elif isinstance(event, AnswerRestated):
            self._text = event.text
        elif isinstance(event, TextDelta):
            self._text += event.text
            if not self._is_over:
                yield from self._news()

    def _news(self) -> Iterator[SourcesFound | TextDelta]:
        least_chars = self._checked_chars + self._checked_chars // _GROWTH
        # Splitting the whole text into sentences for each token would take quadratic time.
        if len(self._text) <= least_chars:
            return
        end = _finished_end(self._text)
        if end <= least_chars:
            return
        self._checked_chars = end
        passed = self._passes(Beginning(self._text[:end], self._found))
        if passed is None or not passed.startswith(self._shown):
            self._is_over = True
        elif added := passed[len(self._shown) :]:
            if not self._shown:
                yield self._as_shown(self._found)
            self._shown = passed
            yield TextDelta(added)


def _finished_end(text: str) -> int:
    """Where the last finished sentence ends; 0 without one.

    Not before a digit: a number with a full stop in it is no end.
    """
    spans = sentences(text)
    ends = (
        span[1]
        for span, after in zip(reversed(spans[:-1]), reversed(spans[1:]), strict=True)
        if not text[after[0]].isdigit() and text[after[0]] not in "+("
    )
    return next(ends, 0)
