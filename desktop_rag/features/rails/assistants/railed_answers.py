"""Answers of assistants with rails: those that the rails make, and those that they let through.

The answering thread; the turn of the rails and its actions run on threads of their own.
"""

import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from desktop_rag.answer.answer_service import AnswerService, FinishedAnswer
from desktop_rag.answer.checking.answer_claims import CheckClaim, claims_of
from desktop_rag.answer.citing.citations import finish_answer
from desktop_rag.answer.sources.source_merging import not_by_app, numbered
from desktop_rag.answer.writing.answers import AnswerDraft, AnswerRequest
from desktop_rag.core.claims import Verdict
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
    StepTaken,
    TextDelta,
)
from desktop_rag.core.domain import Passage as FoundPassage
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.query import parse_query
from desktop_rag.core.text import sentences
from desktop_rag.features.rails.actions.built_in_actions import mask_personal_data
from desktop_rag.features.rails.actions.rails_world import (
    Changes,
    DocumentAnswer,
    Passage,
    RailsWorld,
)
from desktop_rag.features.rails.assistants.own_rails import RailSets, TriedSentence, tried
from desktop_rag.features.rails.assistants.rail_names import is_built_in
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
from desktop_rag.features.rails.runtime.rail_loop import Conversation, RailTurn
from desktop_rag.features.rails.runtime.run_files import shown_run
from desktop_rag.models.ports import ChatModel, ChatTurn, HeardAnswer, Vectors

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


def railed_message(
    configuration: RailsConfiguration,
    events: Sequence[RailEvent],
    blank: Message,
    made: Message | None,
    *,
    is_model_asked: bool,
    asked: str = "",
    retrieved: Sequence[SourceRef] = (),
) -> Message:
    """The message of a turn: `blank` with the rails' words, or `made` as they let it through.

    `asked` is the question to the person about a proposed command, `retrieved` what a model wrote
    the rails' words from: they get the sources that they cite.
    """
    is_masked = _MASKING in configuration.output_rails
    said = [text for who, text in transcript(events) if who == "bot"]
    said += [
        str(event.result)
        for event in events
        if isinstance(event, ActionFinished) and event.status is ActionStatus.REFUSED
    ]
    text = "\n\n".join(filter(None, (*said, asked)))
    if not text and blank.state is MessageState.DONE:
        text = _SILENT
    run = shown_run(map(_told, events))
    lines = tuple(map(mask_personal_data, run) if is_masked else run)
    if made is not None and (made.text in text or mask_personal_data(made.text) in text):
        notes = replace(made.notes or SearchNotes(), rails=lines)
        shown = replace(made, text=text, notes=notes)
        if configuration.output_rails:
            shown = replace(shown, thinking="")
        return _masked(shown) if is_masked else shown
    hint = WITHHELD if made else BY_RAILS if is_model_asked else WITHOUT_MODEL
    notes = SearchNotes(hints=(hint,), rails=lines, proposal=proposal_of(events))
    written = replace(blank, text=text, notes=notes)
    if made or not retrieved:
        return written
    cited, sources = finish_answer(text, retrieved)
    # A refusal in place of what was written cites nothing.
    if not any(source.is_cited for source in sources):
        return written
    written = replace(written, text=cited, sources=sources)
    return _masked(written) if is_masked else written


def proposal_of(events: Sequence[RailEvent]) -> str:
    """The id of the command that a turn proposed; "" for none."""
    ids = (event.command_id for event in events if isinstance(event, CommandProposed))
    return next(ids, "")


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
    """The sources as they may be shown, with personal data covered if the rails do so."""
    if _MASKING not in configuration.output_rails:
        return found
    return replace(found, sources=tuple(map(_masked_source, found.sources)))


def _masked(message: Message) -> Message:
    """The message with personal data covered in its passages."""
    return replace(
        message,
        sources=tuple(map(_masked_source, message.sources)),
        nearest=tuple(map(_masked_source, message.nearest)),
    )


def _masked_source(source: SourceRef) -> SourceRef:
    text, quote = mask_personal_data(source.text), mask_personal_data(source.quote)
    return replace(source, text=text, quote=quote)


# The whole beginning is checked each time, so that nothing passes by being cut in two. A piece
# grows with what was checked before, so that a long answer costs no square of its length.
_GROWTH = 8


