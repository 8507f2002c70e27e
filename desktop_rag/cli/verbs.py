"""The verbs that this process or the running app answers, as JSON values. Any worker thread."""

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any, get_args

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
    StepTaken,
)
from desktop_rag.core.domain import SearchMode
from desktop_rag.core.errors import AppError
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.ingest.library import Library

# A finished answer waits no longer for what a model may add to it.
_JOBS_LIMIT_S = 8.0


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handlers of these verbs in the running app; arguments come from another process."""
    return {
        "ask": lambda services, asked: completed(services, outcome(asking(services, **asked))),
        "search": lambda services, asked: search(services.library, services.chat, **asked),
        "status": lambda services, asked: status(services.library, **asked),
    }


def completed(services: app.Services, answer: dict[str, Any]) -> dict[str, Any]:
    """The JSON of an answer with what the wings add to it."""
    for module in after_ask():
        answer = module.completed(services, answer)
    return answer


def asking(
    services: app.Services,
    question: str,
    collection: str = "",
    assistant: str = "",
    attach: Sequence[str] = (),
    *,
    scope: Mapping[str, Any] | None = None,
    goes_on: bool = False,
    may_change: bool = False,
) -> Generator[str, None, dict[str, Any]]:
    """Ask in a new conversation, with files attached, and wait for the answer and its check.

    `collection` and `assistant` are names, "" for all and none. `scope` is a QuestionScope as JSON.
    With `goes_on` a model may add follow-up questions and closer checks for a few seconds. With
    `may_change` a person waits who can agree to commands. Yields words while there is a wait. A
    failed answer is returned as far as it came, with its `error`. AppError when a file can't be
    attached.
    """
    library, chat = services.library, services.chat
    message: Message | None = None
    collection_id = _collection_id(library, collection)
    assistant_id = chat.assistants.find(assistant).assistant_id if assistant else ""
    attached = _attached(library, chat, attach)
    for event in chat.ask(
        question,
        collection_id=collection_id,
        assistant_id=assistant_id,
        attachments=attached,
        scope=QuestionScope.from_json(scope or {}),
        may_change=may_change,
        cancel=Event(),
    ):
        if isinstance(event, AnswerWaits):
            yield event.reason
        if isinstance(event, StepTaken):
            yield event.step.said
        if isinstance(event, AnswerDone):
            message = event.message
    assert message is not None, "every answer ends with AnswerDone"
    later = chat.go_on(message, asks_model=goes_on, limit_s=_JOBS_LIMIT_S, cancel=Event())
    for change in later:
        message = change.message if isinstance(change, AnswerChanged) else message
    return output.answer_json(message)


def outcome(
    asking: Generator[str, None, dict[str, Any]], tell: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """The answer; `tell` is given the words on the way."""
    while True:
        try:
            tell(next(asking))
        except StopIteration as end:
            return end.value


def search(
    library: Library, chat: Chat, query: str, mode: SearchMode, limit: int, collection: str = ""
) -> dict[str, Any]:
    """The document of `search`. The arguments may come from another process."""
    if mode not in get_args(SearchMode) or type(limit) is not int or limit < 1:
        raise AppError("This search is not valid.", f"mode {mode}, {limit} passages")
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


def _attached(library: Library, chat: Chat, names: Sequence[str]) -> list[Attachment]:
    if not names:
        return []
    # It reads images with Qt, which may be incomplete on a computer without a screen.
    from desktop_rag.ui.composer.image_reading import attach_file

    return [attach_file(library, chat, Path(name), Event()) for name in names]


def _collection_id(library: Library, name: str) -> str:
    return library.collections.find_searchable(name).collection_id if name else ""
