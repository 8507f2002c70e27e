"""A question on its way to an answer, parsed once, and its answer by a model."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from threading import Event

from desktop_rag.answer.endpoints.helper_job import patient_stream
from desktop_rag.answer.prompting.prompt import INSTRUCTIONS, NO_EXTRAS, PromptExtras, build_prompt
from desktop_rag.answer.writing.answer_draft import AnswerDraft, GrowingAnswer
from desktop_rag.core.conversation import (
    AnswerEvent,
    Attachment,
    Message,
    SearchNotes,
    SourcesFound,
)
from desktop_rag.core.errors import AppError, TooLongError
from desktop_rag.core.query import Query, asks_for_summary, parse_query, strip_invalid_characters
from desktop_rag.core.question import NamedFiles, Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.models.ports import ChatModel, ChatTurn


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
    def attached_ids(self) -> tuple[str, ...]:
        """The ids of the attachments with text that an answer can cite."""
        return tuple(a.attachment_id for a in self.attachments if a.has_text)

    @property
    def is_summary(self) -> bool:
        """True when documents are to be summarised. Images alone are summarised by the model."""
        asks = self.named.asks_for_content if self.named else asks_for_summary(self.query)
        return asks and bool(self.attached_ids or not self.attachments)


_HISTORY = 12
# Each shorter than the one before, by half where the model doesn't say what it reads.
_TRIES = 5
_REFUSED = "The model refused a longer prompt"


def answer_with(
    model: ChatModel,
    request: AnswerRequest,
    draft: AnswerDraft,
    *,
    instructions: str = INSTRUCTIONS,
    attached: Callable[[int], PromptExtras] = lambda _: NO_EXTRAS,
) -> Iterator[AnswerEvent]:
    """Have the model answer from the sources of the draft, in the form of its examples.

    The text grows in the draft, which keeps the sources and examples that were sent. `attached`
    gives the attachments for a context of so many tokens. Without sources the model answers from
    its own knowledge, if the `instructions` allow it. When the model refuses the prompt for its
    length, it gets fewer sources, and the notes of the draft say so. AppError when the endpoint
    fails; the draft keeps the text so far.
    """
    draft.model = model.name
    found, examples = draft.sources, draft.examples
    context_tokens = model.context_tokens
    for tries_left in reversed(range(_TRIES)):
        prompt = build_prompt(
            request.question,
            found,
            request.history[-_HISTORY:],
            context_tokens=context_tokens,
            count_tokens=model.count_tokens,
            fence=secrets.token_hex(8),
            instructions=instructions,
            extras=replace(attached(context_tokens), examples=examples),
        )
        draft.send(prompt.sources)
        draft.examples = prompt.examples
        if tries_left < _TRIES - 1:
            _note_refusal(draft, len(found))
        yield SourcesFound(draft.sources, draft.notes, draft.is_own_knowledge)
        try:
            yield from _received(model, prompt.turns, draft, request.cancel)
        except AppError as error:
            has_begun = bool(draft.text or draft.thinking)
            fits = error.fits_tokens if isinstance(error, TooLongError) else model.context_tokens
            if has_begun or not tries_left or fits >= context_tokens:
                raise
            context_tokens = fits
        else:
            return


def _note_refusal(draft: AnswerDraft, found: int) -> None:
    """Say in the notes that the model refused a longer prompt, in place of an earlier such note."""
    notes = draft.notes or SearchNotes()
    hints = tuple(hint for hint in notes.hints if not hint.startswith(_REFUSED))
    sent = len(draft.sources)
    fewer = f"{_REFUSED}: {sent} of {found} sources were sent." if sent < found else f"{_REFUSED}."
    draft.notes = replace(notes, hints=(*hints, fewer))


def _received(
    model: ChatModel, turns: Sequence[ChatTurn], draft: AnswerDraft, cancel: Event
) -> Iterator[AnswerEvent]:
    growing = GrowingAnswer(draft)
    with closing(patient_stream(model, turns, cancel)) as deltas:
        for delta in deltas:
            yield from growing.add(delta)
    yield from growing.finish()
