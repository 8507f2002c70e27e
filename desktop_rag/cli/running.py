"""Runs the verbs of the command line, here or in the process that holds the library. Any thread.

One rule for all verbs: a verb runs in this process until it needs the library. Where a window, a
server or a watcher holds that, the verb is run there instead, at this terminal; where another
command holds it, the verb waits for its end.
"""

import argparse
import signal
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from desktop_rag.cli.terminal import RunsElsewhere, Terminal, at_far_terminal, here, say
from desktop_rag.cli.verb_table import WINDOW, command_verbs
from desktop_rag.core.errors import LibraryHeldError
from desktop_rag.core.paths import find_home
from desktop_rag.running_app import AppServer, Asker, ask_running_app

if TYPE_CHECKING:
    from desktop_rag.app import Services

T = TypeVar("T")
_POLL_S = 0.2


def run_verb(argv: Sequence[str]) -> int:
    """Run a verb here or in the process that holds the library; returns the exit code.

    AppError as the verb says.
    """
    arguments = make_parser(argv).parse_args(argv)
    return in_turn(lambda: arguments.run(arguments), partial(_run_elsewhere, argv, here()))


def in_turn(run: Callable[[], T], run_elsewhere: Callable[[], tuple[bool, T]]) -> T:
    """The result of `run`, or of `run_elsewhere` where that answers; waits while neither can."""
    interrupted: threading.Event | None = None
    with ExitStack() as until_it_runs:
        while True:
            try:
                return run()
            except RunsElsewhere:
                is_answered, result = run_elsewhere()
                if is_answered:
                    return result
            except LibraryHeldError as held:
                if interrupted is None:
                    interrupted = until_it_runs.enter_context(_noted_interrupts())
                    say(f"{held.title} This command waits for its end; Ctrl+C ends the wait.")
                elif interrupted.is_set():
                    raise KeyboardInterrupt from None
                time.sleep(_POLL_S)


@contextmanager
def _noted_interrupts() -> Generator[threading.Event]:
    """An event that Ctrl+C sets too, since libraries may swallow the KeyboardInterrupt."""
    noted = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        noted.set()
        signal.default_int_handler(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _run_elsewhere(argv: Sequence[str], terminal: Terminal) -> tuple[bool, int]:
    """True and the exit code of the verb in the process that holds the library, if it answers."""
    return ask_running_app(find_home(), "run", terminal.request(argv), hear=terminal.hear)


def run_for_another(services: "Services", asked: Mapping[str, Any], asker: Asker) -> int:
    """Run a verb for the process that asks, over these services; returns the exit code."""
    argv = [str(each) for each in asked["argv"]]
    with at_far_terminal(services, asked, asker):
        try:
            arguments = make_parser(argv).parse_args(argv)
            return arguments.run(arguments)
        except SystemExit as wrong_use:
            return int(wrong_use.code or 0)


def answer_others(services: "Services", end: Callable[[], None]) -> AppServer:
    """Have this process run the verbs of others over its services; `end` is for `quit`."""
    handlers = {
        "run": partial(run_for_another, services),
        "nothing": lambda _asked, _asker: None,
        "quit": lambda _asked, _asker: end(),
    }
    return AppServer(services.home, handlers)


def make_parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all verbs, with the arguments of the given one only."""
    parser = argparse.ArgumentParser(
        prog="desktop-rag",
        description="Ask your own documents, on your own computer. Without a verb: the window.",
    )
    added_verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    wanted = next((argument for argument in given if not argument.startswith("-")), "")
    if not wanted:
        WINDOW.add_arguments(parser)
    for name, verb in command_verbs().items():
        added = added_verbs.add_parser(name, help=verb.purpose, description=verb.purpose)
        if name == wanted:
            verb.add_arguments(added)
    return parser
