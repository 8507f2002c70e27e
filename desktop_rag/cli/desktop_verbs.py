"""The verbs that reach the app on the desktop, and start it where none runs."""

import argparse
from collections.abc import Callable
from typing import Any

from desktop_rag import window_app
from desktop_rag.cli.window import open_window
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import find_home
from desktop_rag.desktop.requests import request_of_verb
from desktop_rag.running_app import ask_running_app

AddVerb = Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]


def add_verbs(verb: AddVerb) -> None:
    """Add them to the command line."""
    added = verb("quick-ask", _quick_ask, "Show the quick ask over everything else.")
    added.add_argument("question", nargs="?", default="", help="put this into its field, unsent")
    text = "ask about the text that is selected in another program"
    added.add_argument("--selection", action="store_true", help=text)
    added = verb("open-url", _open_url, "Open a desktop-rag:// link.")
    added.add_argument("url", metavar="URL")
    verb("quit", _quit, "End the running app.")


def window(arguments: argparse.Namespace) -> int:
    """Raise the window, or open it; with `--background` start without one."""
    home = find_home()
    verb = "nothing" if arguments.background else "raise"
    try:
        is_running, _ = ask_running_app(home, verb, {})
    except AppError as error:
        # Started from a menu, nobody sees stderr.
        return window_app.show_start_error(error)
    return 0 if is_running else open_window(home, is_shown=not arguments.background)


def _quick_ask(arguments: argparse.Namespace) -> int:
    return _reach("quick-ask", {"question": arguments.question, "selection": arguments.selection})


def _open_url(arguments: argparse.Namespace) -> int:
    return _reach("url", {"url": arguments.url})


def _reach(verb: str, asked: dict[str, Any]) -> int:
    """Ask the running app, or start it in the background with this request."""
    request = request_of_verb(verb, asked)
    home = find_home()
    is_running, _ = ask_running_app(home, verb, asked)
    return 0 if is_running else open_window(home, is_shown=False, first_event=request)


def _quit(_: argparse.Namespace) -> int:
    is_running, _result = ask_running_app(find_home(), "quit", {})
    if not is_running:
        raise AppError("The app is not running.", "There is nothing to end.")
    return 0
