"""The verb `mcp`: the library for programs that start a command, such as Claude Desktop."""

import argparse
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import open_services, say
from desktop_rag.core.paths import find_home
from desktop_rag.running_app import ask_running_app


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `mcp`."""
    parser.set_defaults(run=_mcp)


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handler of this verb in the running app; arguments come from another process."""
    return {"mcp": _answer}


def _answer(services: app.Services, asked: dict[str, Any]) -> Any:  # noqa: ANN401  JSON
    from desktop_rag.serve.mcp_server.mcp_over_stdio import answer_call

    return answer_call(services.chat, services.library, asked["call"], asked["arguments"])


def _mcp(_arguments: argparse.Namespace) -> int:
    from desktop_rag.serve.mcp_server.mcp_over_stdio import serve_stdio

    with ExitStack() as opened:
        serve_stdio(_Reaching(opened).run)
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
