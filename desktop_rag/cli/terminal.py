"""What the verbs of the command line stand on: the terminal, and the library that they need.

A verb doesn't know where it runs. Where a window, a server or a watcher holds the library, the verb
runs in that process, and reads and prints at the terminal of the one that asked. Results go to
stdout, progress and errors to stderr.
"""

import argparse
import getpass
import json
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from desktop_rag.core.log import start_logging
from desktop_rag.core.paths import find_home
from desktop_rag.running_app import Asker, ask_running_app

if TYPE_CHECKING:
    from desktop_rag.app import Services
    from desktop_rag.core.question_scope import QuestionScope
    from desktop_rag.ingest.library import Library
    from desktop_rag.waiting import Waiting

T = TypeVar("T")

# Control characters, and marks that change the direction of text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SAID_EVERY_S = 15
_BOX = "\N{WHITE SQUARE}"


class RunsElsewhere(Exception):  # noqa: N818  it is no error
    """Another process holds the library and runs this verb: see `running.run_verb`."""


@dataclass(frozen=True, eq=False)
class Terminal:
    """Where a verb reads and prints: here that of this process. Any thread.

    `folder` is where relative paths begin. `services` are those of the process that runs the verb
    for another one. `interrupted` is set when nobody waits for the verb any longer.
    """

    can_type: bool
    is_watched: bool
    folder: Path
    services: "Services | None" = None
    interrupted: Event = field(default_factory=Event)

    def write(self, text: str) -> None:
        """Print a part of the result."""
        sys.stdout.write(text)
        sys.stdout.flush()

    def say(self, text: str) -> None:
        """Print a line of progress or an error."""
        sys.stderr.write(printable(text) + "\n")

    def typed(self, prompt: str = "", *, is_secret: bool = False) -> str:
        """A line that is typed, or read from standard input; EOFError when nobody types one."""
        if not self.can_type:
            return sys.stdin.readline().rstrip("\r\n")
        return (getpass.getpass if is_secret else input)(printable(prompt))

    def go_on(self) -> None:
        """KeyboardInterrupt when nobody waits for the verb any longer."""
        if self.interrupted.is_set():
            raise KeyboardInterrupt

    def request(self, argv: Sequence[str]) -> dict[str, Any]:
        """What another process is sent, so that it runs a verb for this terminal."""
        return {
            "argv": [*argv],
            "can_type": self.can_type,
            "is_watched": self.is_watched,
            "folder": str(self.folder),
        }

    def hear(self, message: Mapping[str, Any]) -> object:
        """Print or read what a verb in another process wants; returns its reply."""
        match message:
            case {"out": str(text)}:
                self.write(text)
            case {"err": str(text)}:
                self.say(text)
            case {"prompt": str(prompt), "is_secret": bool(is_secret)}:
                try:
                    return self.typed(prompt, is_secret=is_secret)
                except EOFError:
                    return None
            case _:
                raise ValueError("not a message")
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class _FarTerminal(Terminal):
    """The terminal of another process, for which this one runs a verb."""

    asker: Asker

    def write(self, text: str) -> None:
        self.asker.tell({"out": text})

    def say(self, text: str) -> None:
        self.asker.tell({"err": text})

    def typed(self, prompt: str = "", *, is_secret: bool = False) -> str:
        line = self.asker.ask({"prompt": prompt, "is_secret": is_secret})
        if not isinstance(line, str):
            raise EOFError
        return line


_far: ContextVar[Terminal | None] = ContextVar("far_terminal", default=None)


def here() -> Terminal:
    """The terminal of the verb that runs on this thread."""
    own = Terminal(sys.stdin.isatty(), sys.stdout.isatty(), Path.cwd())
    return _far.get() or own