# The finished sentences of an answer so far, with the sources it was given, as the rails let them
# through: "" where they tell nothing yet, None where they don't.
Passes = Callable[[str, SourcesFound], str | None]


class CheckedSentences:
    """Shows a growing answer sentence by sentence, each after the rails passed it."""

    def __init__(
        self, passes: Passes, as_shown: Callable[[SourcesFound], SourcesFound] = lambda found: found
    ) -> None:
        """`as_shown` changes the sources into what may be shown of them."""
        self._passes = passes
        self._as_shown = as_shown
        self._text = self._shown = ""
        self._checked_chars = 0
        self._found = SourcesFound(())
        self._is_over = False

    def add(self, event: AnswerEvent) -> Iterator[SourcesFound | TextDelta]:
        """What this event adds to the sentences that passed; nothing once one didn't."""
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
        passed = self._passes(self._text[:end], self._found)
        if passed is None or not passed.startswith(self._shown):
            self._is_over = True
        elif added := passed[len(self._shown) :]:
            if not self._shown:
                yield self._as_shown(self._found)
            self._shown = passed
            yield TextDelta(added)


def _finished_end(text: str) -> int:
    """Where the last finished sentence ends, 0 without one; never before a digit, as in “No. 5”."""
    spans = sentences(text)
    ends = (
        span[1]
        for span, after in zip(reversed(spans[:-1]), reversed(spans[1:]), strict=True)
        if not text[after[0]].isdigit() and text[after[0]] not in "+("
    )
    return next(ends, 0)


# The most that an unsupported statement is worth, however many words it shares.
_DOUBTFUL = 0.4
_MOST_FOUND = 5
_DONE_BEFORE = "Done for this person before, because they asked for it and agreed:"


class RailedQuestion:
    """A question to an assistant with rails, and what the service offers them to answer it.

    `answer` runs on the answering thread, the others on any worker thread. `has_several_steps` is
    that of the last answer made. `done_before` lists what the assistant did for the person.
    """

    def __init__(self, request: AnswerRequest, service: AnswerService, done_before: str) -> None:
        assistant = request.setup.assistant
        assert assistant, "only assistants have rails"
        self.request = request
        self.rails = assistant.rails
        self.assistant_id = assistant.assistant_id
        self.conversation_id = request.conversation_id
        self.has_several_steps = False
        self.retrieved: Sequence[FoundPassage] = ()
        self.do_before_next = partial(service.do_before_next, request.conversation_id)
        self._service = service
        self._done_before = done_before
        self._check = checked_once(service.check)
        self._model = service.models.main(request.setup)

    def answer(self, question: str) -> Generator[AnswerEvent, None, Message]:
        """The app's own answer to the question, which the rails may have changed."""
        request = self.request
        if question != request.question:
            request = replace(request, question=question, query=parse_query(question))
        request = _knowing(request, self._done_before)
        finished = yield from self._service.own_answer(request)
        self.has_several_steps = finished.has_several_steps
        return finished.message

    def retrieve(self, query: str) -> list[Passage]:
        """The passages from which a flow has its model write, which become sources."""
        self.retrieved = self._found(query)
        return [Passage(passage.text, passage.title) for passage in self.retrieved]

    def search(self, query: str) -> list[Passage]:
        """Passages that the assistant may read."""
        return [Passage(passage.text, passage.title) for passage in self._found(query)]

    def _found(self, query: str) -> Sequence[FoundPassage]:
        setup = self.request.setup
        found = self._service.finder.look_up(
            parse_query(query), setup.settings.retrieval, limit=_MOST_FOUND, reach=setup.reach
        )
        return not_by_app(found.passages)

    def support(self, text: str, sources: Sequence[SourceRef]) -> float | None:
        """How likely the sources support an answer; None where it has nothing to check."""
        return least_support(text, sources, self._check, self.request.cancel)

    @property
    def complete(self) -> Callable[[str], str] | None:
        """Asks the assistant's model; None without one."""
        model = self._model
        return (lambda prompt: said_by(model, prompt, self.request.cancel)) if model else None


def said_by(model: ChatModel, prompt: str, cancel: Event) -> str:
    """The whole answer of a model to a prompt."""
    heard = HeardAnswer()
    for delta in model.stream([ChatTurn("user", prompt)], cancel):
        heard.add(delta)
    return heard.text


