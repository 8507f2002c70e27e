"""Real files through the real parser process, chunker, store and model."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import Document, DocumentState, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import DocumentsChanged, Notice, ProgressChanged, Stage
from desktop_rag.ingest.scanning import disk_walk, scanner
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.conftest import DEMO
from tests.stored_rows import count_inconsistent, count_orphans

pytestmark = pytest.mark.slow


Build = Callable[[], Services]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    return made


def start(services: Services, folder: Path) -> None:
    if all(source.path != folder for source in services.library.sources.all()):
        services.library.sources.add(folder)
    services.library.start()
    assert services.library.indexing.wait_until_idle(60)


def titles(services: Services, query: str) -> list[str]:
    return [passage.title for passage in services.chat.search(query, limit=3)]


def states(services: Services) -> dict[str, DocumentState]:
    return {d.path.name: d.state for d in services.library.documents.all()}


def wait_for(services: Services, name: str, state: DocumentState) -> Callable[[], None]:
    """Call the returned function after the change that leads to this state."""
    seen = threading.Event()

    def listen(event: DocumentsChanged) -> None:
        for document in event.documents:
            if (document.path.name, document.state) == (name, state):
                seen.set()

    stop_hearing = services.changes.hear(DocumentsChanged, listen)

    def wait() -> None:
        assert seen.wait(20), f"{name} never became {state}"
        stop_hearing()

    return wait


def test_a_folder_becomes_searchable_and_bad_files_stop_nothing(
    services: Services, folder: Path
) -> None:
    (folder / "lamp.md").write_text("# Lamp\n\nThe keeper trims the wick at dusk.")
    (folder / "empty.txt").write_text("")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    (folder / "photo.xyz").write_bytes(b"\x00\x01")
    (folder / "tide.csv").write_text("day,high\nMonday,05:40\n")
    start(services, folder)
    assert states(services) == {
        "lamp.md": DocumentState.SEARCHABLE,
        "tide.csv": DocumentState.SEARCHABLE,
        "empty.txt": DocumentState.SKIPPED,
        "photo.xyz": DocumentState.SKIPPED,
        "broken.pdf": DocumentState.FAILED,
    }
    reasons = {d.path.name: d.reason for d in services.library.documents.all()}
    assert all(reasons[name] for name in ("empty.txt", "photo.xyz", "broken.pdf"))
    assert titles(services, "who trims the wick")[0] == "Lamp"
    assert services.library.indexing.progress().stage is Stage.IDLE


def test_changes_on_disk_are_followed(services: Services, folder: Path) -> None:
    path = folder / "note.md"
    path.write_text("# First\n\nThe ferry leaves at noon.")
    start(services, folder)
    wait = wait_for(services, "note.md", DocumentState.SEARCHABLE)
    path.write_text("# Second\n\nThe lighthouse opens at nine.")
    wait()
    assert titles(services, "lighthouse")[0] == "Second"
    assert services.chat.search("ferry", mode="lexical") == []
    wait = wait_for(services, "other.md", DocumentState.SEARCHABLE)
    (folder / "other.md").write_text("# Other\n\nA new file about seals.")
    wait()
    wait = wait_for(services, "note.md", DocumentState.GONE)
    path.unlink()
    wait()
    assert services.chat.search("lighthouse", mode="lexical") == []
    assert titles(services, "seals") == ["Other"]


@pytest.mark.parametrize("keeps_times", [os.name == "posix", False])
def test_a_change_that_keeps_size_and_time_is_followed(
    build_services: Build, folder: Path, monkeypatch: pytest.MonkeyPatch, keeps_times: bool
) -> None:
    monkeypatch.setattr(disk_walk, "KEEPS_CHANGE_TIMES", keeps_times)
    file = folder / "lamp.md"
    file.write_text("The lamp is lit at dusk.\n")
    services = build_services()
    start(services, folder)
    services.close()
    before = file.stat()
    file.write_text("The lamp is lit at noon.\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    services = build_services()
    start(services, folder)
    [found] = services.chat.search("When is the lamp lit?", limit=1)
    assert "noon" in found.text
    [document] = services.library.documents.all()
    services.library.sources.look_again()
    assert services.library.indexing.wait_until_idle(60)
    assert services.library.documents.all() == [document]


def test_contents_are_compared_a_part_at_each_check(
    build_services: Build, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_walk, "KEEPS_CHANGE_TIMES", False)
    monkeypatch.setattr(scanner, "_CHECKED_BYTES", 30)
    services = build_services()

    def write(text: str) -> None:
        for name in ("a.md", "b.md"):
            (folder / name).write_text(text)
            os.utime(folder / name, (1_700_000_000, 1_700_000_000))

    write("The lamp is lit at dusk.\n")
    start(services, folder)
    write("The lamp is lit at noon.\n")
    for changed in (1, 2):
        services.library.sources.look_again()
        assert services.library.indexing.wait_until_idle(60)
        assert len(services.chat.search("noon", mode="lexical")) == changed


def test_a_word_of_a_removed_folder_is_gone_from_the_file(services: Services, folder: Path) -> None:
    (folder / "lamp.md").write_text("The zyzzogeton sat upon the lamp.\n")
    start(services, folder)
    [source] = services.library.sources.all()
    services.library.sources.remove(source.source_id)
    assert services.library.indexing.wait_until_idle(60)
    services.idle_memory.release()
    assert not titles(services, "zyzzogeton")
    path = database_of(services.engine).path
    files = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    assert not [file for file in files if b"zyzzogeton" in file.read_bytes()]


def test_a_moved_file_is_not_embedded_again(services: Services, folder: Path) -> None:
    path = folder / "note.md"
    path.write_text("# Note\n\nThe ferry leaves at noon.")
    start(services, folder)
    embedded = services.library.indexing.embedded_chunks
    wait = wait_for(services, "moved.md", DocumentState.SEARCHABLE)
    (folder / "below").mkdir()
    path.rename(folder / "below" / "moved.md")
    wait()
    assert services.library.indexing.embedded_chunks == embedded
    [passage] = services.chat.search("ferry")
    assert passage.path == str(folder / "below" / "moved.md")


def test_an_unchanged_folder_embeds_nothing_the_second_time(
    build_services: Build, folder: Path
) -> None:
    for number in range(5):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nText number {number}.")
    first = build_services()
    start(first, folder)
    assert first.library.indexing.embedded_chunks == 5
    first.close()
    second = build_services()
    start(second, folder)
    assert second.library.indexing.embedded_chunks == 0
    assert second.library.documents.counts().by_state == {DocumentState.SEARCHABLE: 5}


def test_an_edit_embeds_only_what_changed(services: Services, folder: Path) -> None:
    path = folder / "book.md"
    path.write_text("".join(f"# Part {n}\n\nText of part {n}.\n\n" for n in range(20)))
    start(services, folder)
    before = services.library.indexing.embedded_chunks
    wait = wait_for(services, "book.md", DocumentState.SEARCHABLE)
    path.write_text(path.read_text().replace("Text of part 7.", "Quite another text."))
    wait()
    assert services.library.indexing.embedded_chunks - before == 1


def test_a_folder_that_vanishes_is_offline_and_stays_searchable(
    services: Services, folder: Path
) -> None:
    (folder / "note.md").write_text("# Note\n\nThe ferry leaves at noon.")
    start(services, folder)
    folder.rename(folder.with_name("unplugged"))
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(20)
    assert services.library.sources.all()[0].state is SourceState.OFFLINE
    assert titles(services, "ferry") == ["Note"]
    folder.with_name("unplugged").rename(folder)
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(20)
    assert services.library.sources.all()[0].state is SourceState.WATCHED
    assert services.library.indexing.embedded_chunks == 1


def test_removing_a_folder_forgets_it(services: Services, folder: Path) -> None:
    (folder / "note.md").write_text("# Note\n\nThe ferry leaves at noon.")
    start(services, folder)
    services.library.sources.remove(services.library.sources.all()[0].source_id)
    assert services.library.documents.all() == []
    assert services.chat.search("ferry") == []
    assert (folder / "note.md").exists()


def test_what_is_in_the_library_already_is_refused(services: Services, folder: Path) -> None:
    below = folder / "below"
    below.mkdir()
    services.library.sources.add(below)
    for path in (below, below / "deeper", folder, folder / "missing"):
        if path.name == "deeper":
            path.mkdir()
        with pytest.raises(AppError):
            services.library.sources.add(path)


def test_pause_holds_and_resume_goes_on(services: Services, folder: Path) -> None:
    (folder / "note.md").write_text("# Note\n\nThe ferry leaves at noon.")
    services.library.indexing.pause()
    services.library.sources.add(folder)
    services.library.start()
    assert not services.library.indexing.wait_until_idle(1.0)
    assert services.library.indexing.progress().stage is Stage.PAUSED
    assert services.chat.search("ferry") == []
    services.library.indexing.resume()
    assert services.library.indexing.wait_until_idle(20)
    assert titles(services, "ferry") == ["Note"]


def test_failed_files_are_read_again_on_request(services: Services, folder: Path) -> None:
    path = folder / "report.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing else")
    start(services, folder)
    assert states(services)["report.pdf"] is DocumentState.FAILED
    report = DEMO / "documents" / "records" / "lantern-survey-2025.pdf"
    path.write_bytes(report.read_bytes())
    assert len(services.library.documents.retry_failed()) == 1
    assert services.library.indexing.wait_until_idle(20)
    assert states(services)["report.pdf"] is DocumentState.SEARCHABLE


@pytest.mark.timeout(180)  # two processes of the app, one after the other
def test_killed_in_the_middle_it_goes_on_where_it_was(
    build_services: Build, home: object, folder: Path
) -> None:
    for number in range(45):
        text = "\n\n".join(f"Sentence {n} of note {number}. " * 12 for n in range(10))
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n{text}")
    command = [sys.executable, "-m", "desktop_rag", "index", str(folder)]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert child.stderr is not None
    # Vectors are stored 128 at a time, so some are on disk once more than that are reported.
    embedded = 0
    while embedded <= 130:
        line = child.stderr.readline()
        assert line, "it was done before it could be killed"
        told = re.search(r"([\d,]+) passages embedded", line)
        embedded = int(told[1].replace(",", "")) if told else embedded
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    child.stderr.close()
    services = build_services()
    start(services, folder)
    assert services.library.documents.counts().by_state == {DocumentState.SEARCHABLE: 45}
    chunks = sum(d.chunk_count for d in services.library.documents.all())
    assert 0 < services.library.indexing.embedded_chunks < chunks
    assert count_orphans(services.engine.documents) == 0


def test_what_could_not_be_stored_waits_and_is_read_at_resume(
    services: Services, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "note.md").write_text("# Note\n\nThe ferry leaves at noon.")
    held = threading.Event()
    services.changes.hear(Notice, lambda _: held.set())
    settle = services.engine.documents.settle

    def full(outcomes: Sequence[IndexingOutcome]) -> list[Document]:
        monkeypatch.setattr(services.engine.documents, "settle", settle)
        raise AppError("A change could not be saved.", "Check that the disk has free space.")

    monkeypatch.setattr(services.engine.documents, "settle", full)
    services.library.sources.add(folder)
    services.library.start()
    assert held.wait(20)
    assert services.library.indexing.is_paused
    assert states(services)["note.md"] is DocumentState.WAITING
    services.library.indexing.resume()
    assert services.library.indexing.wait_until_idle(20)
    assert titles(services, "ferry") == ["Note"]
    assert count_inconsistent(services.engine.documents) == 0


def test_a_drive_pulled_while_its_files_wait_loses_nothing(
    services: Services, folder: Path
) -> None:
    for number in range(30):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThe ferry leaves at noon.")
    start(services, folder)
    services.library.indexing.pause()
    for path in folder.iterdir():
        path.write_text(path.read_text() + " And at dusk.")
    services.library.sources.rescan()
    services.library.indexing.resume()
    folder.rename(folder.with_name("unplugged"))
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(60)
    assert DocumentState.FAILED not in services.library.documents.counts().by_state
    assert len(services.chat.search("ferry", limit=40)) == 30
    folder.with_name("unplugged").rename(folder)
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(60)
    assert services.library.documents.counts().by_state == {DocumentState.SEARCHABLE: 30}
    assert len(services.chat.search("dusk", mode="lexical", limit=40)) == 30


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="needs modes that bind")
def test_a_file_that_may_be_read_again_is_read_again(services: Services, folder: Path) -> None:
    path = folder / "note.md"
    path.write_text("# Note\n\nThe ferry leaves at noon.")
    path.chmod(0)
    start(services, folder)
    assert states(services)["note.md"] is DocumentState.FAILED
    path.chmod(0o600)
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(20)
    assert states(services)["note.md"] is DocumentState.SEARCHABLE


def test_what_waited_and_changed_meanwhile_stands_once(build_services: Build, folder: Path) -> None:
    for number in range(5):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThe ferry leaves at noon.")
    first = build_services()
    first.library.indexing.pause()
    first.library.sources.add(folder)
    first.library.start()
    first.library.indexing.resume()
    first.close()
    (folder / "0.md").write_text("# Note 0\n\nThe ferry leaves at dusk.")
    second = build_services()
    start(second, folder)
    assert count_inconsistent(second.engine.documents) == 0
    assert len(second.chat.search("ferry", limit=40)) == 5


def test_vectors_of_old_text_are_dropped(services: Services, folder: Path) -> None:
    path = folder / "note.md"
    path.write_text("# Note\n\nThe ferry leaves at noon.")
    start(services, folder)
    wait = wait_for(services, "note.md", DocumentState.SEARCHABLE)
    path.write_text("# Note\n\nThe ferry leaves at dusk.")
    wait()
    assert services.library.indexing.wait_until_idle(20)
    with database_of(services.engine).read() as con:
        assert con.execute("SELECT count(*) FROM vectors_1").fetchall() == [(1,)]


def test_every_file_is_read_once(services: Services, folder: Path) -> None:
    for number in range(100):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nText number {number}.")
    most: list[int] = []
    services.changes.hear(ProgressChanged, lambda e: most.append(e.progress.files_total))
    start(services, folder)
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(60)
    assert max(most) == 100
