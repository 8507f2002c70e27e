import sys
from pathlib import Path

import pytest

from desktop_rag.ingest.parsing.sandbox.confinement import ReadablePaths, readable_paths


def test_the_home_folder_is_not_readable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}:{tmp_path.parent}:{tmp_path / 'libraries'}")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "libraries").mkdir()
    paths = readable_paths().readable
    assert tmp_path.resolve() / "libraries" in paths
    assert not any(tmp_path.resolve().is_relative_to(path) for path in paths)


def test_libraries_that_are_links_to_elsewhere_are_noticed(tmp_path: Path) -> None:
    assert readable_paths().hold_libraries
    assert not ReadablePaths((tmp_path,), ()).hold_libraries


def test_a_frozen_program_can_read_its_modules_in_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (program := tmp_path / "desktop-rag").touch()
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert program.resolve() in readable_paths().readable
