"""The verbs of the command line: parse, call a service, print. Progress goes to stderr.

Exit codes: 0 done, 1 an error with title and hint on stderr, 2 wrong usage. Only the modules of the
verb that was asked for are imported, so that what reaches the running app is there at once.
"""

import argparse
import sys
from collections.abc import Sequence

from desktop_rag.cli.terminal import say
from desktop_rag.cli.verb_table import command_verbs
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
    """The parser of all verbs, with the arguments of the given one only."""
    parser = argparse.ArgumentParser(
        prog="desktop-rag",
        description="Ask your own documents, on your own computer. Without a verb: the window.",
    )
    parser.set_defaults(run=_window)
    text = "start in the background, without the window"
    parser.add_argument("--background", action="store_true", help=text)
    added_verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    wanted = next((argument for argument in given if not argument.startswith("-")), "")
    for name, verb in command_verbs().items():
        added = added_verbs.add_parser(name, help=verb.purpose, description=verb.purpose)
        if name == wanted:
            verb.add_arguments(added)
    return parser


def _window(arguments: argparse.Namespace) -> int:
    from desktop_rag.cli import desktop_verbs

    return desktop_verbs.window(is_shown=not arguments.background)
