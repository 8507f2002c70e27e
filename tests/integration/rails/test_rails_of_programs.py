"""The example of docs/rails-api.md, over the first folder of docs/rails.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
DOCS = Path(__file__).resolve().parents[3] / "docs"
_BY_ACTION = """
define user ask for the hours
  "How long are you open?"

define flow
  user ask for the hours
  $cost = execute price(kind="child")
  bot tell the hours
  bot "A child pays $cost, $visitor."
"""


def first_block(page: str, kind: str) -> str:
    found = re.search(rf"^```{kind}\n(.*?)^```", (DOCS / page).read_text("utf-8"), re.M | re.S)
    assert found
    return found[1]


def test_the_example_runs(tmp_path: Path) -> None:
    folder = tmp_path / "tickets"
    folder.mkdir()
    (folder / "tickets.co").write_text(first_block("rails.md", ""), "utf-8")
    (folder / "hours.co").write_text(_BY_ACTION, "utf-8")
    command = [sys.executable, "-c", first_block("rails-api.md", "python")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "user: How much is a ticket?",
        "bot: A ticket costs three euros.",
        "user: How long are you open?",
        "bot: It is open until six [1].",
        "bot: A child pays one euro, Ada.",
    ], done.stderr
