"""Models in use are examined automatically: once, in the background, and never in the way."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event

import pytest

from desktop_rag.app import Services
from desktop_rag.core.model_profile import ExaminationChanged, ModelProfile
from desktop_rag.core.settings import Settings
from tests.asking import answer_of, events_of
from tests.servers.chat_server import ChatServer
from tests.servers.model_dialects import Dialect


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("Yes.") as server:
        server.dialect = Dialect(context_tokens=5000)
        yield server


def use(services: Services, server: ChatServer) -> Event:
    """Use the endpoint as the window does; the event is set after an examination."""
    ended = Event()

    def hear(event: ExaminationChanged) -> None:
        if not event.is_running:
            ended.set()

    services.changes.hear(ExaminationChanged, hear)
    services.chat.apply(replace(Settings(), endpoint=server.endpoint()))
    services.chat.warm_up()
    return ended


def known(services: Services, server: ChatServer) -> ModelProfile:
    return services.chat.models.profile(server.endpoint())


@pytest.mark.slow
def test_once_and_not_again_after_a_restart(
    build_services: Callable[[], Services], server: ChatServer
) -> None:
    services = build_services()
    assert use(services, server).wait(30)
    assert known(services, server).context_tokens == 5000
    asked = len(server.chats)
    services.close()

    again = build_services()
    ended = use(again, server)
    assert known(again, server).is_examined
    again.chat.close()
    assert not ended.is_set()
    assert len(server.chats) == asked


def test_without_the_window_nothing_is_examined(services: Services, server: ChatServer) -> None:
    services.chat.apply(replace(Settings(), endpoint=server.endpoint()))
    assert services.chat.models.main()
    services.chat.close()
    assert server.chats == []


@pytest.mark.slow
def test_an_endpoint_that_is_away_is_tried_again_with_the_next_question(
    services: Services, server: ChatServer
) -> None:
    server.mode, server.status = "status", 401
    ended = use(services, server)
    assert ended.wait(30)
    assert not known(services, server).is_examined
    server.mode = "answer"
    ended.clear()
    answer_of(events_of(services, "When is the lamp lit?"))
    assert ended.wait(30)
    assert known(services, server).is_examined


def test_the_end_of_the_app_ends_it(services: Services, server: ChatServer) -> None:
    server.mode = "silence"
    ended = use(services, server)
    assert server.has_asked.wait(30)
    services.chat.stop()
    services.chat.close()
    assert ended.is_set()
    assert not known(services, server).is_examined
