"""R-28 in chats: on a full disk questions are answered without being stored, and stored later."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.app import Services
from desktop_rag.cli import output, question_verbs
from desktop_rag.core.conversation import Message, MessagesStored, Role
from desktop_rag.core.errors import DiskFullError
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from tests.asking import answer_of, ask, events_of
from tests.faults.storage.small_disk import SmallDisk
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

ANSWER = "The ferry leaves at noon [1]. " + "It is a long way from the northern pier. " * 200
_WAIT_S = 30


@pytest.fixture
def server(home: Home) -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        server.piece_chars = 400
        home.create()
        endpoint = server.endpoint(timeout_s=30)
        save_settings(home.settings, dataclasses.replace(Settings(), endpoint=endpoint))
        yield server


@pytest.fixture
def services(
    build_services: Callable[[], Services], tmp_path: Path, server: ChatServer
) -> Services:
    """A library with one note on another disk."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at noon from the northern pier.")
    services = build_services()
    services.library.sources.add(folder)
    services.library.start()
    assert services.library.indexing.wait_until_idle(_WAIT_S)
    return services


def shown(services: Services, conversation_id: str) -> list[Message]:
    return services.chat.history.messages(conversation_id)


def heard(services: Services) -> list[MessagesStored]:
    events: list[MessagesStored] = []
    services.changes.hear(MessagesStored, events.append)
    return events


def test_r28_a_question_on_a_full_disk_is_answered_and_the_chat_goes_on(
    services: Services, disk: SmallDisk, server: ChatServer, build_services: Callable[[], Services]
) -> None:
    events = heard(services)
    disk.fill()
    first = ask(services, "When does the ferry leave? " + "Please say. " * 500)
    assert first.text.startswith("The ferry leaves at noon [1].")
    assert first.is_unstored
    chat = first.conversation_id
    second = ask(services, "And from where?", conversation_id=chat)
    assert second.is_unstored
    assert "Please say." in str(server.chats[-1])
    assert [c.conversation_id for c in services.chat.history.all()] == [chat]
    assert [m.is_unstored for m in shown(services, chat)] == [True] * 4
    disk.free()
    while services.chat.history.messages(chat)[-1].is_unstored:
        services.library.indexing.wait_until_idle(0.01)
    assert events == [MessagesStored(frozenset(m.message_id for m in shown(services, chat)))]
    third = ask(services, "And when is it back?", conversation_id=chat)
    assert not third.is_unstored
    before = shown(services, chat)
    services.close()
    assert shown(build_services(), chat) == before
    assert [m.role for m in before] == [Role.USER, Role.ASSISTANT] * 3


def test_r28_an_answer_given_again_on_a_full_disk_replaces_the_former_later(
    services: Services, disk: SmallDisk, build_services: Callable[[], Services]
) -> None:
    former = ask(services, "When does the ferry leave?")
    chat = former.conversation_id
    disk.fill()
    done = answer_of(list(services.chat.retry(chat, cancel=threading.Event())))
    [_, now] = shown(services, chat)
    assert now.is_unstored
    assert now.message_id != former.message_id
    with pytest.raises(DiskFullError):
        services.chat.history.rename(chat, "A title that is longer than the rest of a page" * 200)
    disk.free()
    services.chat.history.rename(chat, "Ferry")
    assert not any(m.is_unstored for m in shown(services, chat))
    services.close()
    again = build_services()
    assert [m.message_id for m in shown(again, chat)][1] == done.message_id
    assert [c.title for c in again.chat.history.all()] == ["Ferry"]


def test_r28_what_waits_is_stored_when_the_app_ends_with_room_again(
    services: Services, disk: SmallDisk, build_services: Callable[[], Services]
) -> None:
    disk.fill()
    answer = ask(services, "When does the ferry leave? " + "Please say. " * 500)
    disk.free()
    services.close()
    [_, stored] = shown(build_services(), answer.conversation_id)
    assert stored.text == answer.text


def told_of(services: Services, asked: str, *, goes_on: bool = False) -> dict[str, Any]:
    return question_verbs.ask(services, question_verbs.Asked(asked, goes_on=goes_on))


def test_r28_the_command_line_says_that_an_answer_is_not_stored(
    services: Services, disk: SmallDisk
) -> None:
    asked = "When does the ferry leave? " + "Please say. " * 500
    assert "is_stored" not in told_of(services, asked)
    disk.fill()
    told = told_of(services, asked, goes_on=True)
    assert told["is_stored"] is False
    assert any(
        line.startswith("This answer is not stored yet") for line in output.answer_lines(told)
    )


def test_r28_events_come_in_the_usual_order(services: Services, disk: SmallDisk) -> None:
    disk.fill()
    names = [type(e).__name__ for e in events_of(services, "When? " + "Please say. " * 500)]
    assert (names[0], names[-1]) == ("QuestionStored", "AnswerDone")
