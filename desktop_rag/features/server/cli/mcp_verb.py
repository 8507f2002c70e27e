"""The verb `mcp`: serves the library to a program that starts it, and enters it in its settings."""

import argparse
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_json, not_empty, open_services, print_document, say
from desktop_rag.core.paths import find_home
from desktop_rag.running_app import ask_running_app


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `mcp`."""
    parser.set_defaults(run=_mcp)
    what = parser.add_mutually_exclusive_group()
    text = "enter this command in the settings of a program, and check it; --list names them"
    what.add_argument("--configure", type=not_empty, metavar="PROGRAM", help=text)
    text = "list the programs that can be configured, and what they know of this command"
    what.add_argument("--list", action="store_true", help=text)
    add_json(parser)


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handler of this verb in the running app; arguments come from another process."""
    return {"mcp": _answer}


def _answer(services: app.Services, asked: dict[str, Any]) -> Any:  # noqa: ANN401  JSON
    from desktop_rag.features.server.mcp_server.library_mcp import answer_call

    return answer_call(services.chat, services.library, asked["call"], asked["arguments"])


def _mcp(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list_programs(as_json=arguments.json)
    if arguments.configure:
        return _configure(arguments.configure, as_json=arguments.json)
    from desktop_rag.features.server.mcp_server.library_mcp import serve_stdio

    with ExitStack() as opened:
        serve_stdio(_Reaching(opened).run)
    return 0


def _list_programs(*, as_json: bool) -> int:
    from desktop_rag.features.server.mcp_programs.program_setup import ProgramSetup

    rows = [
        {
            "name": found.program.name,
            "title": found.program.title,
            "state": found.state.value,
            "file": str(found.path),
            "fault": found.fault,
        }
        for found in ProgramSetup().look()
    ]
    print_document(
        rows,
        lambda listed: [f"{r['name']:<10}{r['state']:<15}{r['file']}" for r in listed],
        as_json=as_json,
    )
    return 0


def _configure(name: str, *, as_json: bool) -> int:
    from desktop_rag.features.server.mcp_programs.program_setup import ProgramSetup

    done = ProgramSetup().set_up(name)
    shown = {
        "title": done.title,
        "file": str(done.path),
        "backup": str(done.backup or ""),
        "changed": done.is_changed,
        "tools": list(done.tools),
    }
    kept = [f"Its former text is in {done.backup}."] if done.backup else []
    lines = [
        f"{done.path} {'was written' if done.is_changed else 'is right already'}.",
        *kept,
        f"The command answers with {', '.join(done.tools)}. {done.restart}",
    ]
    print_document(shown, lambda _: lines, as_json=as_json)
    return 0


class _Reaching:
    """Reaches the running app; where none runs, opens the library here, once."""

    def __init__(self, opened: ExitStack) -> None:
        self._opened = opened
        self._services: app.Services | None = None
        self._lock = threading.Lock()

    def run(self, call: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The result of a call. AppError when the library can't be reached."""
        asked = {"call": call, "arguments": arguments}
        with self._lock:
            if self._services is None:
                is_answered, result = ask_running_app(find_home(), "mcp", asked)
                if is_answered:
                    return result
                say("No app is running: the library is opened here.")
                self._services = self._opened.enter_context(open_services())
                self._services.library.start()
        return _answer(self._services, asked)
