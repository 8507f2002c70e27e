"""The sheets of the widgets of single rooms: answers, sources, folders, the question field."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QWidget

from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import Feedback, Message, MessageState, Role, SourceRef
from desktop_rag.core.domain import DocumentState, Source, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.composer.attached_files import AttachedFile
from desktop_rag.ui.composer.attachment_strip import AttachmentChip
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.source_list import FolderActions, FolderCard
from desktop_rag.ui.messages.answer_item import AnswerItem
from desktop_rag.ui.messages.message_model import MessageActions, Phase, Turn
from desktop_rag.ui.messages.question_item import QuestionItem
from desktop_rag.ui.reading.document_loading import StateNotice, WayOut
from desktop_rag.ui.reading.reading_pane import StateCard

Shown = tuple[str, QWidget]
_TEXT = "The lamp is lit at dusk [1]. The keeper sleeps at noon. The moon is made of cheese."
_SOURCE = SourceRef(
    1, "d", "/papers/lamp.md", "Lamp", Anchor(), "The lamp is lit at dusk.", 1.0,
    quote="The lamp is lit at dusk.", is_cited=True,
)  # fmt: skip
_FOLDER = Source("papers", "c", Path("/docs/papers"), 0.0)
_COUNTS = DocumentCounts({DocumentState.SEARCHABLE: 1204, DocumentState.FAILED: 2})


def _claims() -> tuple[Claim, ...]:
    spans = ((0, 27, Verdict.SUPPORTED), (29, 54, Verdict.CONTRADICTED),
             (55, 83, Verdict.NOT_IN_SOURCES))  # fmt: skip
    return tuple(
        Claim(start, end, CheckedClaim(_TEXT[start:end], verdict, 0.5, None, (), "Because."), 1)
        for start, end, verdict in spans
    )


def answers(theme: Theme) -> Iterator[Shown]:
    """Questions, and answers in all phases and outcomes."""
    actions = MessageActions(theme)
    asked = Message("q", "c", Role.USER, "When is the lamp lit?", 0.0)
    yield "question", QuestionItem(theme, Turn(asked), actions)
    done = Message("m", "c", Role.ASSISTANT, _TEXT, 0.0, model="a-model", seconds=2.4,
                   sources=(_SOURCE,))  # fmt: skip
    empty = replace(done, text="", sources=())
    for phase in (Phase.SEARCHING, Phase.READING, Phase.THINKING):
        yield phase.value, AnswerItem(theme, Turn(empty, phase), actions)
    yield (
        "writing",
        AnswerItem(theme, Turn(replace(done, text=_TEXT[:40]), Phase.WRITING), actions),
    )
    yield "done", AnswerItem(theme, Turn(done), actions)
    yield "being checked", AnswerItem(theme, Turn(done, is_checking=True), actions)
    yield "checked", AnswerItem(theme, Turn(replace(done, claims=_claims())), actions)
    yield "liked", AnswerItem(theme, Turn(replace(done, feedback=Feedback.LIKED)), actions)
    yield "rewritten", AnswerItem(theme, Turn(replace(done, is_rewritten=True)), actions)
    last = AnswerItem(theme, Turn(replace(done, follow_ups=("Who trims the wick?",))), actions)
    last.show_as_last(is_last=True)
    yield "last, with follow-ups", last
    yield "own knowledge", AnswerItem(theme, Turn(replace(done, is_own_knowledge=True)), actions)
    excerpts = replace(done, model="", is_excerpts=True)
    yield "excerpts", AnswerItem(theme, Turn(excerpts), actions)
    yield "stopped", AnswerItem(theme, Turn(replace(done, state=MessageState.STOPPED)), actions)
    cut = replace(done, state=MessageState.CUT, error_title="The answer was cut off.",
                  error_hint="The app ended before it was complete.")  # fmt: skip
    yield "cut", AnswerItem(theme, Turn(cut), actions)
    failed = replace(empty, state=MessageState.FAILED, error_title="The endpoint is away.",
                     error_hint="Start it, and press Retry.")  # fmt: skip
    yield "failed", AnswerItem(theme, Turn(failed), actions)
    yield "not stored", AnswerItem(theme, Turn(replace(done, is_unstored=True)), actions)


def sources(theme: Theme) -> Iterator[Shown]:
    """What is said about a document that can't be read as it is."""
    for way_out in WayOut:
        card = StateCard(theme)
        card.show_notice(StateNotice("The file was moved.", "Its stored text is shown.", way_out))
        yield f"state: {way_out.name.lower()}", card


def folders(theme: Theme) -> Iterator[Shown]:
    """Folders in all states."""
    asked = FolderActions(theme)
    for state in SourceState:
        card = FolderCard(theme, _FOLDER, asked)
        card.show_source(replace(_FOLDER, state=state), "Letters", _COUNTS)
        yield state.value, card
    long = replace(_FOLDER, path=Path("/docs") / ("a folder with a long name " * 8))
    card = FolderCard(theme, long, asked)
    card.show_source(long, "", DocumentCounts())
    yield "long name", card


def composer(theme: Theme) -> Iterator[Shown]:
    """The question field and what hangs on it."""
    parent = QWidget()
    yield "composer", Composer(theme)
    files = {
        "being read": AttachedFile(1, "lease.pdf"),
        "image": AttachedFile(2, "a picture with a long name.png", is_image=True),
        "failed": AttachedFile(3, "broken.docx", error=AppError("It is damaged.", "Try a copy.")),
    }
    for state, file in files.items():
        yield f"attachment: {state}", AttachmentChip(theme, file, parent)
