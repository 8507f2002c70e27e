"""R-21: calls of Qt that give away a reference to None or True, as one version of PySide6 did."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None and True are immortal since 3.12")
def test_r21_no_call_of_qt_gives_away_none_or_true() -> None:
    command = [sys.executable, "-m", "tests.faults.qt_calls"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, lost = done.stdout.split(" ", 1)
    assert int(count) >= 30
    assert lost == "{}"
