"""A person stops the app from storing chats: one goes on in memory and leaves nothing behind."""

from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.core.conversation import MEMORY, Feedback
from desktop_rag.core.paths import Home
from desktop_rag.ui.chat.conversation_model import group_of
from tests.stories.conftest import Person

GROUP = "Not stored, ends with the app"
QUESTION = "Who keeps the herons?"


@pytest.fixture
def marsh(tmp_path: Path) -> Path:
    folder = tmp_path / "marsh"
    folder.mkdir()
    (folder / "herons.md").write_text("# Herons\n\nMarta Quist keeps the herons of the marsh.")
    return folder


def stops_storing(person: Person) -> None:
    person.presses("Ctrl+4")
    person.presses("Ctrl+F")
    person.types("Search the settings", "stop remembering chats")
    assert person.rows("Settings found")[0][0] == "Store new chats"
    person.opens_row("Settings found", 0)
    person.clicks("Store new chats")


@pytest.mark.timeout(120)
def test_a_chat_ends_with_the_app(
    open_window: Callable[[], Person], marsh: Path, home: Home
) -> None:
    person = open_window()
    person.drops(marsh)
    person.sees("1 file")
    stops_storing(person)
    person.presses("Ctrl+1")
    person.asks(QUESTION)
    person.sees("Marta Quist keeps the herons")
    chat = person.app.services.chat
    person.waits_until(lambda: len(chat.history.all()) == 1)
    [kept] = chat.history.all()
    assert group_of(kept) == GROUP
    person.waits_until(lambda: len(chat.history.messages(kept.conversation_id)) == 2)
    person.asks("And who keeps the marsh?")
    person.waits_until(lambda: len(chat.history.messages(kept.conversation_id)) == 4)
    answer = chat.history.messages(kept.conversation_id)[1]
    chat.history.set_feedback(answer.message_id, Feedback.LIKED)
    assert chat.history.messages(kept.conversation_id)[1].feedback is Feedback.LIKED
    assert chat.history.find("HERONS") == {kept.conversation_id}
    copy = chat.history.fork(kept.conversation_id, answer.message_id)
    assert copy.kept_by == MEMORY
    assert chat.memory.count() == 0
    assert person.app.services.engine.conversations.all() == []
    person.closes_the_window()
    written = [path for path in home.root.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if QUESTION.encode() in path.read_bytes()]
