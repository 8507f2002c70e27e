"""The verbs of the command line: parse, call a service, print. Progress goes to stderr.

Exit codes: 0 done, 1 an error with title and hint on stderr, 2 wrong usage.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from desktop_rag.cli import (
    backup_verbs,
    collection_verbs,
    desktop_verbs,
    doctor,
    eval_verbs,
    event_verbs,
    index_verb,
    output,
    passwords,
    privacy,
    verbs,
)
from desktop_rag.cli.terminal import open_services, print_document, say
from desktop_rag.core.domain import SearchMode
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.private_files import keep_files_private
from desktop_rag.core.paths import find_home
from desktop_rag.core.search_syntax import syntax_lines
from desktop_rag.running_app import ask_running_app

_MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")
_WATCH_S = 1.0
_SCHEMES = ("http://", "https://")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb, or open the window; returns the exit code."""
    arguments = _parser().parse_args(argv)
    keep_files_private()
    try:
        return arguments.run(arguments)
    except AppError as error:
        say("\n".join(line for line in (error.title, error.hint) if line))
        return 1
    except KeyboardInterrupt:
        return 130


# --- the verbs ---------------------------------------------------------------------------------


def _demo(arguments: argparse.Namespace) -> int:
    from desktop_rag.cli import demo

    return demo.run(in_terminal=arguments.terminal)


def _ask(arguments: argparse.Namespace) -> int:
    request: dict[str, Any] = {
        "question": arguments.question,
        "collection": arguments.collection,
        "assistant": arguments.assistant,
    }
    if arguments.attach and arguments.popup:
        raise AppError("Files cannot be attached to a question in the window from here.",
                       "Attach it in the window, or leave out --popup.")  # fmt: skip
    if arguments.attach:
        # The app that answers may run in another folder.
        request["attach"] = [str(Path(name).expanduser().absolute()) for name in arguments.attach]
    verb = "popup" if arguments.popup else "ask"
    if not arguments.popup:
        request["goes_on"] = arguments.json
    is_answered, answer = ask_running_app(find_home(), verb, request)
    if arguments.popup:
        if not is_answered:
            raise AppError("No window is open to ask in.", "Start the app first: desktop-rag")
        return 0
    if not is_answered:
        with open_services() as services:
            answer = verbs.ask(services.library, services.chat, **request)
    print_document(answer, output.answer_lines, as_json=arguments.json)
    return 0


def _search(arguments: argparse.Namespace) -> int:
    request = {
        "query": arguments.query,
        "mode": arguments.mode,
        "limit": arguments.k,
        "collection": arguments.collection,
    }
    is_answered, found = ask_running_app(find_home(), "search", request)
    if not is_answered:
        with open_services() as services:
            found = verbs.search(services.library, services.chat, **request)
    if arguments.json:
        for line in output.notes_lines(found):
            say(line)
        found = found if arguments.notes else found["passages"]
    lines = partial(output.search_lines, shows_nearest=arguments.nearest)
    print_document(found, lines, as_json=arguments.json)
    return 0


def _status(arguments: argparse.Namespace) -> int:
    request = {"failed": arguments.failed}
    is_answered, found = ask_running_app(find_home(), "status", request)
    if not is_answered:
        with open_services() as services:
            found = verbs.status(services.library, **request)
    print_document(found, output.status_lines, as_json=arguments.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="desktop-rag",
        description="Ask your own documents, on your own computer. Without a verb: the window.",
    )
    parser.set_defaults(run=desktop_verbs.window)
    text = "start in the background, without the window"
    parser.add_argument("--background", action="store_true", help=text)
    added_verbs = parser.add_subparsers(title="verbs", metavar="VERB")

    def verb(
        name: str, run: Callable[[argparse.Namespace], int], text: str
    ) -> argparse.ArgumentParser:
        added = added_verbs.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        added.add_argument("--json", action="store_true", help="print one JSON document")
        return added

    _add_ask(verb("ask", _ask, "Answer a question from the library."))
    text = "Make folders and web pages searchable and wait until they are."
    index_verb.add_options(verb("index", index_verb.run, text), _positive)
    _add_search(verb("search", _search, "List the passages that fit best."))
    added = verb("status", _status, "Show the folders and the state of their files.")
    added.add_argument(
        "--failed", action="store_true", help="list the files that were not read, with the reasons"
    )
    added = verb("doctor", doctor.run, "Check everything the app depends on; reads only.")
    added.add_argument(
        "--repair", action="store_true", help="repair the library; what is damaged is kept"
    )
    added.add_argument("--examine", action="store_true", help="examine the chat model again")
    desktop_verbs.add_verbs(verb)
    passwords.add_options(verb("password", passwords.run, passwords.PURPOSE))
    verb("privacy", privacy.run, "List every connection the app can make, and its state.")
    text = "Index the demo library and answer a first question."
    added = added_verbs.add_parser("demo", help=text, description=text)
    added.set_defaults(run=_demo)
    added.add_argument("--terminal", action="store_true", help="without a window")
    text = "List what the app did, and the feedback given."
    event_verbs.add_events(added_verbs.add_parser("events", help=text, description=text))
    text = "List collections and choose their models."
    collection_verbs.add_collections(added_verbs.add_parser("collection", help=text))
    text = "Back up and move chats, settings and folders."
    backup_verbs.add_backups(added_verbs.add_parser("backup", help=text))
    eval_verbs.add_evals(added_verbs.add_parser("eval", help="Measure quality."), _positive)
    return parser


def _add_ask(added: argparse.ArgumentParser) -> None:
    added.add_argument("question", type=_not_empty)
    added.add_argument("--collection", default="", help="ask this collection only")
    added.add_argument("--assistant", default="", help="ask the assistant of this name")
    text = "a file or image to ask about, in addition to the library; may be repeated"
    added.add_argument("--attach", action="append", default=[], metavar="FILE", help=text)
    added.add_argument("--popup", action="store_true", help="put the question into the open window")


def _add_search(added: argparse.ArgumentParser) -> None:
    added.add_argument("query", type=_not_empty)
    added.add_argument("--mode", choices=_MODES, default="hybrid")
    added.add_argument("-k", type=_positive, default=10, help="number of passages")
    added.add_argument("--collection", default="", help="search this collection only")
    text = "list the nearest passages even when none seems relevant"
    added.add_argument("--nearest", action="store_true", help=text)
    text = "with --json: print an object with the passages and the notes of the search"
    added.add_argument("--notes", action="store_true", help=text)
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = "In the query:\n" + "\n".join(f"  {line}" for line in syntax_lines())


def _not_empty(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
