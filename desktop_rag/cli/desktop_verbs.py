"""The verbs that reach the app on the desktop, and start it where none runs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop_rag.cli.terminal import add_json, print_document
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home, find_home, resources_dir
from desktop_rag.desktop.entries import desktop_entries
from desktop_rag.desktop.entries.desktop_entries import ICON_SIZES_PX
from desktop_rag.desktop.launching import check_qt_libraries
from desktop_rag.desktop.requests import DesktopRequest, request_of_verb
from desktop_rag.running_app import ask_running_app

if TYPE_CHECKING:
    from desktop_rag.app import RunVerb


def open_window(
    home: Home,
    *,
    starts_demo: bool = False,
    is_shown: bool = True,
    first_event: DesktopRequest | None = None,
) -> int:
    """Run the app over the home until the person quits; returns the exit code. Qt thread."""
    check_qt_libraries()
    # Imported late: the verbs that reach a running app do without Qt.
    from desktop_rag.ui.foundation.module_sources import leave_sources_unread

    leave_sources_unread()
    from desktop_rag.ui.foundation.window_language import choose_language

    settings, _ = load_settings(home.settings)
    language = choose_language(resources_dir() / "words", settings.appearance.language)
    # Imported after that: constants are translated when their modules are imported.
    from desktop_rag.window_start import run_window

    return run_window(
        home, _load_verbs, language,
        starts_demo=starts_demo, is_shown=is_shown, first_event=first_event,
    )  # fmt: skip


def _load_verbs() -> "RunVerb":
    from desktop_rag.cli.running import run_for_another

    return run_for_another


def add_window(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the app without a verb."""
    parser.set_defaults(run=lambda arguments: window(is_shown=not arguments.background))
    text = "start in the background, without the window"
    parser.add_argument("--background", action="store_true", help=text)


def add_quick_ask(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `quick-ask`."""
    parser.set_defaults(run=_quick_ask)
    text = "put this into its field, unsent"
    parser.add_argument("question", nargs="?", default="", help=text)
    text = "ask about the text that is selected in another program"
    parser.add_argument("--selection", action="store_true", help=text)
    text = "ask about these files and folders only"
    parser.add_argument("--about", nargs="+", default=[], metavar="PATH", help=text)
    add_json(parser)


def add_open_url(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `open-url`."""
    parser.set_defaults(run=_open_url)
    # A menu starts the app by the same line as a link, and then has none.
    parser.add_argument("url", metavar="URL", nargs="?", default="")
    add_json(parser)


def add_desktop_entries(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `desktop-entries`."""
    parser.set_defaults(run=_entries)
    parser.add_argument("action", choices=["install", "remove"])
    add_json(parser)


def add_quit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `quit`."""
    parser.set_defaults(run=_quit)
    add_json(parser)


def window(*, is_shown: bool) -> int:
    """Raise the window, or open it; without `is_shown` start in the background."""
    home = find_home()
    verb = "raise" if is_shown else "nothing"
    try:
        is_running, _ = ask_running_app(home, verb, {})
    except AppError as error:
        # Started from a menu, nobody sees stderr.
        from desktop_rag.window_start import show_start_error

        return show_start_error(error)
    return 0 if is_running else open_window(home, is_shown=is_shown)


def _quick_ask(arguments: argparse.Namespace) -> int:
    asked: dict[str, Any] = {"question": arguments.question, "selection": arguments.selection}
    # The app that shows it may run in another folder.
    asked["about"] = [str(Path(name).expanduser().absolute()) for name in arguments.about]
    return _reach("quick-ask", asked)


def _open_url(arguments: argparse.Namespace) -> int:
    if not arguments.url:
        return window(is_shown=True)
    return _reach("url", {"url": arguments.url})


def _reach(verb: str, asked: dict[str, Any]) -> int:
    """Ask the running app, or start it in the background with this request."""
    request = request_of_verb(verb, asked)
    home = find_home()
    is_running, _ = ask_running_app(home, verb, asked)
    return 0 if is_running else open_window(home, is_shown=False, first_event=request)


def _entries(arguments: argparse.Namespace) -> int:
    # Qt draws the icon, and may be incomplete on a computer without a screen.
    from desktop_rag.ui.tray.app_icon import drawing_path, icon_pngs

    drawing = drawing_path(resources_dir())
    change = desktop_entries.install if arguments.action == "install" else desktop_entries.remove
    changed = change(drawing.read_bytes(), icon_pngs(drawing, ICON_SIZES_PX))
    print_document({arguments.action: changed}, lambda _: changed, as_json=arguments.json)
    return 0


def _quit(_: argparse.Namespace) -> int:
    is_running, _result = ask_running_app(find_home(), "quit", {})
    if not is_running:
        raise AppError("The app is not running.", "There is nothing to end.")
    return 0
