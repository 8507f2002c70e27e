"""A turn of rails on a thread of its own, while the answering thread makes the answer it asks for.

So an answer streams as it always does, although the rails wait for it.
"""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread

from desktop_rag.assistant_rails.passing_pieces import PassingPieces
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerRestated,
    AnswerWaits,
    FileAsked,
    Message,
    MessageState,
    TextDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr

MakeAnswer = Callable[[str], Generator[AnswerEvent, None, Message]]
# Takes the function that has a question answered, and runs the turn to its end.
RunTurn = Callable[[Callable[[str], Message]], None]

_LOOK_S = 0.1
CHECKING = tr("The answer is checked before it is shown.")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A question that the rails want answered; the answer goes into `reply`."""

    question: str
    reply: SimpleQueue[Message] = field(default_factory=SimpleQueue[Message])


@dataclass(frozen=True, slots=True)
class _Ended:
    """The turn is over; with a `fault` it was a bug of ours."""

    fault: BaseException | None = None


class CrossingTurn:
    """Carries one turn; `made` is the last answer that was made for it, `streamed` what was shown.

    With `is_held` nothing of an answer is shown before the rails have passed it; with `pieces` its
    sentences are shown as they pass, one after the other.
    """

    def __init__(
        self, make: MakeAnswer, *, is_held: bool, pieces: Callable[[], PassingPieces] | None = None
    ) -> None:
        self._make = make
        self._is_held = is_held
        self._pieces = pieces
        self._crossing: SimpleQueue[_Wanted | _Ended] = SimpleQueue()
        self._is_left = Event()
        self.made: Message | None = None
        self.streamed = ""

    def events(self, run: RunTurn) -> Generator[AnswerEvent]:
        """What happens while `run` does its turn on another thread. On the answering thread."""
        Thread(target=self._run, args=(run,), name="rail-turn", daemon=True).start()
        try:
            while isinstance(item := self._crossing.get(), _Wanted):
                self.made = yield from self._answered(item.question)
                item.reply.put(self.made)
            if item.fault:
                raise item.fault
        finally:
            self._is_left.set()

    def _run(self, run: RunTurn) -> None:
        try:
            run(self._answer)
        except BaseException as fault:  # raised on the answering thread
            self._crossing.put(_Ended(fault))
        else:
            self._crossing.put(_Ended())

    def _answer(self, question: str) -> Message:
        """The app's own answer; AppError when it failed or nobody waits for it. A rail's thread."""
        wanted = _Wanted(question)
        self._crossing.put(wanted)
        while not self._is_left.is_set():
            try:
                made = wanted.reply.get(timeout=_LOOK_S)
            except Empty:
                continue
            if made.state is MessageState.DONE:
                return made
            raise AppError(made.error_title or "The answer was stopped.", made.error_hint)
        raise AppError("The answer was stopped.")

    def _answered(self, question: str) -> Generator[AnswerEvent, None, Message]:
        if self._is_held:
            yield AnswerWaits(CHECKING)
        pieces = self._pieces() if self._pieces else None
        with closing(self._make(question)) as events:
            while True:
                try:
                    event = next(events)
                except StopIteration as end:
                    return end.value
                if not self._is_held:
                    self._note(event)
                    yield event
                elif isinstance(event, AnswerWaits | FileAsked):
                    yield event
                elif pieces:
                    for piece in pieces.add(event):
                        self._note(piece)
                        yield piece

    def _note(self, event: AnswerEvent) -> None:
        if isinstance(event, TextDelta):
            self.streamed += event.text
        elif isinstance(event, AnswerRestated):
            self.streamed = event.text
