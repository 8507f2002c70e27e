"""Requests to the parser process."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.ingest.parsing.protocol import CAN_PASS_FILES, RequestSender


@pytest.mark.skipif(not CAN_PASS_FILES, reason="requests go through a pipe here")
def test_a_process_that_ends_as_soon_as_it_has_read_is_no_fault_of_the_sender(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "a.pdf").touch()
    sender = RequestSender()
    command = [sys.executable, "-c", "import sys; sys.stdin.buffer.read(1)"]
    really_send = socket.send_fds
    with subprocess.Popen(command, stdin=sender.stdin) as process:
        sender.attach(process)

        def send_and_wait(*sent: Any) -> int:
            count = really_send(*sent)
            process.wait()
            return count

        monkeypatch.setattr(socket, "send_fds", send_and_wait)
        descriptor = os.open(file, os.O_RDONLY)
        sender.send(b"{}", descriptor)
        os.close(descriptor)
    sender.close()
