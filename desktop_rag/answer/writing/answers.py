"""A question on its way to an answer, parsed once, and the answer while it grows.

An answer grows on the answering thread, and becomes a message.
"""

import re
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Event

from desktop_rag.answer.citing.citations import finish_answer, normalise
from desktop_rag.answer.prompting.prompt import split_own_knowledge
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerRestated,
    AnswerWaits,
    Attachment,
    FileCounts,
    Interaction,
    Message,
    MessageState,
    PastAnswer,
    Role,
    SearchNotes,
    SourceRef,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import Query, asks_for_summary, parse_query, strip_invalid_characters
from desktop_rag.core.question import NamedFiles, Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.models.ports import Delta


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question with everything that its answer depends on.

    `query` is the question, parsed; with a `query_error` it could not be, and `query` holds the
    plain text. `history` holds the messages before the question. With `every_file` each file is
    asked separately. A request that `uses_memory` may take earlier answers as examples.
    `scope` is what the person chose to ask about. `named` are those files and folders, or the ones
    that the question names: `query` and `setup` are limited to them. With `may_change` a person
    is there who can agree to commands. Once `cancel` is set, the answer ends where it is. The
    seconds of the answer count from `began_at`.
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
    began_at: float = field(default_factory=time.monotonic, compare=False)

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


_NO_QUERY = Query("")


@dataclass
class AnswerDraft:
    """An answer while it grows.

    `asked` is the question as understood, `query` the same parsed. An answer that `is_open` may
    continue from its sources to the model's own knowledge; one that `is_own_knowledge` has no
    sources. One that `sees_images` may rest on them alone. `scope` is kept with the answer.
    `nearest_said` is a quote of the nearest passages, in Markdown, with the name of its file. The
    question may be about the documents `home`, which the previous answer is from, or about others.
    Excerpts that are `is_unsure` may not be about the question.
    """

    conversation_id: str
    asked: str = ""
    query: Query = _NO_QUERY
    model: str = ""
    is_excerpts: bool = False
    is_unsure: bool = False
    is_open: bool = False
    is_own_knowledge: bool = False
    text: str = ""
    thinking: str = ""
    sources: tuple[SourceRef, ...] = ()
    nearest: tuple[SourceRef, ...] = ()
    nearest_said: str = ""
    home: frozenset[str] = frozenset()
    notes: SearchNotes | None = None
    examples: tuple[Interaction, ...] = ()
    has_several_steps: bool = False
    began_at: float = 0.0
    sees_images: bool = False
    scope: QuestionScope = ALL_DOCUMENTS

    @property
    def plain_question(self) -> str:
        """The question as understood, without its filters unless there is nothing else."""
        return self.query.text or self.asked

    def send(self, sources: tuple[SourceRef, ...]) -> None:
        """Answer from these of the sources: those that fit into the prompt."""
        self.sources = sources
        if self.notes and self.notes.files:
            read = len({source.document_id for source in sources})
            # Attached files are read whether they match or not.
            matched = max(self.notes.files.matched, read)
            self.notes = replace(self.notes, files=FileCounts(matched, read))

    def note(
        self, *hints: str, files: FileCounts | None = None, unbacked: tuple[str, ...] = ()
    ) -> None:
        """Add hints to the notes, and set what else is given."""
        notes = self.notes or SearchNotes()
        self.notes = replace(
            notes,
            hints=(*notes.hints, *hints),
            files=files or notes.files,
            unbacked=unbacked or notes.unbacked,
        )

    def message(self, state: MessageState, title: str = "", hint: str = "") -> Message:
        """The finished message, its citations checked and located."""
        sourced, own = split_own_knowledge(self.text) if self.is_open else (self.text, "")
        text, sources = finish_answer(sourced, self.sources)
        return Message(
            message_id=uuid.uuid4().hex,
            conversation_id=self.conversation_id,
            role=Role.ASSISTANT,
            text="\n\n".join(filter(None, (text.rstrip(), own))) if own else text,
            created_at=time.time(),
            state=state,
            model=self.model,
            is_excerpts=self.is_excerpts,
            seconds=time.monotonic() - self.began_at,
            error_title=title,
            error_hint=hint,
            thinking=self.thinking,
            sources=sources,
            nearest=self.nearest,
            notes=self.notes,
            remembered=tuple(PastAnswer(e.interaction_id, e.question) for e in self.examples),
            is_own_knowledge=self.is_own_knowledge,
            scope=self.scope,
        )


