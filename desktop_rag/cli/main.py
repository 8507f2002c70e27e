"""The verbs of the command line: parse, call a service, print. Progress goes to stderr.

Exit codes: 0 done, 1 an error with title and hint on stderr, 2 wrong usage. Only the modules of the
verb that was asked for are imported, so that what reaches the running app is there at once.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

from desktop_rag.cli.terminal import say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import keep_files_private
from desktop_rag.idle_memory import share_memory


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb, or open the window; returns the exit code."""
    given = sys.argv[1:] if argv is None else argv
    arguments = _parser(given).parse_args(given)
    keep_files_private()
    share_memory()
    try:
        return arguments.run(arguments)
    except AppError as error:
        say("\n".join(line for line in (error.title, error.hint) if line))
        return 1
    except KeyboardInterrupt:
        return 130


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all verbs, with the arguments of the given one."""
    parser = argparse.ArgumentParser(
        prog="desktop-rag",
        description="Ask your own documents, on your own computer. Without a verb: the window.",
    )
    parser.set_defaults(run=_window)
    text = "start in the background, without the window"
    parser.add_argument("--background", action="store_true", help=text)
    added_verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    wanted = next((argument for argument in given if not argument.startswith("-")), "")
    for name, verb in _VERBS.items():
        added = added_verbs.add_parser(name, help=verb.purpose, description=verb.purpose)
        if name == wanted:
            verb.add_arguments(added)
    return parser


def _window(arguments: argparse.Namespace) -> int:
    from desktop_rag.cli import desktop_verbs

    return desktop_verbs.window(is_shown=not arguments.background)


class _Verb(NamedTuple):
    """A module below this folder, its function that adds the arguments, and what the verb does."""

    function: str
    purpose: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        module, _, name = self.function.rpartition(".")
        add: Callable[[argparse.ArgumentParser], None]
        add = getattr(import_module(f"desktop_rag.cli.{module}"), name)
        add(parser)


_VERBS = {
    "ask": _Verb("question_verbs.add_ask", "Answer a question from the library."),
    "index": _Verb(
        "index_verb.add_index", "Make folders and web pages searchable and wait until they are."
    ),
    "search": _Verb("question_verbs.add_search", "List the passages that fit best."),
    "status": _Verb("question_verbs.add_status", "Show the folders and the state of their files."),
    "doctor": _Verb("doctor.add_doctor", "Check everything the app depends on; reads only."),
    "quick-ask": _Verb("desktop_verbs.add_quick_ask", "Show the quick ask over everything else."),
    "open-url": _Verb("desktop_verbs.add_open_url", "Open a desktop-rag:// link."),
    "desktop-entries": _Verb(
        "desktop_verbs.add_desktop_entries",
        "Enter the app in this desktop's menus, links and file managers, or remove it there.",
    ),
    "quit": _Verb("desktop_verbs.add_quit", "End the running app."),
    "password": _Verb(
        "index_verb.add_password",
        "Read an encrypted file of the library with a password. The password is asked for, or read"
        " from standard input. The text of the file is then in the index, which is not encrypted.",
    ),
    "privacy": _Verb(
        "privacy.add_privacy", "List every connection the app can make, and its state."
    ),
    "demo": _Verb("demo.add_demo_verb", "Index the demo library and answer a first question."),
    "serve": _Verb(
        "server:server_verbs.add_serve", "Let other programs ask the library, without a window."
    ),
    "token": _Verb(
        "server:server_verbs.add_token", "Make, list and revoke tokens of other programs."
    ),
    "access": _Verb(
        "server:access_verbs.add_access",
        "Let another application decide which of its users may read a collection.",
    ),
    "matrix": _Verb(
        "matrix:matrix_verb.add_matrix", "Answer in rooms of Matrix, where teams talk."
    ),
    "mcp": _Verb(
        "server:mcp_verb.add_mcp",
        "Serve the library to a program that starts this and speaks MCP.",
    ),
    "events": _Verb("event_verbs.add_events", "List what the app did, and the feedback given."),
    "collection": _Verb(
        "collection_verbs.add_collections", "List collections and choose their models."
    ),
    "endpoint": _Verb(
        "endpoint_verbs.add_endpoints", "Add, list, test, use and remove endpoints of models."
    ),
    "backup": _Verb("backup_verbs.add_backups", "Back up and move chats, settings and folders."),
    "copy": _Verb(
        "shared_library:copy_verb.add_copy",
        "Copy the library into another engine or home, and compare.",
    ),
    "note": _Verb(
        "schedules:note_verbs.add_notes",
        "Write notes from the library into files of yours, and refresh them.",
    ),
    "schedule": _Verb(
        "schedules:schedule_verbs.add_schedules",
        "Have questions asked regularly, and see what changed.",
    ),
    "command": _Verb(
        "rails:command_verbs.add_commands",
        "List what assistants did for you after you agreed, and forget it.",
    ),
    "rails": _Verb(
        "rails:rails_verbs.add_rails",
        "Check, test and try rails: flows that conversations keep to.",
    ),
    "eval": _Verb("evaluation:eval_verbs.add_evals", "Measure quality."),
}