@contextmanager
def at_far_terminal(
    services: "Services", asked: Mapping[str, Any], asker: Asker
) -> Generator[None]:
    """Have the verbs on this thread use the services, and the terminal of the one who asks."""
    far = _FarTerminal(
        bool(asked["can_type"]), bool(asked["is_watched"]), Path(str(asked["folder"])), services,
        asker.is_gone, asker=asker,
    )  # fmt: skip
    token = _far.set(far)
    try:
        yield
    finally:
        _far.reset(token)


def running_services() -> "Services | None":
    """The services of the process that runs this verb for another one; None where no process does.

    RunsElsewhere when another process has to run the verb.
    """
    if (services := here().services) is None and ask_running_app(find_home(), "nothing", {})[0]:
        raise RunsElsewhere
    return services


@contextmanager
def open_services() -> "Generator[Services]":
    """The services of the running process, else opened over the person's home until the end.

    RunsElsewhere when another process has to run the verb, AppError when they can't open.
    """
    if services := running_services():
        yield services
        return
    # Imported late: the verbs that reach a running app do without it.
    from desktop_rag.app import build_services

    home = find_home()
    home.create()
    start_logging(home.logs)
    services = build_services(home)
    for notice in services.notices:
        say(f"{notice.title} {notice.hint}")
    services.begin_keeping(lambda notice: say(f"{notice.title} {notice.hint}"))
    try:
        yield services
    finally:
        services.close()


def begin_reading(services: "Services") -> None:
    """Have the files read that wait; a process that runs for longer does so anyway."""
    if here().services is None:
        services.library.start(watch=False)


def waiting_for(library: "Library") -> "Waiting":
    """Waits for the library at this terminal."""
    from desktop_rag.waiting import Waiting

    terminal = here()
    return Waiting(library, terminal.say, terminal.go_on, is_guest=terminal.services is not None)


def path_given(name: str) -> Path:
    """The absolute path of a file that the person named."""
    return here().folder / Path(name).expanduser()


def scope_given(names: "Sequence[str]") -> "QuestionScope":
    """The files and folders of these arguments."""
    from desktop_rag.core.question_scope import QuestionScope, ScopeItem

    paths = [path_given(name).resolve() for name in names]
    return QuestionScope.of(
        *(ScopeItem.of_folder(p) if p.is_dir() else ScopeItem.of_place("", str(p)) for p in paths)
    )


def print_document(document: T, lines: Callable[[T], Sequence[str]], *, as_json: bool) -> None:
    """Print one JSON document, or the `lines` made of it for people."""
    if as_json:
        text = json.dumps(document, ensure_ascii=False)
        text = _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)
    else:
        text = printable("\n".join(lines(document)))
    here().write(text + "\n")


def say(text: str) -> None:
    """Print a line of progress or an error."""
    here().say(text)


@contextmanager
def saying_what_is_waited_for(what: str) -> "Generator[None]":
    """Say from time to time that the block is still under way. It has a thread of its own."""
    is_over, terminal = Event(), here()

    def work() -> None:
        waited_s = 0
        while not is_over.wait(_SAID_EVERY_S):
            waited_s += _SAID_EVERY_S
            terminal.say(f"{what}: {waited_s} s so far.")

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


def add_verb(
    verbs: Any,  # noqa: ANN401  argparse's type is private
    name: str,
    purpose: str,
    brief: str = "",
) -> argparse.ArgumentParser:
    """Add a verb below another one; `brief` is its purpose in the list of all."""
    return verbs.add_parser(name, help=brief or purpose, description=purpose)


def prints(
    parser: argparse.ArgumentParser,
    find: Callable[[argparse.Namespace], T],
    lines: Callable[[T], Sequence[str]],
    *,
    is_ok: Callable[[T], bool] = lambda _: True,
) -> None:
    """Have a verb print what it finds, as `print_document`; it exits with 1 unless that `is_ok`."""

    def run(arguments: argparse.Namespace) -> int:
        found = find(arguments)
        print_document(found, lines, as_json=arguments.json)
        return 0 if is_ok(found) else 1

    parser.set_defaults(run=run)
    add_json(parser)