# What the next piece may make a citation, at the end of a line, with the blanks before it.
_UNFINISHED = re.compile(
    r"[ \t]*(?:\\?[\[【［⟦{][^\]】］⟧}\n]{0,60}|[(（]\s?[^\W\d]{0,12}\.?\s?[\d,;&\s-]{0,20}"
    r"|<(?:s(?:u(?:p(?:>[^<\n]{0,12}(?:</?(?:s(?:up?)?)?)?)?)?)?)?|\^\d*|[¹²³⁰⁴-⁹]+|\\)?$"
)
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
# A fence of such a kind around the whole answer is the model's habit, not code.
_PROSE_FENCE = re.compile(r"\s*(`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*", re.IGNORECASE)
_BEGUN_FENCE = re.compile(r"[ \t]*(?:`{1,2}|~{1,2}|`{3,}\w*|~{3,}\w*)[ \t]*")
_LONGEST_LINE_CHARS = 4_000


class GrowingAnswer:
    """Adds the pieces of a model to a draft, and gives the events that show them.

    Citations are brought into one form at once, and what may begin one is held back for a moment,
    so that nobody sees 【1†source】. The draft keeps what the model wrote, for `finish_answer`.
    """

    def __init__(self, draft: AnswerDraft) -> None:
        self._draft = draft
        self._before = draft.text
        self._known = frozenset(source.n for source in draft.sources)
        self._shown = ""
        self._begin()

    def _begin(self) -> None:
        self._settled = ""
        self._line = ""
        # The code block that the text has got to, and the fence around the whole answer.
        self._fence = self._wrapper = ""
        self._is_begun = self._may_be_over = False

    def add(self, delta: Delta) -> Iterator[AnswerEvent]:
        """The events of a piece: none while it may be a part of something."""
        draft = self._draft
        if delta.status:
            yield AnswerWaits(delta.status)
        elif delta.was_thinking:
            draft.thinking += draft.text[len(self._before) :]
            draft.text = self._before
            self._shown = ""
            self._begin()
            yield AnswerRestated(draft.text, draft.thinking)
        elif delta.is_thinking:
            draft.thinking += delta.text
            yield ThinkingDelta(delta.text)
        elif delta.text:
            draft.text += delta.text
            self._take(delta.text)
            yield from self._news(self._settled + self._tail())

    def finish(self) -> Iterator[AnswerEvent]:
        """What was held back, at the end of the answer."""
        is_end = bool(self._wrapper) and self._line.strip() == self._wrapper
        yield from self._news(self._settled + ("" if is_end else self._in_one_form(self._line)))

    def _news(self, shown: str) -> Iterator[AnswerEvent]:
        before, self._shown = self._shown, shown
        if not shown.startswith(before):
            yield AnswerRestated(self._before + shown, self._draft.thinking)
        elif added := shown[len(before) :]:
            yield TextDelta(added)

    def _take(self, text: str) -> None:
        """Settle the lines that are complete, and what is certain of a long one."""
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._settle(line)
        if len(self._line) > _LONGEST_LINE_CHARS:
            end = self._certain_chars()
            self._settled += self._in_one_form(self._line[:end])
            self._line = self._line[end:]

    def _settle(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence and not self._is_begun and _PROSE_FENCE.fullmatch(line):
            self._wrapper, self._is_begun = fence[1], True
            return
        self._is_begun = self._is_begun or bool(line.strip())
        if fence and self._wrapper and not self._fence and line.strip() == self._wrapper:
            # The end of the whole, unless more follows.
            self._fence, self._may_be_over = fence[1], True
            return
        if self._may_be_over and line.strip():
            self._settled, self._may_be_over = f"{self._settled}{self._fence}\n", False
        self._settled += self._in_one_form(line) + "\n"
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and line.strip() == self._fence:
            self._fence = ""

    def _tail(self) -> str:
        """What is certain of the line that is not complete."""
        if self._may_be_over or _BEGUN_FENCE.fullmatch(self._line):
            return ""
        return self._in_one_form(self._line[: self._certain_chars()])

    def _certain_chars(self) -> int:
        found = None if self._fence else _UNFINISHED.search(self._line)
        return found.start() if found else len(self._line)

    def _in_one_form(self, text: str) -> str:
        is_code = self._fence or _FENCE.match(text)
        return text if is_code else normalise(text, self._known)[0]
