"""`desktop-rag copy`: an indexed library goes to another home and answers there."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from desktop_rag import app
from desktop_rag.core.paths import HOME_VARIABLE, Home
from tests.command_line import answering, run, run_json, settled

pytestmark = pytest.mark.needs_wings("backup")

QUESTION = "When is the lamp lit?"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk.\n", encoding="utf-8")
    (folder / "öl.md").write_text("# Öl\n\nDie Lampe brennt mit Öl.\n", encoding="utf-8")
    run_json("index", str(settled(folder)))
    run_json("ask", QUESTION)
    return folder


@pytest.mark.slow
def test_the_copy_answers_without_reading_the_files(
    home: Home, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run_json("copy", "--from", "duckdb", "--to", str(tmp_path / "other"))
    assert (done["documents"], done["passages"], done["left_out"]) == (2, 2, [])
    assert done["vectors"] >= 2
    shutil.rmtree(documents)
    before = run_json("search", "lamp at dusk")
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "other"))
    assert run_json("search", "lamp at dusk") == before
    again = run("copy", "--from", str(home.root), "--to", "duckdb")
    assert "In both libraries alike: 2 documents, 2 passages" in again.stdout


@pytest.mark.slow
def test_a_library_is_not_copied_into_itself(home: Home, documents: Path) -> None:
    refused = run("copy", "--from", "duckdb", "--to", str(home.root))
    assert (refused.returncode, "copied into itself" in refused.stderr) == (1, True)


@pytest.mark.slow
def test_an_open_library_is_copied_but_not_written(
    build_services: Callable[[], app.Services], home: Home, documents: Path, tmp_path: Path
) -> None:
    other = str(tmp_path / "other")
    with closing(build_services()) as services, answering(services):
        services.library.collections.add("Work")
        copied = run("copy", "--from", "duckdb", "--to", other)
        refused = run("copy", "--from", other, "--to", "duckdb")
    assert copied.returncode == 0, copied.stderr
    assert (refused.returncode, "desktop-rag quit" in refused.stderr) == (1, True)


def test_a_folder_without_a_library_is_no_source(home: Home, tmp_path: Path) -> None:
    refused = run("copy", "--from", str(tmp_path / "nothing"), "--to", "duckdb")
    assert "There is no library" in refused.stderr
    assert not (tmp_path / "nothing").exists()
