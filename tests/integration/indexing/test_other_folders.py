"""S-07: a question limited to some documents sends no text of the others."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.app import Services
from desktop_rag.core.settings import LaterSources, RetrievalSettings, Settings
from tests.asking import ask
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

CANARY = "xylophonic"
QUESTION = "Which colour has the lamp of the lighthouse?"


@pytest.fixture
def folders(services: Services, tmp_path: Path) -> Services:
    for name, text in (
        ("harbour", "The lamp of the lighthouse is red and was painted in spring."),
        ("secret", f"The lamp of the lighthouse has the {CANARY} colour, which is secret."),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.md").write_text(text)
        collection = services.library.collections.add(name.title())
        services.library.sources.add(folder, collection.collection_id)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    return services


@pytest.fixture
def server(folders: Services) -> Iterator[ChatServer]:
    with ChatServer("The lamp is red [1].") as running:
        folders.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        yield running


def test_what_is_not_limited_sends_it(folders: Services, server: ChatServer) -> None:
    ask(folders, QUESTION)
    assert CANARY in json.dumps(server.chats)


@pytest.mark.parametrize(
    "limit", ["folder:harbour", "file:harbour.md", "collection:Harbour", f"-{CANARY}"]
)
def test_a_filter_keeps_the_others_out(folders: Services, server: ChatServer, limit: str) -> None:
    ask(folders, f"{QUESTION} {limit}")
    [chat] = server.chats
    assert CANARY not in json.dumps(chat).replace(limit, "")


@pytest.mark.parametrize("kind", list(LaterSources))
def test_a_collection_keeps_the_others_out_in_later_questions_too(
    folders: Services, server: ChatServer, kind: LaterSources
) -> None:
    retrieval = RetrievalSettings(later_sources=kind)
    settings = replace(Settings(), endpoint=server.endpoint(), retrieval=retrieval)
    folders.chat.apply(settings)
    [chosen] = [c for c in folders.library.collections.all() if c.name == "Harbour"]
    where: dict[str, Any] = {"collection_id": chosen.collection_id}
    first = ask(folders, QUESTION, **where)
    ask(folders, "Who painted it?", conversation_id=first.conversation_id, **where)
    assert len(server.chats) >= 2
    assert CANARY not in json.dumps(server.chats)


@pytest.mark.parametrize("kind", [LaterSources.SAME, LaterSources.BOTH])
def test_earlier_sources_of_another_collection_are_left_out(
    folders: Services, server: ChatServer, kind: LaterSources
) -> None:
    folders.chat.apply(replace(Settings(), retrieval=RetrievalSettings(later_sources=kind)))
    first = ask(folders, QUESTION)
    assert any(CANARY in source.text for source in first.sources)
    [chosen] = [c for c in folders.library.collections.all() if c.name == "Harbour"]
    later = ask(
        folders, "Who painted it?",
        conversation_id=first.conversation_id, collection_id=chosen.collection_id,
    )  # fmt: skip
    assert later.sources
    assert not any(CANARY in source.text for source in later.sources)
