"""A question about something that is in none of the documents, with and without a model."""

import json
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.conversation import NEAREST
from desktop_rag.core.settings import Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

OFF_TOPIC = "Which chess opening did the grandmaster play in the final?"


def test_no_answer_is_found_and_the_nearest_passages_are_shown_on_request(
    person: Person, papers: Path
) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 failed")
    person.presses("Ctrl+1")
    person.asks(OFF_TOPIC)
    person.sees("Nothing in your documents seems to be about this question.")
    assert NEAREST not in person.screen()
    person.clicks("Show the nearest passages")
    person.sees(NEAREST)


def test_no_model_is_asked(person: Person, papers: Path, server: ChatServer) -> None:
    person.app.services.chat.apply(replace(Settings(), endpoint=server.endpoint()))
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 failed")
    person.presses("Ctrl+1")
    person.asks(OFF_TOPIC)
    person.sees("Nothing in your documents seems to be about this question.")
    # It may be measured in the background, with sample text.
    assert not any(OFF_TOPIC in json.dumps(body) for body in server.chats)
