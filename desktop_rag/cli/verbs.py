"""What `ask`, `search` and `status` find, as JSON values. Any worker thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag import app
from desktop_rag.answer.chat import Chat
from desktop_rag.cli import output
from desktop_rag.cli.verb_table import after_ask
from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerWaits,
    Attachment,
    Message,
    QuestionStored,
    StepTaken,
)
from desktop_rag.core.domain import SearchMode
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.ingest.library import Library

# A finished answer waits no longer for what a model may add to it.
_JOBS_LIMIT_S = 8.0


def completed(services: app.Services, answer: dict[str, Any]) -> dict[str, Any]:
    """The JSON of an answer with what the wings add to it."""
    for module in after_ask():
        answer = module.completed(services, answer)
    return answer


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the names of its collection and assistant, "" for all and none.

    `attached` are files. With `goes_on` a model may add follow-up questions and closer checks for a
    few seconds. With `may_change` a person waits who can agree to commands.
    """

    question: str
    collection: str = ""
    assistant: str = ""
    attached: Sequence[Path] = ()
    scope: QuestionScope = ALL_DOCUMENTS
    goes_on: bool = False
    may_change: bool = False


def ask(
    services: app.Services,
    asked: Asked,
    cancel: Event | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Ask in a new conversation, with files attached, and wait for the answer and its check.

    `tell` is given words while there is a wait. A failed answer is returned as far as it came, with
    its `error`. AppError when a file can't be attached.
    """
    cancel = cancel or Event()
    library, chat = services.library, services.chat
    message: Message | None = None
    named = asked.assistant
    for event in chat.ask(
        asked.question,
        collection_id=_collection_id(library, asked.collection),
        assistant_id=chat.assistants.find(named).assistant_id if named else "",
        attachments=_attached(library, chat, asked.attached),
        scope=asked.scope,
        may_change=asked.may_change,
        cancel=cancel,
    ):
        if isinstance(event, QuestionStored):
            chat.history.keep_for_terminal(event.conversation.conversation_id)
        if isinstance(event, AnswerWaits):
            tell(event.reason)
        if isinstance(event, StepTaken):
            tell(event.step.said)
        if isinstance(event, AnswerDone):
            message = event.message
    assert message is not None, "every answer ends with AnswerDone"
    later = chat.go_on(message, asks_model=asked.goes_on, limit_s=_JOBS_LIMIT_S, cancel=cancel)
    for change in later:
        message = change.message if isinstance(change, AnswerChanged) else message
    return output.answer_json(message)


def search(
    library: Library, chat: Chat, query: str, mode: SearchMode, limit: int, collection: str = ""
) -> dict[str, Any]:
    """The document of `search`."""
    collection_id = _collection_id(library, collection)
    found = chat.look_up(query, mode=mode, limit=limit, collection_id=collection_id)
    return output.search_json(found)


def status(library: Library, *, failed: bool = False) -> dict[str, Any]:
    """The document of `status --json`; with `failed` it lists unread files with reasons."""
    sources = [
        (source, library.documents.counts(source.source_id)) for source in library.sources.all()
    ]
    unread = library.documents.all() if failed else None
    return output.status_json(sources, library.collections.all(), unread)


def _attached(library: Library, chat: Chat, paths: Sequence[Path]) -> list[Attachment]:
    if not paths:
        return []
    # It reads images with Qt, which may be incomplete on a computer without a screen.
    from desktop_rag.ui.composer.image_reading import attach_file

    return [attach_file(library, chat, path, Event()) for path in paths]


def _collection_id(library: Library, name: str) -> str:
    return library.collections.find_searchable(name).collection_id if name else ""
