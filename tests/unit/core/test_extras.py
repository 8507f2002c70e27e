"""The command that adds what an extra needs is one that works where the app runs."""

import shlex
import subprocess
import sys

import pytest

from desktop_rag.core.extras import way_to_install

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="quotes of another shell")


def test_the_command_names_this_python_and_what_the_extra_requires() -> None:
    command = shlex.split(way_to_install("ocr").removeprefix("In a terminal: "))
    assert command[0] == sys.executable
    # Installed for tests, so that nothing is fetched.
    result = subprocess.run([*command, "--no-index"], check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert command[-1].startswith("rapidocr")


def test_a_package_names_the_source_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert "source folder: pipx install '.[ocr]'" in way_to_install("ocr")
