"""`desktop-rag demo`: the main job on the documents in resources/demo, with no endpoint.

Where there is a display the window opens and asks the first question as soon as the words are
searchable; elsewhere the same happens in the terminal. The demo has a home of its own.
"""

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path

from desktop_rag import app
from desktop_rag.cli import output
from desktop_rag.cli.desktop_verbs import open_window
from desktop_rag.cli.question_verbs import Asked, ask
from desktop_rag.cli.terminal import say
from desktop_rag.core.paths import Home, find_home
from desktop_rag.demo_library import add_demo
from desktop_rag.waiting import Waiting


def add_demo_verb(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `demo`."""
    parser.set_defaults(run=_demo)
    parser.add_argument("--terminal", action="store_true", help="without a window")


def _demo(arguments: argparse.Namespace) -> int:
    home = demo_home()
    if arguments.terminal or not has_display():
        return _run_in_terminal(home)
    return open_window(home, starts_demo=True)


def demo_home() -> Home:
    """The home of the demo, next to the person's own, so that libraries and settings never mix."""
    home = find_home()
    return Home(home.root.with_name(home.root.name + "-demo"))


def has_display() -> bool:
    """True when a window can be shown."""
    if sys.platform in {"win32", "darwin"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def own_command() -> str:
    """What starts the app in this terminal: its name where that is found, else its place."""
    name = "desktop-rag"
    beside = Path(sys.executable).parent / name
    if shutil.which(name):
        return name
    if not beside.is_file():
        return shlex.join([sys.executable, "-m", "desktop_rag"])
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))


def _run_in_terminal(home: Home) -> int:
    services = app.build_services(home)
    try:
        sys.stdout.write("Indexing the demo library …\n")
        with Waiting(services.library, say) as waiting:
            services.library.start(watch=False)
            question = add_demo(services.library)
            waiting.until_idle()
        answer = ask(services, Asked(question))
    finally:
        services.close()
    lines = [f"\n? {question}\n", *output.answer_lines(answer)]
    sys.stdout.write("\n".join([*lines, "", *next_commands()]) + "\n")
    return 0


def next_commands() -> list[str]:
    """What to type after the demo: its library and the person's own have homes of their own."""
    command = own_command()
    return [
        f'Ask your own: {command} index FOLDER, then {command} ask "QUESTION"',
        f"The window with your own library: {command}",
        f"The window with the demo, where there is a display: {command} demo",
    ]
