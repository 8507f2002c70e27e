"""Notes from a real library: written, found, refreshed, and never evidence for themselves."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag import app
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.question_scope import ALL_DOCUMENTS
from desktop_rag.core.settings import Settings
from desktop_rag.notes.notes import NoteDraft
from tests.asking import ask
from tests.servers.chat_server import ChatServer

TOPIC = "lighthouse"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("The lamp of the lighthouse is lit at dusk [1].") as running:
        yield running


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text("The lamp of the lighthouse is lit at dusk by the keeper.")
    return folder


@pytest.fixture
def indexed(services: app.Services, papers: Path) -> app.Services:
    services.library.sources.add(papers)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    return services


@pytest.fixture
def writer(indexed: app.Services, server: ChatServer) -> app.Services:
    indexed.chat.apply(Settings(endpoint=server.endpoint()))
    return indexed


def drafted(services: app.Services, folder: Path) -> NoteDraft:
    return services.notes.write(
        TOPIC, folder, ALL_DOCUMENTS, tell=lambda _: None, cancel=threading.Event()
    )


def saved(services: app.Services, folder: Path) -> Path:
    draft = drafted(services, folder)
    path = services.notes.save(draft, draft.unasked)
    assert services.library.indexing.wait_until_idle(30)
    return path


def refreshed(services: app.Services, path: Path) -> NoteDraft:
    return services.notes.refresh(path, tell=lambda _: None, cancel=threading.Event())


def test_a_note_is_written_with_links_and_found_as_the_persons(
    writer: app.Services, tmp_path: Path
) -> None:
    assert not (tmp_path / "Notes").exists()
    path = saved(writer, tmp_path / "Notes")
    text = path.read_text()
    assert "is lit at dusk [[1]](../papers/lamp.md)." in text
    assert "## Sources\n\n1. [lamp" in text
    assert [note.path for note in writer.notes.all()] == [path]
    found = ask(writer, "What is known about the lighthouse?").sources
    assert "lighthouse (your note)" in {source.title for source in found}


def test_what_no_source_backs_is_marked_and_what_one_denies_is_left_out(
    writer: app.Services, tmp_path: Path, server: ChatServer
) -> None:
    server.answer = (
        "The lamp of the lighthouse is lit at dusk [1]. The cellar has seven green bicycles [1]."
        " The lamp of the lighthouse is not lit at dusk [1]."
    )
    text = saved(writer, tmp_path / "Notes").read_text()
    assert "bicycles [[1]](../papers/lamp.md) (? Not found in the sources)." in text
    assert "is lit at dusk [[1]](../papers/lamp.md). The" in text
    assert "not lit" not in text


def test_a_note_is_no_evidence_for_itself(
    writer: app.Services, tmp_path: Path, server: ChatServer
) -> None:
    path = saved(writer, tmp_path / "Notes")
    server.answer = "The lamp of the lighthouse is lit at noon [1]. Says [2]."
    asked = len(server.chats)
    draft = refreshed(writer, path)
    sent = "".join(str(chat["messages"]) for chat in server.chats[asked:])
    assert "your note" not in sent
    assert "lit at noon" in draft.changes[0].after


def test_a_refresh_shows_changes_and_keeps_what_the_person_wrote(
    writer: app.Services, tmp_path: Path, server: ChatServer
) -> None:
    path = saved(writer, tmp_path / "Notes")
    mine = "## Mine\n\nHands off.\n\n## People\n\nMine."
    path.write_text(path.read_text().replace("## People\n", mine, 1))
    before = path.read_text()
    server.answer = "The keeper of the lighthouse has a lamp [1]."
    draft = refreshed(writer, path)
    assert path.read_text() == before
    yours = {change.heading for change in draft.changes if change.is_yours}
    assert "Mine" not in {change.heading for change in draft.changes}
    assert yours == {"People"}
    writer.notes.save(draft, draft.unasked)
    after = path.read_text()
    assert "## Mine\n\nHands off.\n" in after
    assert "Mine." in after
    assert "The keeper of the lighthouse has a lamp [[1]]" in after


def test_another_wording_is_no_change(
    writer: app.Services, tmp_path: Path, server: ChatServer
) -> None:
    path = saved(writer, tmp_path / "Notes")
    server.answer = "At dusk, the lamp of the lighthouse is lit [1]."
    assert refreshed(writer, path).changes == ()


def test_a_file_that_changed_meanwhile_is_not_overwritten(
    writer: app.Services, tmp_path: Path, server: ChatServer
) -> None:
    path = saved(writer, tmp_path / "Notes")
    server.answer = "The lamp of the lighthouse is lit at noon [1]."
    draft = refreshed(writer, path)
    path.write_text(path.read_text() + "\nA word of mine.\n")
    with pytest.raises(AppError, match="changed meanwhile"):
        writer.notes.save(draft, draft.unasked)
    assert "A word of mine." in path.read_text()


def test_without_a_model_a_note_has_excerpts(indexed: app.Services, tmp_path: Path) -> None:
    text = saved(indexed, tmp_path / "Notes").read_text()
    assert "## Excerpts" in text
    assert "lit at dusk by the keeper" in text
    assert "(../papers/lamp.md)" in text


def test_a_second_note_gets_a_file_of_its_own(writer: app.Services, tmp_path: Path) -> None:
    first = saved(writer, tmp_path / "Notes")
    assert drafted(writer, tmp_path / "Notes").path != first


def test_what_can_not_be_written_is_said(writer: app.Services, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="no note"):
        refreshed(writer, tmp_path / "papers" / "lamp.md")
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        writer.notes.write(TOPIC, tmp_path, ALL_DOCUMENTS, tell=lambda _: None, cancel=cancel)
