"""The conformance tests of the Model Context Protocol against `/mcp` of the local server.

python benchmarks/serving/conformance.py [--package VERSION]

npx runs the npm package @modelcontextprotocol/conformance, with a Node that is new enough for it;
without npx it says so and measures nothing. Its client has no token, so a small proxy adds one.
The library has the prompts that two scenarios ask for; scenarios about tools and features that the
library doesn't have are listed below with the reason. Prints a table and, on the last line, JSON;
exit code 1 when a bar is missed.
"""

import argparse
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.bars import Bar, at_most, reported, table
from benchmarks.serving.small_library import LAMP, secret_for, served
from desktop_rag.core.assistant import SavedPrompt
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.services import ServerSwitch

_PACKAGE = "@modelcontextprotocol/conformance"
# Knows the specification of 2026-07-28 and those before.
_VERSION = "0.2.0-alpha.12"
_NODE = "node@22"
_LIMIT_S = 900
_PROMPTS = {
    "test_simple_prompt": "This is a simple prompt for testing.",
    "test_prompt_with_arguments": "Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'",
}
_OF_TEST_SERVER = "calls a tool or reads a resource of the project's own test server"
_ASKS_CLIENT = "the tools ask the client for nothing: no sampling, elicitation or roots"
_NOT_OFFERED = "not offered, and not declared as a capability"
# Scenarios or single checks, and why they say nothing about this server.
NOT_APPLICABLE = {
    "completion-complete": _NOT_OFFERED,
    "elicitation-": _ASKS_CLIENT,
    "http-custom-header-server-validation": "no tool takes an argument from a header",
    "input-required-result-": _ASKS_CLIENT,
    "json-schema-2020-12": _OF_TEST_SERVER,
    "logging-set-level": _NOT_OFFERED,
    "prompts-get-embedded-resource": "saved prompts are text",
    "prompts-get-with-image": "saved prompts are text",
    "resources-read-": _OF_TEST_SERVER,
    "resources-subscribe": _NOT_OFFERED,
    "resources-templates-read": _OF_TEST_SERVER,
    "resources-unsubscribe": _NOT_OFFERED,
    "sep-2575-http-server-no-independent-requests-on-stream": _OF_TEST_SERVER,
    "sep-2575-missing-capability-http-400": _OF_TEST_SERVER,
    "sep-2575-server-no-log-without-loglevel": _OF_TEST_SERVER,
    "sep-2575-server-rejects-undeclared-capability": _OF_TEST_SERVER,
    "server-sse-polling": "streams are not resumed: a call ends with its connection",
    "tasks-": _NOT_OFFERED,
    "tools-call-": _OF_TEST_SERVER,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a scenario."""

    scenario: str
    name: str
    status: str
    said: str

    @property
    def is_failure(self) -> bool:
        """True for a violation."""
        return self.status == "FAILURE"

    @property
    def is_wire(self) -> bool:
        """True for the check of all messages against the schema of the protocol."""
        return self.name.startswith("wire-schema")

    @property
    def reason(self) -> str:
        """Why it doesn't apply; "" when it does. Messages have to be right in every scenario."""
        if self.is_wire:
            return ""
        return next(
            (why for start, why in NOT_APPLICABLE.items() if start in _starts(self, start)), ""
        )


def _starts(check: Check, start: str) -> Iterable[str]:
    return (each[: len(start)] for each in (check.scenario, check.name))


def main() -> None:
    """Run the scenarios and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", default=_VERSION, metavar="VERSION")
    arguments = parser.parse_args()
    if shutil.which("npx") is None:
        print("Skipped: npx, which runs the conformance tests, is not installed.")
        return
    nowhere = EndpointSettings()
    with served(LAMP, nowhere) as services, TemporaryDirectory() as results:
        for name, text in _PROMPTS.items():
            services.chat.prompts.save(SavedPrompt(name, text))
        secret = secret_for(services, TokenScope.ADMIN)
        with authorising(services.wing(ServerSwitch).address, secret) as address:
            run(arguments.package, f"{address}/mcp", Path(results))
        checks = sorted(read(Path(results)), key=lambda check: (check.scenario, check.name))
    if not checks:
        print("Skipped: the package could not be fetched or started.")
        return
    for check in checks:
        if check.is_failure:
            print(f"{check.scenario} · {check.name}: {check.reason or 'VIOLATION ' + check.said}")
    bars = list(measured(checks))
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


def measured(checks: list[Check]) -> list[Bar]:
    """The figures with their limits."""
    wire = [check for check in checks if check.is_wire]
    rebinding = [c for c in checks if c.scenario == "dns-rebinding-protection"]
    applying = [check for check in checks if not check.reason]
    return [
        reported("checks that apply", len(applying)),
        at_most("violations among them", 0, sum(check.is_failure for check in applying)),
        reported("scenarios whose messages were checked against the schema", len(wire)),
        at_most("violations of the schema", 0, sum(check.is_failure for check in wire)),
        at_most("violations of DNS-rebinding protection", 0 if rebinding else -1,
                sum(check.is_failure for check in rebinding)),
        reported("scenarios with checks that don't apply",
                 len({check.scenario for check in checks if check.reason})),
    ]  # fmt: skip


def run(version: str, address: str, results: Path) -> None:
    """Run all scenarios; each writes its checks into a folder below `results`."""
    command = [
        "npx", "--yes", "-p", _NODE, "-p", f"{_PACKAGE}@{version}", "conformance", "server",
        "--url", address, "--suite", "all", "--output-dir", str(results),
    ]  # fmt: skip
    subprocess.run(command, cwd=results, check=False, timeout=_LIMIT_S, stdout=subprocess.DEVNULL)


def read(results: Path) -> list[Check]:
    """All checks that were written."""
    found: list[Check] = []
    for path in results.glob("*/checks.json"):
        scenario = path.parent.name.removeprefix("server-")
        # The name of a folder ends with the time.
        scenario = scenario.rpartition("T")[0].rsplit("-", 3)[0]
        rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
        found += [
            Check(scenario, row["id"], row["status"], str(row.get("errorMessage") or ""))
            for row in rows
        ]
    return found


@contextmanager
def authorising(address: str, secret: str) -> Generator[str]:
    """The address of a proxy that adds the token. Hosts and origins pass as they are, but for its
    own, which becomes the server's.
    """
    host = address.removeprefix("http://")

    class Proxy(BaseHTTPRequestHandler):
        def _pass(self) -> None:
            own = f":{proxy.server_port}"
            theirs = host[host.rindex(":") :]
            headers = {name: value.replace(own, theirs) for name, value in self.headers.items()}
            headers |= {"Authorization": f"Bearer {secret}", "Connection": "close"}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = HTTPConnection(host, timeout=60)
            asked.request(self.command, self.path, body, headers)
            answer = asked.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            while part := answer.read1(65_536):
                self.wfile.write(part)
                self.wfile.flush()

        do_GET = do_POST = do_DELETE = do_OPTIONS = _pass  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing is printed."""

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}"
    finally:
        proxy.shutdown()


if __name__ == "__main__":
    main()
