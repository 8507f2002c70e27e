"""The rails of assistants for the whole app, imported when the first of them are used.

Any thread.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from desktop_rag.answer.conversations.answer_rails import RailedQuestion, TriedSentence
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerRestated,
    AnswerWaits,
    FileAsked,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.text import sentences
from desktop_rag.features.rails.actions.built_in_actions import mask_personal_data
from desktop_rag.features.rails.actions.rails_world import RailsWorld
from desktop_rag.features.rails.commands.command_proposals import Answered
from desktop_rag.features.rails.commands.commands import Commands
from desktop_rag.features.rails.configuration.rails_configuration import RailsConfiguration
from desktop_rag.features.rails.rail_engine import Rails, transcript
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    CommandProposed,
    Confirmation,
    ContextUpdate,
    RailEvent,
    StartAction,
)
from desktop_rag.features.rails.runtime.rail_loop import Conversation
from desktop_rag.features.rails.runtime.run_files import shown_run
from desktop_rag.models.ports import Vectors

if TYPE_CHECKING:
    from desktop_rag.features.rails.assistants.own_rails import OwnRails
    from desktop_rag.features.rails.assistants.railed_answers import RailedAnswers

# The message that a turn of rails ends in. Pure; any thread.

WITHOUT_MODEL = "Answered by the rails of this assistant, without a model."
BY_RAILS = "Answered by the rails of this assistant."
WITHHELD = "The rails of this assistant withheld an answer."
_SILENT = "The rails of this assistant ended this without an answer."
# Variables and actions whose values are texts of answers, passages or documents.
_TEXTS = frozenset({"bot_message", "last_bot_message", "relevant_chunks", "relevant_passages"})
_GIVING_TEXT = frozenset(
    {"hide_personal_data", "remove_last_message", "retrieve_relevant_chunks", "search"}
)
_MASKING = "mask personal data on output"


def made_message(made: Message, shown: str, *, is_held: bool) -> Message:
    """An answer that was stopped or failed: what nobody checked of it is not shown."""
    if not is_held:
        return made
    return replace(made, text=shown, thinking="", sources=(), nearest=())


def railed_message(
    configuration: RailsConfiguration,
    events: Sequence[RailEvent],
    blank: Message,
    made: Message | None,
    *,
    is_model_asked: bool,
    asked: str = "",
) -> Message:
    """The message of a turn: `blank` with what the rails said, or `made` as they let it through.

    `asked` is what the person is asked when a command was proposed.
    """
    is_masked = _MASKING in configuration.output_rails
    said = [text for who, text in transcript(events) if who == "bot"]
    said += [*_refusals(events), asked]
    text = "\n\n".join(filter(None, said))
    if not text and blank.state is MessageState.DONE:
        text = _SILENT
    lines = tuple(_lines(events, is_masked=is_masked))
    if made is not None and _is_in(made.text, text):
        notes = replace(made.notes or SearchNotes(), rails=lines)
        shown = replace(made, text=text, notes=notes)
        if configuration.output_rails:
            shown = replace(shown, thinking="")
        return _masked(shown) if is_masked else shown
    hint = WITHHELD if made else BY_RAILS if is_model_asked else WITHOUT_MODEL
    notes = SearchNotes(hints=(hint,), rails=lines, proposal=proposal_of(events))
    return replace(blank, text=text, notes=notes)


def proposal_of(events: Sequence[RailEvent]) -> str:
    """The id of the command that a turn put before the person; "" for none."""
    ids = (event.command_id for event in events if isinstance(event, CommandProposed))
    return next(ids, "")


def _refusals(events: Sequence[RailEvent]) -> Iterator[str]:
    """Why what was asked for was not proposed."""
    for event in events:
        if isinstance(event, ActionFinished) and event.status is ActionStatus.REFUSED:
            yield str(event.result)


def _is_in(answer: str, text: str) -> bool:
    """Whether the answer was shown, covered in part or as it was made."""
    return answer in text or mask_personal_data(answer) in text


def _lines(events: Sequence[RailEvent], *, is_masked: bool) -> Iterator[str]:
    for line in shown_run(map(_told, events)):
        yield mask_personal_data(line) if is_masked else line


def _told(event: RailEvent) -> RailEvent:
    """The event without the texts of answers and passages: an answer may have been withheld."""
    if isinstance(event, ContextUpdate):
        return ContextUpdate({k: "…" if k in _TEXTS else v for k, v in event.data.items()})
    if isinstance(event, StartAction):
        return StartAction(event.action_name, dict.fromkeys(event.parameters, "…"))
    if isinstance(event, ActionFinished) and event.action_name in _GIVING_TEXT:
        return replace(event, result="…")
    return event


def found_as_shown(configuration: RailsConfiguration, found: SourcesFound) -> SourcesFound:
    """The sources as they may be shown with a beginning that passed."""
    if _MASKING not in configuration.output_rails:
        return found
    return replace(found, sources=tuple(map(_masked_source, found.sources)))


def _masked(message: Message) -> Message:
    """The message with personal data covered in its passages too: they are shown with it."""
    return replace(
        message,
        sources=tuple(map(_masked_source, message.sources)),
        nearest=tuple(map(_masked_source, message.nearest)),
    )


def _masked_source(source: SourceRef) -> SourceRef:
    text, quote = mask_personal_data(source.text), mask_personal_data(source.quote)
    return replace(source, text=text, quote=quote)


# An answer shown sentence by sentence while it is written, each after the rails passed it.
#
# The answering thread.

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


# A turn of rails on a thread of its own, while the answering thread makes the answer it asks for.
#
# So an answer streams as it always does, although the rails wait for it.

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


# The commands of the app as rails see them: proposed in a chat, gone on with after the word.
#
# Threads of the rails, and the one that decides.


@dataclass(frozen=True, slots=True)
class ConsentedChanges:
    """Fills the protocol `Changes` for one question."""

    commands: Commands
    asked: RailedQuestion

    def is_asked_for(self, words: str) -> bool:
        """Whether a sentence asks for a command word for word."""
        return self.commands.proposals.is_asked_for(words)

    def propose(self, action: str, values: Mapping[str, Any], words: str) -> str:
        """Put a command before the person; its id. AppError where nobody could agree."""
        asked = self.asked
        if not asked.may_change:
            raise AppError(
                "Nothing is changed from here, since nobody could agree to it.",
                "Ask in the window of the app.",
            )
        last = _last_answer(asked.history)
        proposal = self.commands.proposals.of(action, values, words, last)
        return self.commands.propose(
            proposal, asked.question, asked.conversation_id, asked.assistant_id
        ).command_id

    def carry_out(self, command_id: str) -> str:
        """Do what the person agreed to; what came of it, in words."""
        return self.commands.carry_out(command_id)

    def go_on_later(
        self, rails: Rails, world: RailsWorld, conversation: Conversation, command_id: str
    ) -> str:
        """Let the flows go on after the person's word; what to ask the person."""

        def go_on(is_agreed: bool) -> str:
            # Nobody waits for an answer from the documents any more.
            engine = rails.in_world(replace(world, answer=None, ask_every_file=None))
            turn = engine.react(conversation, Confirmation(command_id, is_agreed))
            return "\n\n".join(text for who, text in transcript(turn) if who == "bot")

        self.commands.go_on_with(command_id, go_on)
        command = self.commands.get(command_id)
        title = command.title if command else ""
        return tr("{title}? Nothing is done before you agree.", title=title)


