"""`desktop-rag backup`: export, import, list and restore, alone and through the running app."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag import app
from desktop_rag.core.paths import HOME_VARIABLE, Home
from tests.command_line import answering, run, run_json, settled

pytestmark = pytest.mark.needs_wings("backup")

Build = Callable[[], app.Services]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk.\n", encoding="utf-8")
    return settled(folder)


@pytest.fixture
def filled(home: Home, documents: Path) -> Home:
    """A home with an indexed folder and a chat."""
    run_json("index", str(documents))
    run_json("ask", "When is the lamp lit?")
    return home


def move_to(name: str, home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Another, empty home from now on, as on another computer."""
    other = Home(home.root.parent / name)
    monkeypatch.setenv(HOME_VARIABLE, str(other.root))
    return other


@pytest.mark.slow
def test_a_library_moves_with_its_index(
    filled: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, documents: Path
) -> None:
    file = str(tmp_path / "x.desktop-rag-backup")
    made = run_json("backup", "export", file, "--with-index")
    assert (made["counts"]["conversation"], made["has_index"]) == (1, True)
    move_to("other", filled, monkeypatch)
    shutil.rmtree(documents)
    assert run_json("backup", "import", file, "--preview")["missing"] == [str(documents)]
    done = run_json("backup", "import", file)
    assert (done["has_index"], done["contents"]["missing"]) == (True, [str(documents)])
    [passage] = run_json("search", "lit at dusk")
    assert "lit at dusk" in passage["text"]
    assert "lit at dusk" in run_json("search", "lit at dusk", "--mode", "dense")[0]["text"]


@pytest.mark.slow
def test_lines_for_people(filled: Home, tmp_path: Path) -> None:
    file = str(tmp_path / "x")
    made = run("backup", "export", file)
    assert "1 chat, 2 messages" in made.stdout
    assert "Reading chats" in made.stderr
    assert "Added or changed: nothing." in run("backup", "import", file).stdout
    assert "A backup of everything" in run("backup", "import", file, "--preview").stdout
    missing = run("backup", "import", str(tmp_path / "none"))
    assert missing.returncode == 1
    assert "could not be read" in missing.stderr
    unknown = run("backup", "export", file, "--collection", "Nowhere")
    assert unknown.returncode == 1
    assert "My documents" in unknown.stderr


@pytest.mark.everyday
def test_a_collection_alone(filled: Home, tmp_path: Path) -> None:
    made = run_json("backup", "export", str(tmp_path / "x"), "--collection", "my documents")
    assert made["collection"] == "My documents"
    assert made["counts"]["source"] == 1


@pytest.mark.slow
def test_a_snapshot_is_listed_and_restored(filled: Home) -> None:
    [snapshot] = run_json("backup", "list")
    done = run_json("backup", "restore", snapshot["day"])
    assert done["added"] == {}
    assert run("backup", "restore", "2001-01-01").returncode == 1
    assert snapshot["day"] in run("backup", "list").stdout


@pytest.mark.slow
def test_a_library_that_is_gone_comes_back_and_is_read_again(filled: Home, documents: Path) -> None:
    for left in filled.root.iterdir():
        if left != filled.snapshots:
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    done = run("index", str(documents), "--json")
    assert "restored from the snapshot of" in done.stderr
    assert "lit at dusk" in run_json("search", "lit at dusk")[0]["text"]
    assert run_json("status")["documents"] == {"searchable": 1}


@pytest.fixture
def running(filled: Home, build_services: Build) -> Iterator[app.Services]:
    """The app as it runs, without its window."""
    services = build_services()
    with answering(services):
        yield services


@pytest.mark.slow
def test_through_the_running_app(running: app.Services, tmp_path: Path) -> None:
    file = str(tmp_path / "x")
    assert run_json("backup", "export", file)["counts"]["conversation"] == 1
    [chat] = running.chat.history.all()
    running.chat.history.delete(chat.conversation_id)
    running.chat.history.purge_deleted()
    assert run_json("backup", "import", file)["added"]["conversation"] == 1
    assert [c.title for c in running.chat.history.all()] == [chat.title]
    assert run_json("backup", "list")
