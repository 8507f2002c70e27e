"""The verb `mcp`: serves the library to a program that starts it, and enters it in its settings."""

import argparse
import json
import threading
from contextlib import ExitStack, closing
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_json, here, not_empty, open_services, print_document, say
from desktop_rag.core.errors import AppError
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
    what.add_argument("--call", nargs=2, metavar=("TOOL", "JSON"), help=argparse.SUPPRESS)
    add_json(parser)


def _mcp(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list_programs(as_json=arguments.json)
    if arguments.configure:
        return _configure(arguments.configure, as_json=arguments.json)
    from desktop_rag.features.server.mcp_server.library_mcp import answer_call, serve_stdio

    if arguments.call:
        with open_services() as services:
            tool, given = arguments.call
            result = answer_call(services.chat, services.library, tool, json.loads(given))
        print_document(result, lambda _: [], as_json=True)
        return 0

    with ExitStack() as opened:
        serve_stdio(_Reaching(opened).run)
    return 0


def _list_programs(*, as_json: bool) -> int:
    from desktop_rag.features.server.mcp_programs.program_setup import ProgramFiles

    rows = [
        {
            "name": found.program.name,
            "title": found.program.title,
            "state": found.state.value,
            "file": str(found.path),
            "fault": found.fault,
        }
        for found in ProgramFiles().look_at_all()
    ]
    print_document(
        rows,
        lambda listed: [f"{r['name']:<10}{r['state']:<15}{r['file']}" for r in listed],
        as_json=as_json,
    )
    return 0


def _configure(name: str, *, as_json: bool) -> int:
    from desktop_rag.features.server.mcp_programs.program_setup import ProgramFiles

    done = ProgramFiles().set_up(name)
    written = done.written
    shown = {
        "title": done.program.title,
        "file": str(written.path),
        "backup": str(written.backup or ""),
        "changed": written.is_changed,
        "tools": list(done.tools),
    }
    kept = [f"Its former text is in {written.backup}."] if written.backup else []
    lines = [
        f"{written.path} {'was written' if written.is_changed else 'is right already'}.",
        *kept,
        f"The command answers with {', '.join(done.tools)}. {done.program.restart}",
    ]
    print_document(shown, lambda _: lines, as_json=as_json)
    return 0


class _Reaching:
    """Has the process that holds the library answer; where none does, opens it here, once."""

    def __init__(self, opened: ExitStack) -> None:
        self._opened = opened
        self._services: app.Services | None = None
        self._lock = threading.Lock()

    def run(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The result of a call. AppError when the library can't be reached."""
        from desktop_rag.cli.running import in_turn
        from desktop_rag.features.server.mcp_server.library_mcp import answer_call

        def run_here() -> dict[str, Any]:
            services = self._open()
            return answer_call(services.chat, services.library, tool, arguments)

        return in_turn(run_here, lambda: _answered_elsewhere(tool, arguments))

    def _open(self) -> app.Services:
        from desktop_rag.cli.running import answer_others

        with self._lock:
            if self._services is None:
                self._services = self._opened.enter_context(open_services())
                say("No app is running: the library is opened here.")
                self._services.library.start()
                others = answer_others(self._services, _refuse_to_end)
                self._opened.enter_context(closing(others))
            return self._services


def _answered_elsewhere(tool: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    """True and the result of a call in the process that holds the library, if it answers."""
    printed: list[str] = []
    request = here().request(["mcp", "--call", tool, json.dumps(arguments)])
    is_answered, _ = ask_running_app(
        find_home(), "run", request, hear=lambda told: printed.append(told.get("out", ""))
    )
    return is_answered, json.loads("".join(printed)) if is_answered else {}


def _refuse_to_end() -> None:
    raise AppError("A program uses the library over MCP.", "End that program.")
