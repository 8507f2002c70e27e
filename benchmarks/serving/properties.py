"""A property tester against the OpenAPI document of the local server.

python benchmarks/serving/properties.py --tester PATH [--examples N] [--seed N]

PATH is the `schemathesis` of an environment of its own (`pip install schemathesis` there): it is no
part of the app. It makes requests that fit the document and requests that don't, and checks that
the server refuses the latter, that responses are as declared, and that nothing is a 500. Adding
links is left out, since it makes the app fetch them. What it says is printed; the last line is
JSON; exit code 1 when a bar is missed.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.bars import Bar, at_most, reported, table
from benchmarks.serving.small_library import LAMP, secret_for, served
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.services import ServerSwitch
from tests.servers.chat_server import ChatServer

# Without those that leave the token out: an address that does so many times is told to wait (429).
_CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,negative_data_rejection,unsupported_method,"
    "allow_header_conformance"
)
_LIMIT_S = 3600


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tester", default="schemathesis")
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    tester = shutil.which(asked.tester)
    if tester is None:
        print("schemathesis is not installed: nothing was measured.")
        sys.exit(0)
    with ChatServer("The lamp is lit [1].") as model, served(LAMP, model.endpoint()) as services:
        secret = secret_for(services, TokenScope.ADMIN)
        report = run(tester, services.wing(ServerSwitch).address, secret, asked)
    requests, faults = counted(report)
    bars: list[Bar] = [
        reported("requests", requests),
        at_most("operations with a fault", 0, len(faults)),
        at_most("faults", 0, sum(faults.values())),
    ]
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


def run(tester: str, address: str, secret: str, asked: argparse.Namespace) -> list[dict[str, Any]]:
    """The events that the tester reports."""
    with TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.ndjson"
        subprocess.run(
            [
                tester, "run", f"{address}/api/openapi.json",
                "--header", f"Authorization: Bearer {secret}",
                "--checks", _CHECKS, "--phases", "examples,coverage,fuzzing",
                "--max-examples", str(asked.examples), "--seed", str(asked.seed),
                "--exclude-operation-id", "add_links", "--generation-allow-x00", "false",
                "--continue-on-failure", "--suppress-health-check", "all", "--no-color",
                "--report", "ndjson", "--report-ndjson-path", str(report),
            ],
            timeout=_LIMIT_S, check=False, cwd=scratch,
        )  # fmt: skip
        return [json.loads(line) for line in report.read_text().splitlines()]


def counted(report: list[dict[str, Any]]) -> tuple[int, Counter[str]]:
    """The number of requests, and of checks that failed, by operation."""
    requests, faults = 0, Counter[str]()
    for line in report:
        recorder = (line.get("ScenarioFinished") or {}).get("recorder") or {}
        requests += len(recorder.get("interactions", {}))
        for checks in recorder.get("checks", {}).values():
            faults[recorder["label"]] += sum(check["status"] == "failure" for check in checks)
    return requests, +faults


if __name__ == "__main__":
    main()
