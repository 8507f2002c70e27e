"""Opens the services over the home, and prints output, for the verbs of the command line.

Results go to stdout, progress and errors to stderr.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

from desktop_rag.core.log import start_logging
from desktop_rag.core.paths import find_home

if TYPE_CHECKING:
    from desktop_rag.app import Services

T = TypeVar("T")

# Control characters, and marks that change the direction of text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SAID_EVERY_S = 15
_BOX = "\N{WHITE SQUARE}"


@contextmanager
def open_services() -> "Generator[Services]":
    """The services over the person's home, closed at the end; AppError when they can't open."""
    # Imported late: the verbs that reach a running app do without it.
    from desktop_rag.app import build_services

    home = find_home()
    home.create()
    start_logging(home.logs)
    services = build_services(home)
    for notice in services.notices:
        say(f"{notice.title} {notice.hint}")
    services.snapshots.start(lambda notice: say(f"{notice.title} {notice.hint}"))
    try:
        yield services
    finally:
        services.close()


def print_document(document: T, lines: Callable[[T], Sequence[str]], *, as_json: bool) -> None:
    """Print one JSON document, or the `lines` made of it for people."""
    if as_json:
        text = json.dumps(document, ensure_ascii=False)
        text = _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)
    else:
        text = printable("\n".join(lines(document)))
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Print a line of progress or an error."""
    sys.stderr.write(printable(text) + "\n")


@contextmanager
def saying_what_is_waited_for(what: str) -> "Generator[None]":
    """Say from time to time that the block is still under way. It has a thread of its own."""
    is_over = Event()

    def work() -> None:
        waited_s = 0
        while not is_over.wait(_SAID_EVERY_S):
            waited_s += _SAID_EVERY_S
            say(f"{what}: {waited_s} s so far.")

    thread = Thread(target=work, name="terminal-wait", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def printable(text: str) -> str:
    """Text of documents, models and names, with control characters as boxes."""
    return _CONTROLS.sub(_BOX, text.replace("\r\n", "\n"))


# Arguments of the command line; wrong values are wrong usage.


def not_empty(text: str) -> str:
    """A text with something in it."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option that every verb with a result has."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
