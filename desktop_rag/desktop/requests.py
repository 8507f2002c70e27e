"""Requests of the desktop and of other processes to the running app. Frozen values; any thread."""

from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import cast
from urllib.parse import parse_qs, urlsplit

from desktop_rag.core.errors import AppError
from desktop_rag.desktop.launching import URL_SCHEME

_MAX_TEXT = 4_000
_MAX_PATHS = 100


@dataclass(frozen=True, slots=True, eq=False)
class RequestHandled:
    """Posted after a request; handled once the request has been."""

    handled: Event = field(default_factory=Event)


@dataclass(frozen=True, slots=True)
class WindowRequested:
    """A request to raise the window with this question in the composer, unsent."""

    question: str = ""


@dataclass(frozen=True, slots=True)
class QuickAskRequested:
    """A request for the popup with this question, unsent.

    With `takes_selection` it includes the text selected in another program. `about` are the files
    and folders that the question is about.
    """

    question: str = ""
    takes_selection: bool = False
    about: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageRequested:
    """A request to show characters [start, end) of a document in the library."""

    document_id: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class QuitRequested:
    """A request to end the app."""


DesktopRequest = WindowRequested | QuickAskRequested | PassageRequested | QuitRequested


def request_of_url(url: str) -> DesktopRequest:
    """The request in `desktop-rag://ask?q=…` or `desktop-rag://open?document=…&start=…&end=…`.

    Any web page can offer such a link: a question is shown and never sent by itself, and only what
    is in the library is opened. AppError for anything else.
    """
    try:
        parts = urlsplit(url)
        given = {key: values[-1] for key, values in parse_qs(parts.query, max_num_fields=8).items()}
        if parts.scheme == URL_SCHEME and parts.netloc == "ask":
            return QuickAskRequested(_text(given.get("q", "")))
        if parts.scheme == URL_SCHEME and parts.netloc == "open" and given.get("document"):
            start = max(0, int(given.get("start", "0")))
            return PassageRequested(
                _text(given["document"]), start, max(start, int(given.get("end", str(start))))
            )
    except ValueError:
        pass
    raise AppError(
        "This link is not one of desktop-rag.",
        "It understands desktop-rag://ask?q=QUESTION and desktop-rag://open?document=ID.",
    )


def request_of_verb(verb: str, arguments: dict[str, object]) -> DesktopRequest:
    """The request that another process sent through the app's socket."""
    match verb:
        case "url":
            return request_of_url(str(arguments.get("url", "")))
        case "quick-ask":
            question = _text(str(arguments.get("question", "")))
            about = _paths(arguments.get("about"))
            return QuickAskRequested(question, bool(arguments.get("selection")), about)
        case "popup":
            return WindowRequested(str(arguments.get("question", "")))
        case "quit":
            return QuitRequested()
        case _:
            return WindowRequested()


def _paths(names: object) -> tuple[Path, ...]:
    """The absolute paths among these. Links of web pages have none: they can name no file."""
    given = cast("list[object]", names) if isinstance(names, list) else []
    paths = [
        Path(name) for name in given[:_MAX_PATHS] if isinstance(name, str) and "\0" not in name
    ]
    return tuple(path for path in paths if path.is_absolute())


def _text(text: str) -> str:
    """At most a few pages, without unprintable characters."""
    return "".join(c for c in text[:_MAX_TEXT] if c.isprintable() or c in "\n\t")
