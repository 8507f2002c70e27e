"""What the system refuses is told with where, why, and what to do about it."""

import errno
import os
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError, os_error_as

WHERE = Path("notes") / "tax.md"
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(WHERE))


def told(error: OSError, title: str, *where: str) -> AppError:
    with pytest.raises(AppError) as raised, os_error_as(title, *where):
        raise error
    assert raised.value.__cause__ is error
    return raised.value


def test_a_full_disk_is_told_with_its_file_and_a_way_out() -> None:
    error = told(FULL, "The note could not be written.")
    assert error.title == "The note could not be written."
    assert error.hint == f"{WHERE}: {os.strerror(errno.ENOSPC)}. Free some space."


def test_a_file_is_named_once() -> None:
    assert str(WHERE) not in told(FULL, f"{WHERE} can't be written.").hint


def test_a_refusal_that_is_none_of_the_disk_gives_the_way_out_of_the_caller() -> None:
    error = told(OSError(errno.ENOENT, "gone"), "It could not be exported.", str(WHERE))
    assert error.hint == f"{WHERE}: gone."
    error = told(FULL, "It could not be exported.", "there", "Choose another location.")
    assert error.hint.endswith(". Choose another location.")


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_bytes(b"\xff")
    with pytest.raises(AppError, match="UTF-8"), os_error_as("It can't be read."):
        file.read_text(encoding="utf-8")
