"""The command line as other programs call it: a process, its exit code, one JSON document."""

import json
import subprocess
import sys
from typing import Any


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What became of `desktop-rag` with these arguments."""
    command = [sys.executable, "-m", "desktop_rag", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)


def run_json(*arguments: str) -> Any:
    """The document that it printed."""
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
