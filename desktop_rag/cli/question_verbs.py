"""The verbs `ask`, `search` and `status`: questions, passages, and the state of files."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from desktop_rag import app
from desktop_rag.answer.chat import Chat
from desktop_rag.cli import output
from desktop_rag.cli.terminal import (
    add_json,
    here,
    not_empty,
    open_services,
    path_given,
    positive,
    print_document,
    prints,
    say,
    saying_what_is_waited_for,
    scope_given,
)
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
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.paths import find_home
from desktop_rag.core.query import parse_query
from desktop_rag.core.question_scope import ALL_DOCUMENTS, WITHOUT_DOCUMENTS, QuestionScope
from desktop_rag.core.search_syntax import syntax_lines
from desktop_rag.ingest.library import Library
from desktop_rag.running_app import ask_running_app

if TYPE_CHECKING:
    from desktop_rag.app import Services

# A finished answer waits no longer for what a model may add to it.
_JOBS_LIMIT_S = 8.0


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


def _attached(library: Library, chat: Chat, paths: Sequence[Path]) -> list[Attachment]:
    if not paths:
        return []
    # It reads images with Qt, which may be incomplete on a computer without a screen.
    from desktop_rag.ui.composer.image_reading import attach_file

    return [attach_file(library, chat, path, Event()) for path in paths]


def _collection_id(library: Library, name: str) -> str:
    return library.collections.find_searchable(name).collection_id if name else ""


# A process that ends with its answer waits for the shared library, if there is one.
_CONNECTING_S = 8.0
_MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")


def add_ask(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `ask`."""
    parser.set_defaults(run=_ask)
    parser.add_argument("question", type=not_empty)
    text = "ask this collection only; shared:NAME is one of the shared library"
    parser.add_argument("--collection", default="", help=text)
    parser.add_argument("--assistant", default="", help="ask the assistant of this name")
    text = "a file or image to ask about, in addition to the library; may be repeated"
    parser.add_argument("--attach", action="append", default=[], metavar="FILE", help=text)
    text = "a file or folder of the library: nothing else is read; may be repeated"
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--about", action="append", default=[], metavar="PATH", help=text)
    text = "ask the model alone, and search nothing; what is attached is read all the same"
    scope.add_argument("--no-documents", action="store_true", help=text)
    text = "put the question into the open window"
    parser.add_argument("--popup", action="store_true", help=text)
    add_json(parser)


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `search`."""
    parser.set_defaults(run=_search)
    parser.add_argument("query", type=not_empty)
    parser.add_argument("--mode", choices=_MODES, default="hybrid")
    parser.add_argument("-k", type=positive, default=10, help="number of passages")
    text = "search this collection only; shared:NAME is one of the shared library"
    parser.add_argument("--collection", default="", help=text)
    text = "list the nearest passages even when none seems relevant"
    parser.add_argument("--nearest", action="store_true", help=text)
    text = "with --json: print an object with the passages and the notes of the search"
    parser.add_argument("--notes", action="store_true", help=text)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "In the query:\n" + "\n".join(f"  {line}" for line in syntax_lines())
    add_json(parser)


def add_status(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `status`."""
    text = "list the files that were not read, with the reasons"
    parser.add_argument("--failed", action="store_true", help=text)
    prints(parser, _status, output.status_lines)


def add_passages(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `passages`."""
    parser.set_defaults(run=_passages)
    parser.add_argument("file", nargs="+", help="a file; it needn't be in the library")
    parser.add_argument("--collection", default="", help="cut as in this collection")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)


def _passages(arguments: argparse.Namespace) -> int:
    """A line of JSON for each passage; files that can't be read are said, and make it fail."""
    is_whole = True
    with open_services() as services:
        collections = services.library.collections
        named = arguments.collection
        chosen = collections.find(named) if named else None
        for name in arguments.file:
            path = path_given(name).resolve()
            try:
                settings = chosen.chunking if chosen else ChunkSettings()
                found = services.library.cut(path, settings, here().interrupted)
            except AppError as error:
                is_whole = False
                say(f"{path}: {error}")
                continue
            for passage in found:
                row = output.passage_json(path, passage)
                print_document(row, lambda _: (), as_json=True)
    return 0 if is_whole else 1


def _ask(arguments: argparse.Namespace) -> int:
    chosen = arguments.attach or arguments.about or arguments.no_documents
    if chosen and arguments.popup:
        raise AppError("Files cannot be chosen for a question in the window from here.",
                       "Choose them in the window, or leave out --popup.")  # fmt: skip
    if arguments.popup:
        return _ask_in_window(arguments)
    with open_services() as services:
        services.in_use.beside.wait_until_known(_CONNECTING_S)
        with saying_what_is_waited_for("Waiting for the answer"):
            answer = _answer(services, arguments)
        _print_answer(arguments, answer)
        for module in after_ask():
            module.follow_up(services, answer)
    return 0 if "state" not in answer else 1


def _ask_in_window(arguments: argparse.Namespace) -> int:
    request = {
        "question": arguments.question,
        "collection": arguments.collection,
        "assistant": arguments.assistant,
    }
    if not ask_running_app(find_home(), "popup", request)[0]:
        raise AppError("No window is open to ask in.", "Start the app first: desktop-rag")
    return 0


def _answer(services: "Services", arguments: argparse.Namespace) -> dict[str, Any]:
    terminal = here()
    asked = Asked(
        arguments.question,
        arguments.collection,
        arguments.assistant,
        [path_given(name) for name in arguments.attach],
        WITHOUT_DOCUMENTS if arguments.no_documents else scope_given(arguments.about),
        goes_on=arguments.json,
        # A person is at the terminal who can agree to a change.
        may_change=not arguments.json and terminal.can_type and terminal.is_watched,
    )
    answer = ask(services, asked, terminal.interrupted, say)
    for module in after_ask():
        answer = module.completed(services, answer)
    return answer


def _print_answer(arguments: argparse.Namespace, answer: dict[str, Any]) -> None:
    if arguments.json or answer["answer"]:
        print_document(answer, output.answer_lines, as_json=arguments.json)
    for line in output.failure_lines(answer):
        say(line)


def _search(arguments: argparse.Namespace) -> int:
    with open_services() as services:
        services.in_use.beside.wait_until_known(_CONNECTING_S)
        collection_id = _collection_id(services.library, arguments.collection)
        found = output.search_json(
            services.chat.look_up(
                arguments.query, mode=arguments.mode, limit=arguments.k, collection_id=collection_id
            )
        )
    if arguments.json:
        for line in output.notes_lines(found):
            say(line)
        found = found if arguments.notes else found["passages"]
    words = parse_query(arguments.query).text
    lines = partial(output.search_lines, words=words, shows_nearest=arguments.nearest)
    print_document(found, lines, as_json=arguments.json)
    return 0


def _status(arguments: argparse.Namespace) -> dict[str, Any]:
    with open_services() as services:
        library = services.library
        counted = [
            (each, library.documents.counts(each.source_id)) for each in library.sources.all()
        ]
        unread = library.documents.all() if arguments.failed else None
        return output.status_json(counted, library.collections.all(), unread)