def checked_once(check: CheckClaim) -> CheckClaim:
    """The check with a cache, for one answer: in pieces, an answer repeats its claims."""
    known = cache(check)
    return lambda claim, sources, given="": known(claim, tuple(sources), given)


def least_support(
    text: str, sources: Sequence[SourceRef], check: CheckClaim, cancel: Event
) -> float | None:
    """The support of an answer's weakest statement; None if none can be checked."""
    claims = claims_of(text, sources, check, cancel)
    supports = [
        checked.support if checked.is_likely else min(checked.support, _DOUBTFUL)
        for checked in (claim.checked for claim in claims)
        if checked.verdict is not Verdict.NOT_CHECKED
    ]
    return min(supports, default=None)


def _knowing(request: AnswerRequest, done_before: str) -> AnswerRequest:
    """The request with what was done for the person before among the instructions."""
    assistant = request.setup.assistant
    if assistant is None or not done_before:
        return request
    told = f"{_DONE_BEFORE}\n{done_before}"
    instructions = "\n\n".join(filter(None, (assistant.instructions, told)))
    setup = replace(request.setup, assistant=replace(assistant, instructions=instructions))
    return replace(request, setup=setup)


def as_sources(passages: Sequence[Passage]) -> tuple[SourceRef, ...]:
    """Passages of the rails as sources to check an answer by."""
    return tuple(
        SourceRef(n, "", "", passage.source, Anchor(), passage.text, 0.0)
        for n, passage in enumerate(passages, 1)
    )


MakeAnswer = Callable[[str], Generator[AnswerEvent, None, Message]]
# Runs a turn to its end with the function that answers questions.
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
    """The turn is over; a `fault` is a bug of ours."""

    fault: BaseException | None = None


class ThreadedTurn:
    """Runs a turn on its own thread while the answering thread streams the answers it asks for.

    `made` is the last answer made, `streamed` what was shown. With `is_held` nothing is shown
    before the rails passed it; with `pieces`, sentences are shown one by one as they pass.
    """

    def __init__(
        self,
        make: MakeAnswer,
        *,
        is_held: bool,
        pieces: Callable[[], CheckedSentences] | None = None,
    ) -> None:
        self._make = make
        self._is_held = is_held
        self._pieces = pieces
        self._wanted: SimpleQueue[_Wanted | _Ended] = SimpleQueue()
        self._is_left = Event()
        self.made: Message | None = None
        self.streamed = ""

    def events(self, run: RunTurn) -> Generator[AnswerEvent]:
        """The events while `run` does its turn on another thread. The answering thread."""
        Thread(target=self._run, args=(run,), name="rail-turn", daemon=True).start()
        try:
            while isinstance(item := self._wanted.get(), _Wanted):
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
            self._wanted.put(_Ended(fault))
        else:
            self._wanted.put(_Ended())

    def _answer(self, question: str) -> Message:
        """The app's own answer; AppError if it failed or nobody waits for it. A rail's thread."""
        wanted = _Wanted(question)
        self._wanted.put(wanted)
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
                elif isinstance(event, AnswerWaits | FileAsked | StepTaken):
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


def consented_changes(commands: Commands, asked: RailedQuestion) -> Changes:
    """The commands that a question may propose."""

    def propose(action: str, values: Mapping[str, Any], words: str) -> str:
        if not asked.request.may_change:
            raise AppError(
                "Nothing is changed from here, since nobody could agree to it.",
                "Ask in the window of the app.",
            )
        proposal = commands.proposals.of(action, values, words, _last_answer(asked.request.history))
        chat = asked.conversation_id
        command = commands.propose(proposal, asked.request.question, chat, asked.assistant_id)
        # Whoever asks something else doesn't want it any more.
        asked.do_before_next(partial(commands.lapse, chat))
        return command.command_id

    return Changes(commands.proposals.is_asked_for, propose, commands.carry_out)


