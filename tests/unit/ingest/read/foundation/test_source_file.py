import os
from pathlib import Path

import pytest

from desktop_rag.ingest.read.foundation.source_file import Unreadable, open_source


def refusal(path: Path, max_bytes: int = 1000) -> str:
    with pytest.raises(Unreadable) as caught:
        open_source(path, max_bytes)
    return caught.value.reason


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "Some Notes.TXT"
    path.write_bytes(b"x" * 1000)
    source = open_source(path, 1000)
    assert (source.data, source.suffix, source.stem) == (b"x" * 1000, ".txt", "Some Notes")


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 1001)
    assert refusal(path) == "too large"


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.txt") == "missing"
    assert refusal(tmp_path) in {"not a file", "no access"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_and_a_device_are_refused_without_waiting(tmp_path: Path) -> None:
    path = tmp_path / "pipe.txt"
    os.mkfifo(path)
    assert refusal(path) == "not a file"
    assert refusal(Path("/dev/zero")) == "not a file"
