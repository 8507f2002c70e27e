"""A question on its way to an answer, parsed once, and its answer by a model."""

import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Event
from typing import Protocol

from desktop_rag.answer.endpoints.helper_job import patient_stream
from desktop_rag.answer.prompting.prompt import INSTRUCTIONS, NO_EXTRAS, PromptExtras, build_prompt
from desktop_rag.answer.writing.answer_draft import AnswerDraft, GrowingAnswer
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerStep,
    Attachment,
    Message,
    SearchNotes,
    SourcesFound,
    StepTaken,
)
from desktop_rag.core.errors import AppError, TooLongError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.query import Query, asks_for_summary, parse_query, strip_invalid_characters
from desktop_rag.core.question import NamedFiles, Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.models.ports import ChatModel, ChatTurn, Delta, Tool, ToolCall


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question with everything that its answer depends on.

    `query` is the question, parsed; with a `query_error` it could not be, and `query` holds the
    plain text. `history` holds the messages before the question. With `every_file` each file is
    asked separately. A request that `uses_memory` may take earlier answers as examples.
    `scope` is what the person chose to ask about. `named` are those files and folders, or the ones
    that the question names: `query` and `setup` are limited to them. With `may_change` a person
    is there who can agree to commands. Once `cancel` is set, the answer ends where it is.
    """

    question: str
    query: Query
    history: tuple[Message, ...]
    setup: Setup
    conversation_id: str = ""
    attachments: tuple[Attachment, ...] = ()
    every_file: bool = False
    uses_memory: bool = False
    query_error: AppError | None = None
    named: NamedFiles | None = None
    scope: QuestionScope = ALL_DOCUMENTS
    may_change: bool = False
    cancel: Event = field(default_factory=Event, compare=False)

    @classmethod
    def of(
        cls,
        question: Message,
        history: Sequence[Message],
        setup: Setup,
        *,
        every_file: bool = False,
        uses_memory: bool = False,
        may_change: bool = False,
        cancel: Event | None = None,
    ) -> "AnswerRequest":
        """The request for the answer to a message. Nothing after it parses the question again."""
        text = strip_invalid_characters(question.text)
        error: AppError | None = None
        try:
            query = parse_query(text)
        except AppError as exc:
            query, error = Query(text), exc
        return cls(
            text,
            query,
            tuple(history),
            setup,
            question.conversation_id,
            question.attachments,
            every_file=every_file,
            uses_memory=uses_memory and setup.uses_memory,
            query_error=error,
            scope=question.scope,
            may_change=may_change,
            cancel=cancel or Event(),
        )

    @property
    def refusal(self) -> AppError | None:
        """The reason why the question cannot be answered; None when it can."""
        return self.setup.refusal or self.query_error

    @property
    def excludes_words(self) -> bool:
        """True when only passages without some words may be read, not what is around them."""
        return bool(self.query.excluded or self.setup.reach.limits.excluded)

    @property
    def attached_ids(self) -> tuple[str, ...]:
        """The ids of the attachments with text that an answer can cite."""
        return tuple(a.attachment_id for a in self.attachments if a.has_text)

    @property
    def is_summary(self) -> bool:
        """True when documents are to be summarised. Images alone are summarised by the model."""
        asks = self.named.asks_for_content if self.named else asks_for_summary(self.query)
        return asks and bool(self.attached_ids or not self.attachments)


TOOL_RULES = """\
- If the sources lack what the question needs, look for it with the tools before you answer: \
search in other words and in the languages of the documents, read what stands around a source, \
query a table. What they find gets numbers to cite. A source may be a part of a table: count and \
add up all of it by a query. Where the sources answer the question, answer at once."""
_MOST_ROUNDS = 6
# Tools are offered for so many times the endpoint's timeout, and up to this share of the context.
_SILENCES = 6
_MOST_SENT_SHARE = 0.6
_LEAST_CONTEXT = 8_000
_LEAST_READ_PER_S = 150.0
_HISTORY = 12
# Each shorter than the one before, by half where the model doesn't say what it reads.
_TRIES = 5


class ToolResult(Protocol):
    """What came of a call: the text for the model, and the step that the person sees."""

    @property
    def text(self) -> str: ...  # noqa: D102  the class says it

    @property
    def step(self) -> AnswerStep: ...  # noqa: D102  the class says it


class ToolSession(Protocol):
    """Runs the calls of one answer; what they find joins the sources of its draft."""

    def run(self, call: ToolCall) -> ToolResult:
        """Do what the model asks for; a wrong call is explained to it."""
        ...


class ToolBox(Protocol):
    """The tools that a model may call while it answers."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools as the model is told of them."""
        ...

    def begin(
        self, request: AnswerRequest, draft: AnswerDraft, model: ChatModel, fence: str
    ) -> ToolSession:
        """The tools for this answer."""
        ...


