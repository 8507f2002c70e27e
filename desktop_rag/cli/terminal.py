"""What the verbs of the command line share: open services over the home, and printed output.

Results go to stdout, progress and errors to stderr.
"""

import json
import re
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from desktop_rag import app
from desktop_rag.core.log import start_logging
from desktop_rag.core.paths import find_home

T = TypeVar("T")

# What a terminal would obey, or what turns the order of reading.
_ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BOX = "\N{WHITE SQUARE}"


@contextmanager
def open_services() -> Generator[app.Services]:
    """The services over the person's home, closed at the end; AppError when they can't open."""
    home = find_home()
    home.create()
    start_logging(home.logs)
    services = app.build_services(home)
    for notice in services.notices:
        say(f"{notice.title} {notice.hint}")
    try:
        yield services
    finally:
        services.close()


def print_document(document: T, lines: Callable[[T], Sequence[str]], *, as_json: bool) -> None:
    """One JSON document, or what `lines` makes of it for people."""
    if as_json:
        text = json.dumps(document, ensure_ascii=False)
        text = _ORDERS.sub(lambda order: f"\\u{ord(order[0]):04x}", text)
    else:
        text = _harmless("\n".join(lines(document)))
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """A line of progress, or of what went wrong."""
    sys.stderr.write(_harmless(text) + "\n")


def _harmless(text: str) -> str:
    """Text of documents, models and names, with what is no text as boxes."""
    return _ORDERS.sub(_BOX, text.replace("\r\n", "\n"))
