"""`desktop-rag doctor`: it changes nothing, finds what is broken, and repairs on request only."""

import hashlib
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from desktop_rag import app
from desktop_rag.app import Services
from desktop_rag.core.paths import HOME_VARIABLE, Home
from desktop_rag.features.diagnosis.repair import RepairRequest, repair_if_requested
from desktop_rag.store.duckdb.duckdb_engine import library_file
from tests.command_line import answering, run, run_json
from tests.conftest import services_over
from tests.indexed import index_texts

pytestmark = pytest.mark.slow


KEYS = {"check", "state", "ok", "title", "hint"}
CHECKS = [
    "settings", "store", "index", "chats", "journal", "model", "model files", "folder", "watching",
    "space", "space", "permissions", "sandbox", "endpoint", "keyring", "tray", "hotkeys",
]  # fmt: skip
QUESTION = "When is the lamp lit?"


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home whose library was used, as a crash leaves it, with its log."""
    folder = tmp_path_factory.mktemp("used")
    with services_over(folder) as services:
        texts = {"lamp.md": "The lamp is lit at dusk.", "boat.md": "Boats leave at nine."}
        index_texts(services, folder / "papers", texts)
        for _ in services.chat.ask(QUESTION, cancel=threading.Event()):
            pass
        shutil.copytree(folder / "home", folder / "crashed")
    assert (folder / "crashed" / "library.duckdb.wal").stat().st_size > 1000
    for path in (folder / "crashed", *(folder / "crashed").rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return folder


@pytest.fixture
def crashed(used: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = shutil.copytree(used / "crashed", tmp_path / "home")
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    return Home(home)


def seen(home: Home) -> dict[str, tuple[int, int, str]]:
    """Modification time, mode and content of everything in the home."""
    return {
        str(path.relative_to(home.root)): (
            path.stat().st_mtime_ns,
            path.stat().st_mode,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in (home.root, *home.root.rglob("*"))
    }


def rows_of(*arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = run("doctor", "--json", *arguments)
    return done.returncode, {row["check"]: row for row in json.loads(done.stdout)}


def execute(home: Home, sql: str) -> None:
    connection = duckdb.connect(str(library_file(home)))
    connection.execute(sql)
    connection.close()


def questions(build: Callable[[], Services]) -> list[str]:
    services = build()
    try:
        history = services.chat.history
        messages = [m for c in history.all() for m in history.messages(c.conversation_id)]
    finally:
        services.close()
    return [message.text for message in messages][::2]


# --- reading only ------------------------------------------------------------------------------


def test_all_is_well_once_files_are_indexed(home: Home, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "lamp.md").write_text("The lamp is lit at dusk.")
    (tmp_path / "papers" / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    run("index", str(tmp_path / "papers"))
    assert all(finding["ok"] for finding in run_json("doctor"))


def test_nothing_in_a_closed_home_changes(crashed: Home) -> None:
    before = seen(crashed)
    rows = run_json("doctor")
    assert seen(crashed) == before
    assert [row["check"] for row in rows] == CHECKS
    assert all(set(row) == KEYS for row in rows)
    assert {row["state"] for row in rows} <= {"ok", "not checked"}


def test_no_home_is_created(home: Home) -> None:
    code, rows = rows_of()
    assert (code, rows["store"]["state"]) == (0, "not checked")
    assert not home.root.exists()


def test_nothing_in_the_home_of_a_running_app_changes(
    crashed: Home, build_services: Callable[[], Services]
) -> None:
    services = app.build_services(crashed)
    try:
        with answering(services):
            before = seen(crashed)
            code, rows = rows_of()
            assert seen(crashed) == before
    finally:
        services.close()
    assert {rows[name]["state"] for name in ("store", "index", "chats", "journal")} == {"ok"}
    assert code == (0 if all(row["ok"] for row in rows.values()) else 1)


def test_text_says_the_same_as_json(crashed: Home) -> None:
    lines = run("doctor").stdout.splitlines()
    assert [line.split("  ", 1)[1].lstrip().split(":")[0] for line in lines] == CHECKS


# --- what is broken -----------------------------------------------------------------------------


def test_a_broken_index_is_found_and_mended_on_request(crashed: Home) -> None:
    execute(crashed, "DELETE FROM recent_postings")
    code, rows = rows_of()
    assert (code, rows["index"]["state"], rows["chats"]["state"]) == (1, "problem", "ok")
    assert "passages with other words than counted" in rows["index"]["title"]
    code, rows = rows_of("--repair")
    assert "read again" in rows["repair"]["hint"]
    assert (code, rows["index"]["state"]) == (0, "ok")


def test_a_broken_index_is_mended_while_the_app_runs(crashed: Home) -> None:
    execute(crashed, "DELETE FROM recent_postings")
    services = app.build_services(crashed)
    try:
        services.library.start(watch=False)
        with answering(services):
            assert rows_of()[1]["index"]["state"] == "problem"
            _, rows = rows_of("--repair")
            assert rows["index"]["state"] == "ok"
            assert services.library.indexing.wait_until_idle(30)
        assert services.chat.search("lamp", mode="lexical")
    finally:
        services.close()


def test_lost_chats_come_back_from_the_journal(
    crashed: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(crashed, "DELETE FROM conversations")
    code, rows = rows_of()
    assert (code, rows["chats"]["state"], rows["index"]["state"]) == (1, "problem", "ok")
    code, rows = rows_of("--repair")
    assert (code, rows["chats"]["state"]) == (0, "ok")
    assert "restored from the journal" in rows["repair"]["hint"]
    assert questions(lambda: app.build_services(crashed)) == [QUESTION]


def test_a_journal_that_is_behind_ahead_damaged_or_gone_is_told(crashed: Home) -> None:
    number = crashed.root / "journal" / "generation"
    last = int(number.read_text())
    for written, told in ((last - 1, "The journal stops"), (last + 1, "The library stops")):
        number.write_text(f"{written:020d}\n")
        code, rows = rows_of()
        assert (code, rows["journal"]["state"]) == (1, "warning")
        assert rows["journal"]["title"].startswith(told)
    number.write_text(f"{last:020d}\n")
    [chat] = (crashed.root / "journal" / "conversations").iterdir()
    chat.write_bytes(b"\x00damaged\n" + chat.read_bytes())
    assert rows_of()[1]["journal"]["title"].startswith("Lines of the journal")
    assert rows_of("--repair")[1]["journal"]["state"] == "ok"
    shutil.rmtree(crashed.root / "journal")
    assert rows_of()[1]["journal"]["title"] == "The journal beside the library is gone."


def test_a_library_that_is_gone_is_told_from_a_new_home(crashed: Home) -> None:
    for file in crashed.root.glob("library.duckdb*"):
        file.unlink()
    code, rows = rows_of()
    assert (code, rows["store"]["state"]) == (1, "problem")
    assert "journal" in rows["store"]["hint"]
    assert rows_of("--repair")[0] == 0
    assert questions(lambda: app.build_services(crashed)) == [QUESTION]


def test_a_flipped_byte_is_found_and_repaired_without_losing_a_chat(crashed: Home) -> None:
    app.build_services(crashed).close()  # everything into the file
    content = bytearray(library_file(crashed).read_bytes())
    place = content.index(b"The lamp is lit at dusk.")
    content[place] ^= 1
    library_file(crashed).write_bytes(content)
    code, rows = rows_of()
    assert (code, rows["store"]["state"], rows["index"]["state"]) == (1, "problem", "not checked")
    code, rows = rows_of("--repair")
    assert "damaged file was kept" in rows["repair"]["hint"]
    assert rows["store"]["state"] == "ok"
    assert questions(lambda: app.build_services(crashed)) == [QUESTION]


def test_a_library_of_another_process_is_not_checked(crashed: Home) -> None:
    services = app.build_services(crashed)
    try:
        command = [sys.executable, "-m", "desktop_rag", "doctor", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)
    finally:
        services.close()
    rows = {row["check"]: row for row in json.loads(done.stdout)}
    assert rows["store"]["state"] == "not checked"
    assert "in use" in rows["store"]["title"]


def test_a_repair_asked_for_in_the_window_is_done_at_the_next_start(crashed: Home) -> None:
    assert repair_if_requested(crashed) == []
    execute(crashed, "DELETE FROM recent_postings")
    execute(crashed, "DELETE FROM conversations")
    request = RepairRequest(crashed)
    request.make(is_wanted=True)
    [notice] = repair_if_requested(crashed)
    assert notice.title == "The library was repaired."
    assert not request.is_made
    assert rows_of()[0] == 0
    assert questions(lambda: app.build_services(crashed)) == [QUESTION]
    assert repair_if_requested(crashed) == []
