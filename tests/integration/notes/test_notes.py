"""Notes from a real library: written, found, refreshed, and never evidence for themselves."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag import app
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.question_scope import ALL_DOCUMENTS
from desktop_rag.core.settings import PreferenceSettings, Settings
from desktop_rag.features.schedules.notes.notes import NoteDraft
from desktop_rag.features.schedules.services import ScheduleServices
from desktop_rag.features.schedules.values.note_page import SectionChange, note_words
from tests.asking import ask
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

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
    return services.wing(ScheduleServices).notes.write(
        TOPIC, folder, ALL_DOCUMENTS, tell=lambda _: None, cancel=threading.Event()
    )


def saved(services: app.Services, folder: Path) -> Path:
    draft = drafted(services, folder)
    path = services.wing(ScheduleServices).notes.save(draft, draft.unasked)
    assert services.library.indexing.wait_until_idle(30)
    return path


def refreshed(services: app.Services, path: Path) -> NoteDraft:
    return services.wing(ScheduleServices).notes.refresh(
        path, tell=lambda _: None, cancel=threading.Event()
    )


def test_a_note_is_written_with_links_and_found_as_the_persons(
    writer: app.Services, tmp_path: Path
) -> None:
    assert not (tmp_path / "Notes").exists()
    path = saved(writer, tmp_path / "Notes")
    text = path.read_text()
    assert "is lit at dusk [[1]](../papers/lamp.md)." in text
    assert "## Sources\n\n1. [lamp" in text
    assert [note.path for note in writer.wing(ScheduleServices).notes.all()] == [path]
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
    writer.wing(ScheduleServices).notes.save(draft, draft.unasked)
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
        writer.wing(ScheduleServices).notes.save(draft, draft.unasked)
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
        writer.wing(ScheduleServices).notes.write(
            TOPIC, tmp_path, ALL_DOCUMENTS, tell=lambda _: None, cancel=cancel
        )


GERMAN = "Die Lampe im Leuchtturm wird in der Dämmerung vom Wärter angezündet."


@pytest.fixture
def german(services: app.Services, tmp_path: Path, server: ChatServer) -> app.Services:
    """A library of a German document, and a model."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lampe.md").write_text(GERMAN)
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    server.answer = "Die Lampe wird in der Dämmerung vom Wärter angezündet [1]."
    services.chat.apply(Settings(endpoint=server.endpoint()))
    return services


def written_about(services: app.Services, folder: Path, topic: str) -> Path:
    draft = services.wing(ScheduleServices).notes.write(
        topic, folder, ALL_DOCUMENTS, tell=lambda _: None, cancel=threading.Event()
    )
    return services.wing(ScheduleServices).notes.save(draft, draft.unasked)


def asked_of(server: ChatServer) -> str:
    return "\n".join(str(chat["messages"][-1]["content"]) for chat in server.chats)


def test_a_note_is_in_the_language_of_its_documents(
    german: app.Services, server: ChatServer, tmp_path: Path
) -> None:
    text = written_about(german, tmp_path / "Notes", "Leuchtturm").read_text()
    assert 'title: "Leuchtturm (Ihre Notiz)"' in text
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["Überblick", "Personen", "Daten und Zahlen", "Offene Punkte", "Quellen"]
    assert "Was ist über „Leuchtturm“ bekannt?" in asked_of(server)
    assert "What is known" not in asked_of(server)


def test_a_note_is_in_the_language_of_its_topic(
    german: app.Services, server: ChatServer, tmp_path: Path
) -> None:
    topic = "What is known about the Leuchtturm and who is its keeper"
    text = written_about(german, tmp_path / "Notes", topic).read_text()
    assert "## Overview" in text


def test_the_preferred_language_is_that_of_the_note(
    german: app.Services, server: ChatServer, tmp_path: Path
) -> None:
    preferred = PreferenceSettings(language="French")
    german.chat.apply(Settings(endpoint=server.endpoint(), preferences=preferred))
    text = written_about(german, tmp_path / "Notes", "Leuchtturm").read_text()
    assert "## Vue d’ensemble" in text


def test_a_note_with_english_headings_is_recognised(
    german: app.Services, server: ChatServer, tmp_path: Path
) -> None:
    """As earlier versions wrote it, over German documents."""
    path = written_about(german, tmp_path / "Notes", "Leuchtturm")
    text = path.read_text().replace('language: "de"\n', "").replace("(Ihre Notiz)", "(your note)")
    for part, heading in note_words("de").headings.items():
        text = text.replace(heading, note_words("en").headings[part])
    path.write_text(text.replace("## Quellen", "## Sources"))
    server.answer = "Der Leuchtturm hat einen Wärter, der die Lampe anzündet [1]."
    draft = refreshed(german, path)
    assert draft.changes
    assert {change.change for change in draft.changes} == {SectionChange.CHANGED}
    assert not any(change.is_yours for change in draft.changes)
    german.wing(ScheduleServices).notes.save(draft, draft.unasked)
    after = path.read_text()
    assert "hat einen Wärter" in after
    assert "in der Dämmerung" not in after
    assert after.count("## Sources") == 1
    assert "Überblick" not in after


def test_the_person_chooses_another_language_for_a_note(
    german: app.Services, server: ChatServer, tmp_path: Path
) -> None:
    path = written_about(german, tmp_path / "Notes", "Leuchtturm")
    path.write_text(path.read_text().replace('language: "de"', "language: en"))
    server.answer = "The lamp is lit at noon by the keeper [1]."
    asked = len(server.chats)
    draft = refreshed(german, path)
    assert {change.heading for change in draft.changes} == set(
        [*note_words("de").headings.values()][:4]
    )
    sent = "".join(str(chat["messages"]) for chat in server.chats[asked:])
    assert "What is known about Leuchtturm?" in sent
