"""An answer while it grows, and the message it becomes. Runs on the answering thread."""

import time
import uuid
from dataclasses import dataclass, replace

from desktop_rag.answer.citing.citation_validation import finish_answer
from desktop_rag.answer.prompting.own_knowledge import split_own_knowledge
from desktop_rag.core.conversation import (
    FileCounts,
    Message,
    MessageState,
    PastAnswer,
    Role,
    SearchNotes,
    SourceRef,
)
from desktop_rag.core.interaction import Interaction
from desktop_rag.core.query import Query
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope

_NO_QUERY = Query("")


@dataclass
class AnswerDraft:
    """An answer while it grows.

    `asked` is the question as understood, `query` the same parsed. An answer that `is_open` may
    continue from its sources to the model's own knowledge; one that `is_own_knowledge` has no
    sources. One that `sees_images` may rest on them alone. `scope` is kept with the answer.
    """

    conversation_id: str
    asked: str = ""
    query: Query = _NO_QUERY
    model: str = ""
    is_excerpts: bool = False
    is_open: bool = False
    is_own_knowledge: bool = False
    text: str = ""
    thinking: str = ""
    sources: tuple[SourceRef, ...] = ()
    nearest: tuple[SourceRef, ...] = ()
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