def answer_with(
    model: ChatModel,
    request: AnswerRequest,
    draft: AnswerDraft,
    *,
    instructions: str = INSTRUCTIONS,
    attached: Callable[[int], PromptExtras] = lambda _: NO_EXTRAS,
    tool_box: ToolBox | None = None,
) -> Iterator[AnswerEvent]:
    """Have the model answer from the sources of the draft, in the form of its examples.

    The text grows in the draft, which keeps the sources and examples that were sent. `attached`
    gives the attachments for a context of so many tokens. Without sources the model answers from
    its own knowledge, if the `instructions` allow it. With a `tool_box`, a model that can call
    tools may search on before it answers. When the model refuses the prompt for its length, it gets
    fewer sources, and the notes of the draft say so. AppError when the endpoint fails; the draft
    keeps the text so far.
    """
    draft.model = model.name
    box = tool_box if model.calls_tools is not False and can_search_on(model) else None
    found, examples = draft.sources, draft.examples
    context_tokens = model.context_tokens
    for tries_left in reversed(range(_TRIES)):
        fence = secrets.token_hex(8)
        prompt = build_prompt(
            request.question,
            found,
            request.history[-_HISTORY:],
            context_tokens=context_tokens,
            count_tokens=model.count_tokens,
            fence=fence,
            instructions=f"{instructions}\n{TOOL_RULES}" if box else instructions,
            extras=replace(attached(context_tokens), examples=examples, today=_today()),
        )
        draft.send(prompt.sources)
        draft.examples = prompt.examples
        if tries_left < _TRIES - 1:
            _note_refusal(draft, len(found))
        yield SourcesFound(draft.sources, draft.notes, draft.is_own_knowledge)
        try:
            yield from _in_rounds(model, prompt.turns, request, draft, box, fence)
        except AppError as error:
            has_begun = bool(draft.text or draft.thinking)
            fits = error.fits_tokens if isinstance(error, TooLongError) else model.context_tokens
            if has_begun or not tries_left or fits >= context_tokens:
                raise
            context_tokens = fits
        else:
            return


def _today() -> str:
    return f"{datetime.now():%A, %d %B %Y}"


def _note_refusal(draft: AnswerDraft, found: int) -> None:
    """Say in the notes that the model refused a longer prompt, in place of an earlier such note."""
    notes = draft.notes or SearchNotes()
    refused = tr("The model refused a longer prompt")
    hints = tuple(hint for hint in notes.hints if not hint.startswith(refused))
    sent = len(draft.sources)
    fewer = tr("{sent} of {found} sources were sent", sent=sent, found=found)
    said = f"{refused}: {fewer}." if sent < found else f"{refused}."
    draft.notes = replace(notes, hints=(*hints, said))


def can_search_on(model: ChatModel) -> bool:
    """False for a model that reads too little, or so slowly that one prompt has to do."""
    is_slow = 0 < model.read_tokens_per_s < _LEAST_READ_PER_S
    return model.context_tokens >= _LEAST_CONTEXT and not is_slow


def _in_rounds(
    model: ChatModel,
    first: Sequence[ChatTurn],
    request: AnswerRequest,
    draft: AnswerDraft,
    box: ToolBox | None,
    fence: str,
) -> Iterator[AnswerEvent]:
    """Answer, after up to `_MOST_ROUNDS` of calls; then no tool is offered any more."""
    turns = list(first)
    session = box.begin(request, draft, model, fence) if box else None
    rounds = _Rounds(model, request)
    while True:
        tools = box.tools if box and rounds.may_go_on(turns) else ()
        calls = yield from _received(model, turns, draft, request, tools)
        if not (calls and session) or request.cancel.is_set():
            return
        turns.append(ChatTurn("assistant", "", calls=calls))
        for call in calls:
            if request.cancel.is_set():
                return
            result = session.run(call)
            turns.append(ChatTurn("tool", result.text, call_id=call.call_id))
            notes = draft.notes or SearchNotes()
            draft.notes = replace(notes, steps=(*notes.steps, result.step))
            draft.has_several_steps = True
            yield StepTaken(result.step, draft.sources, draft.notes)


@dataclass(slots=True)
class _Rounds:
    """Counts what the rounds of one answer take."""

    model: ChatModel
    request: AnswerRequest
    began_at: float = field(default_factory=time.monotonic)
    count: int = 0

    def may_go_on(self, turns: Sequence[ChatTurn]) -> bool:
        """True while there are rounds, time and room for another search."""
        self.count += 1
        endpoint = self.request.setup.settings.endpoint
        seconds = time.monotonic() - self.began_at
        sent = sum(self.model.count_tokens([turn.text for turn in turns]))
        has_room = sent < _MOST_SENT_SHARE * self.model.context_tokens
        return self.count <= _MOST_ROUNDS and seconds < _SILENCES * endpoint.timeout_s and has_room


def _received(
    model: ChatModel,
    turns: Sequence[ChatTurn],
    draft: AnswerDraft,
    request: AnswerRequest,
    tools: Sequence[Tool],
) -> Generator[AnswerEvent, None, tuple[ToolCall, ...]]:
    """The calls with which the model's turn ends; what it wrote before them is thinking."""
    growing, calls = GrowingAnswer(draft), ()
    cancel, schema = request.cancel, request.setup.schema
    with closing(patient_stream(model, turns, cancel, tools, schema=schema)) as deltas:
        for delta in deltas:
            calls = delta.calls or calls
            yield from growing.add(delta)
    if calls and draft.text:
        yield from growing.add(Delta("", was_thinking=True))
    yield from growing.finish()
    return calls