def _last_answer(history: Sequence[Message]) -> Answered | None:
    """The last complete answer of the chat with its question."""
    for before, after in reversed(list(pairwise(history))):
        is_answer = before.role is Role.USER and after.role is Role.ASSISTANT
        is_proposal = bool(after.notes and after.notes.proposal)
        if is_answer and after.state is MessageState.DONE and after.text and not is_proposal:
            cited = [source for source in after.sources if source.is_cited]
            lines = [f"[{s.n}] {s.title} ({s.url or s.path})" for s in cited]
            return Answered(before.text, after.text, lines)
    return None


Embed = Callable[[Sequence[str]], Vectors]


class AssistantRails:
    """Fills the port `AnswerRails`."""

    def __init__(
        self, embed: Embed, embed_examples: Embed, root: Path, commands: Commands | None = None
    ) -> None:
        """`embed` is the bundled model: the recognition of intents is calibrated for it.

        `embed_examples` does the same for the examples of rails, whose vectors are kept. `root` is
        the folder of the rails that the person writes here. Without `commands` nothing is ever
        proposed.
        """
        self._root = root
        self._own: OwnRails | None = None
        self._embed = embed
        self._embed_examples = embed_examples
        self._commands = commands
        self._answers: RailedAnswers | None = None
        self._lock = Lock()

    def check(self, rails: str) -> None:
        """AppError, with the place, for rails that can't be used; "" are none, and fine."""
        if rails:
            self._opened().check(rails)

    def try_sentence(self, rails: str, text: str) -> TriedSentence:
        """What would be done with a sentence; no document is searched and no model is asked."""
        return self._opened().try_sentence(rails, text)

    def run(self, asked: RailedQuestion, cancel: Event) -> Generator[AnswerEvent, None, Message]:
        """The message that answers; yields the events on the way. AppError for broken rails."""
        return (yield from self._opened().run(asked, cancel))

    def folders(self) -> Sequence[Path]:
        """The folders of rails that were written in the window."""
        return self.own.folders(()) if self._root.is_dir() else ()

    def topic_names(self, rails: str) -> tuple[str, ...]:
        """The topics of one's own rails that a sentence can be taught to."""
        return self.own.topic_names(rails) if rails else ()

    def teach(self, rails: str, name: str, sentence: str) -> Callable[[], None]:
        """Add a sentence to the examples of a topic; what undoes it. AppError when it can't be."""
        return self.own.teach(rails, name, sentence)

    @property
    def own(self) -> "OwnRails":
        """The folders that the person writes."""
        with self._lock:
            if self._own is None:
                from desktop_rag.features.rails.actions.rails_world import RailsWorld
                from desktop_rag.features.rails.assistants.own_rails import OwnRails

                world = RailsWorld(embed=self._embed, embed_examples=self._embed_examples)
                self._own = OwnRails(self._root, world)
            return self._own

    def lapse(self, conversation_id: str) -> None:
        """The person asks something else: what was proposed in this chat is not done any more."""
        if self._commands is not None:
            self._commands.lapse(conversation_id)

    def done_before(self, assistant_id: str) -> str:
        """What succeeded with this assistant lately, a line each; "" for nothing."""
        return self._commands.done_before(assistant_id) if self._commands else ""

    def _opened(self) -> "RailedAnswers":
        with self._lock:
            if self._answers is None:
                # Its language and its loop cost the start of the app a tenth of a second.
                from desktop_rag.features.rails.assistants.railed_answers import RailedAnswers

                self._answers = RailedAnswers(self._embed, self._embed_examples, self._commands)
            return self._answers