def go_on_later(
    commands: Commands, rails: Rails, world: RailsWorld, conversation: Conversation, command_id: str
) -> str:
    """Let the flows go on after the person's word; returns the question to the person."""

    def go_on(is_agreed: bool) -> str:
        # Nobody waits for an answer from the documents any more.
        engine = rails.in_world(replace(world, answer=None, ask_every_file=None))
        turn = engine.react(conversation, Confirmation(command_id, is_agreed))
        return "\n\n".join(text for who, text in transcript(turn) if who == "bot")

    commands.go_on_with(command_id, go_on)
    command = commands.get(command_id)
    title = command.title if command else ""
    return tr("{title}? Nothing is done before you agree.", title=title)


def _last_answer(history: Sequence[Message]) -> Answered | None:
    """The chat's last complete answer, with its question."""
    for before, after in reversed(list(pairwise(history))):
        is_answer = before.role is Role.USER and after.role is Role.ASSISTANT
        is_proposal = bool(after.notes and after.notes.proposal)
        if is_answer and after.state is MessageState.DONE and after.text and not is_proposal:
            cited = [source for source in after.sources if source.is_cited]
            lines = [f"[{s.n}] {s.title} ({s.url or s.path})" for s in cited]
            return Answered(before.text, after.text, lines)
    return None


# Earlier turns that are replayed through the flows of a folder.
_MOST_TURNS = 12


