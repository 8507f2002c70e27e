"""An answer while it grows, and the message it becomes. Belongs to the thread that answers."""

import time
import uuid
from dataclasses import dataclass, replace

from desktop_rag.answer.citing.citation_validation import finish_answer
from desktop_rag.answer.prompting.own_knowledge import apart
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


@dataclass
class AnswerDraft:
    """An answer while it grows; `asked` is its question as it was understood.

    One that `is_open` may go on from its sources to what the model knows itself; one that
    `is_own_knowledge` has none.
    One that `sees_images` may rest on them alone.
    """

    conversation_id: str
    asked: str = ""
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

    def send(self, sources: tuple[SourceRef, ...]) -> None:
        """Answer from these of the sources: those that have room in the prompt."""
        self.sources = sources
        if self.notes and self.notes.files:
            read = len({source.document_id for source in sources})
            # What is attached is read whether it matches or not.
            matched = max(self.notes.files.matched, read)
            self.notes = replace(self.notes, files=FileCounts(matched, read))

    def message(self, state: MessageState, title: str = "", hint: str = "") -> Message:
        """The draft as it ends, with its citations checked and located."""
        sourced, own = apart(self.text) if self.is_open else (self.text, "")
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
        )
