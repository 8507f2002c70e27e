"""A question on its way to an answer, parsed once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event

from desktop_rag.core.conversation import Attachment, Message
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import Query, asks_for_summary, parse_query, strip_invalid_characters
from desktop_rag.core.question import NamedFiles, Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope


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