class RailedAnswers:
    """Runs the rails of assistants. Holds no conversation."""

    def __init__(
        self,
        embed: Callable[[Sequence[str]], Vectors],
        embed_examples: Callable[[Sequence[str]], Vectors],
        commands: Commands | None = None,
    ) -> None:
        """`embed` is the bundled model, for which the recognition of intents is calibrated.

        `embed_examples` is the same with a cache. Without `commands` nothing is ever proposed.
        """
        self._sets = RailSets(RailsWorld(embed=embed, embed_examples=embed_examples))
        self._embed = embed
        self._commands = commands

    def check(self, rails: str) -> None:
        """AppError, with the place, for rails that can't be used."""
        self._sets.rails(rails)

    def try_sentence(self, rails: str, text: str) -> TriedSentence:
        """What would be done with a sentence; searches no document and asks no model."""
        return tried(self._sets.rails(rails), RailsWorld(embed=self._embed), text)

    def answer(
        self, request: AnswerRequest, service: AnswerService
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        """The answer that the rails make or let through; failures end in the message."""
        draft = AnswerDraft(request.conversation_id, began_at=time.monotonic())
        has_several_steps = False
        try:
            asked = RailedQuestion(request, service, self._done_before(request.setup.assistant_id))
            done = yield from self._run(asked)
            has_several_steps = asked.has_several_steps
        except AppError as error:
            done = draft.message(MessageState.FAILED, error.title, error.hint)
        done = replace(done, seconds=time.monotonic() - draft.began_at)
        return FinishedAnswer(done, has_several_steps)

    def _done_before(self, assistant_id: str) -> str:
        return self._commands.done_before(assistant_id) if self._commands else ""

    def _run(self, asked: RailedQuestion) -> Generator[AnswerEvent, None, Message]:
        """The message that answers; yields the events on the way. AppError for broken rails."""
        cancel = asked.request.cancel
        opened = self._sets.rails(asked.rails)
        begun = self._so_far(opened, asked)
        is_held = bool(opened.configuration.output_rails)
        turns: list[RailTurn] = []
        pieces = self._pieces(opened, asked, turns)
        threaded = ThreadedTurn(asked.answer, is_held=is_held, pieces=pieces)
        commands = self._commands
        changes = consented_changes(commands, asked) if commands else None
        events: list[RailEvent] = []
        calls, to_ask = 0, ""

        def turn(answer: Callable[[str], Message]) -> None:
            nonlocal calls, to_ask
            world = replace(self._world(asked, answer, threaded), changes=changes)
            under_way = opened.in_world(world).say(begun, asked.request.question, cancel)
            turns.append(under_way)
            events.extend(under_way)
            calls = len(under_way.model_calls)
            if commands and (command_id := proposal_of(events)):
                so_far = under_way.conversation
                to_ask = go_on_later(commands, opened, world, so_far, command_id)

        yield from threaded.events(turn)
        blank = Message(uuid.uuid4().hex, asked.conversation_id, Role.ASSISTANT, "", time.time())
        if cancel.is_set():
            blank = replace(blank, state=MessageState.STOPPED)
        made = threaded.made
        if made is not None and made.state is not MessageState.DONE:
            # Without what was not checked.
            held = {"text": threaded.streamed, "thinking": "", "sources": (), "nearest": ()}
            return replace(made, **held) if is_held else made
        done = railed_message(
            opened.configuration, events, blank, made, is_model_asked=calls > 0, asked=to_ask,
            retrieved=numbered(asked.retrieved),
        )  # fmt: skip
        yield from _shown(done, threaded.streamed)
        return done

    def _pieces(
        self, opened: Rails, asked: RailedQuestion, turns: Sequence[RailTurn]
    ) -> Callable[[], CheckedSentences] | None:
        """Checks growing answers with the rails for output; None if these want whole answers.

        The check runs on the answering thread, while the last of `turns` waits for the answer.
        """
        if not opened.configuration.shows_pieces:
            return None

        def passes(beginning: str, found: SourcesFound) -> str | None:
            has_nothing_to_check = False

            def support(text: str, _: Sequence[Passage]) -> float:
                nonlocal has_nothing_to_check
                support = asked.support(text, found.sources)
                has_nothing_to_check = support is None
                return support or 0.0

            world = RailsWorld(
                check_facts=support, complete=None if is_built_in(asked.rails) else asked.complete
            )
            rows = [{"text": source.text, "source": source.title} for source in found.sources]
            known = {"relevant_passages": rows, "is_own_knowledge": found.is_own_knowledge}
            context = {**turns[-1].conversation.state.context, **known}
            passed = opened.in_world(world).passed(beginning, context)
            # A heading or an introduction proves nothing: it waits for the first statement.
            return "" if passed is None and has_nothing_to_check else passed

        as_shown = partial(found_as_shown, opened.configuration)
        return lambda: CheckedSentences(passes, as_shown)

    def _world(
        self, asked: RailedQuestion, answer: Callable[[str], Message], threaded: ThreadedTurn
    ) -> RailsWorld:
        """What the rails may use. The built-in sets need no model and no search of their own."""

        def answered(question: str) -> DocumentAnswer:
            made = answer(question)
            passages = [Passage(source.text, source.title) for source in made.sources]
            return DocumentAnswer(made.text, passages, made.is_own_knowledge)

        def support(text: str, passages: Sequence[Passage]) -> float:
            made = threaded.made
            if made is None:
                return asked.support(text, as_sources(passages)) or 0.0
            if made.is_excerpts or not (made.model or made.is_own_knowledge):
                return 1.0  # the words of the documents, or of the app itself
            return asked.support(text, made.sources) or 0.0

        world = RailsWorld(embed=self._embed, answer=answered, check_facts=support)
        if is_built_in(asked.rails):
            return world
        return replace(world, complete=asked.complete, retrieve=asked.retrieve, search=asked.search)

    def _so_far(self, rails: Rails, asked: RailedQuestion) -> Conversation:
        """The conversation so far, replayed through the flows of a folder without a model."""
        known = {"commands_done": self._done_before(asked.assistant_id)}
        conversation = rails.begin({"has_knowledge_base": not is_built_in(asked.rails), **known})
        if is_built_in(asked.rails):
            return conversation
        for question, answer in _turns(asked.request.history):
            said = DocumentAnswer(answer)
            world = RailsWorld(
                embed=self._embed,
                answer=lambda _, said=said: said,
                check_facts=lambda _text, _passages: 1.0,
                search=lambda _: [],
            )
            turn = rails.in_world(world).say(conversation, question)
            for _ in turn:
                pass
            conversation = turn.conversation
        return conversation


def _turns(history: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """The last questions, each with its answer."""
    pairs = [
        (before.text, after.text)
        for before, after in pairwise(history)
        if before.role is Role.USER and after.role is Role.ASSISTANT
    ]
    yield from pairs[-_MOST_TURNS:]


def _shown(done: Message, streamed: str) -> Iterator[AnswerEvent]:
    """The events that turn what was streamed into the message."""
    if streamed == done.text or (streamed and done.text == streamed.rstrip()):
        return
    if streamed and done.text.startswith(streamed):
        yield TextDelta(done.text[len(streamed) :])
        return
    yield SourcesFound(done.sources, done.notes)
    if streamed:
        yield AnswerRestated(done.text, done.thinking)
        return
    if done.text:
        yield TextDelta(done.text)
