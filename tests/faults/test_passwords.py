"""A password of a file goes from the prompt to the parser process, and nowhere else.

The command runs under strace, which sees arguments, environments and all that is written.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from desktop_rag.core.paths import Home
from tests.command_line import run_json, settled
from tests.locked_files import locked_docx, locked_pdf

pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
    pytest.mark.timeout(120),
]

# In ASCII, as strace prints it.
CANARY = "canary-5be1-sesame"
_WRITING = "execve,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg,rename,openat"
_TO_THE_PARSER = re.compile(r"\bsend(to|msg)\(\d+<(socket:|UNIX)")


@pytest.mark.parametrize("name", ["lease.pdf", "lease.docx"])
def test_a_password_reaches_the_parser_process_only(home: Home, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    locked = locked_pdf if name.endswith(".pdf") else locked_docx
    (folder / name).write_bytes(locked("The tenant pays in June.", CANARY))
    run_json("index", str(settled(folder)))
    log = tmp_path / "strace.log"
    watching = ["-f", "-v", "-y", "-qq", "-s", "1000000", "-e", f"trace={_WRITING}", "-o", str(log)]
    verb = ["-m", "desktop_rag", "password", str(folder / name), "--keep", "--json"]
    done = subprocess.run(
        ["strace", *watching, sys.executable, *verb],
        input=f"{CANARY}\n", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert '"state": "searchable' in done.stdout, done.stderr
    assert CANARY not in done.stdout + done.stderr
    carrying = [line for line in log.read_text(errors="replace").splitlines() if "canary" in line]
    assert carrying, "the trace sees the way to the parser process"
    assert [line for line in carrying if not _TO_THE_PARSER.search(line)] == []
    files = [path for path in home.root.rglob("*") if path.is_file()]
    assert [path for path in files if b"canary" in path.read_bytes()] == []
