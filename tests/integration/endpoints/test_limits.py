"""Endpoint limits as a question experiences them, and retries."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerWaits, MessageState
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.endpoints.client.allowances import Allowances, ProfileBook
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.ports import ChatTurn, Delta
from tests.asking import answer_of, events_of
from tests.command_line import run, run_process
from tests.servers.chat_server import ChatServer
from tests.servers.model_dialects import Dialect
from tests.standing_clock import Clock

ANSWER = "The lamp is lit at dusk [1]."
TURNS = (ChatTurn("system", "Be brief."), ChatTurn("user", "When is the lamp lit?"))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def allowances(clock: Clock) -> Allowances:
    return Allowances(clock=clock)


def ask(
    endpoint: EndpointSettings, allowances: Allowances, cancel: Event | None = None
) -> list[Delta]:
    with closing(ChatClient(endpoint, "", allowances=allowances)) as client:
        return list(client.stream(TURNS, cancel or Event()))


def text_of(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas)


def test_a_short_wait_is_waited_for_and_told(
    server: ChatServer, allowances: Allowances, clock: Clock
) -> None:
    limited = replace(server.endpoint(), requests_per_minute=1)
    ask(limited, allowances)
    clock.now += 59.9
    with closing(ChatClient(limited, "", allowances=allowances)) as client:
        answer = client.stream(TURNS, Event())
        first = next(answer)
        assert first == Delta("", status="The limit is 1 request a minute: continuing in 1 s.")
        clock.now += 1
        assert text_of(list(answer)) == ANSWER


def test_a_wait_can_be_stopped(server: ChatServer, allowances: Allowances, clock: Clock) -> None:
    limited = replace(server.endpoint(), requests_per_minute=1)
    ask(limited, allowances)
    clock.now += 45
    cancel = Event()
    with closing(ChatClient(limited, "", allowances=allowances)) as client:
        answer = client.stream(TURNS, cancel)
        assert next(answer).status
        threading.Timer(0.05, cancel.set).start()
        assert list(answer) == []
    assert len(server.chats) == 1


@pytest.mark.parametrize(("is_counted", "cost"), [(True, 7 + 2 * 7), (False, 9 + 2 * 10)])
def test_tokens_are_those_that_the_server_counts_else_estimated(
    server: ChatServer, allowances: Allowances, is_counted: bool, cost: int
) -> None:
    server.dialect = Dialect(counts_usage=True)
    profiles = ProfileBook()
    profiles.learn(server.base_url, "test-model", counts_usage=is_counted)
    priced = replace(server.endpoint(), price_in=1_000_000.0, price_out=2_000_000.0)
    with closing(ChatClient(priced, "", profiles, allowances=allowances)) as client:
        list(client.stream(TURNS, Event()))
    assert allowances.spent_today(server.base_url) == cost


def test_a_refused_request_costs_nothing(server: ChatServer, allowances: Allowances) -> None:
    server.mode, server.status = "status", 400
    priced = replace(server.endpoint(), price_in=1.0, price_out=1.0)
    with pytest.raises(AppError):
        ask(priced, allowances)
    assert allowances.spent_today(server.base_url) == 0


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_server_that_fails_is_asked_again_and_that_is_told(
    server: ChatServer, allowances: Allowances, status: int
) -> None:
    server.mode, server.status, server.misbehaves_times = "status", status, 1
    deltas = ask(server.endpoint(), allowances)
    assert text_of(deltas) == ANSWER
    assert "asked again in 1 s" in deltas[0].status
    assert len(server.chats) == 2


def test_a_server_that_keeps_failing_is_asked_three_times(
    server: ChatServer, allowances: Allowances
) -> None:
    server.mode, server.status = "status", 500
    with pytest.raises(AppError):
        ask(server.endpoint(), allowances)
    assert len(server.chats) == 3


def test_what_fails_in_the_middle_is_not_asked_again(
    server: ChatServer, allowances: Allowances
) -> None:
    server.mode = "error_event"
    with pytest.raises(AppError):
        ask(server.endpoint(), allowances)
    assert len(server.chats) == 1


def test_the_question_says_what_it_waits_for_and_which_limit_ended_it(
    services: Services, server: ChatServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk. The lens is cleaned.")
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    question = "When is the lamp lit?"
    services.chat.apply(replace(Settings(), endpoint=server.endpoint()))
    server.mode, server.status, server.misbehaves_times = "status", 503, 1
    events = events_of(services, question)
    assert any(isinstance(event, AnswerWaits) for event in events)
    assert answer_of(events).text == ANSWER
    limited = replace(server.endpoint(), requests_per_minute=1)
    services.chat.apply(replace(Settings(), endpoint=limited))
    failed = answer_of(events_of(services, question))
    assert failed.state is MessageState.FAILED
    assert "1 request a minute" in failed.error_title
    assert len(server.chats) == 2


def test_what_was_spent_today_is_known_after_a_restart(
    build_services: Callable[[], Services], server: ChatServer
) -> None:
    priced = replace(server.endpoint(), price_in=1.0, price_out=1.0, spend_per_day=0.000_001)
    services = build_services()
    services.chat.apply(replace(Settings(), endpoint=priced))
    model = services.chat.models.main()
    assert model
    with pytest.raises(AppError):
        list(model.stream(TURNS, Event()))
    assert server.chats == []
    services.chat.apply(replace(Settings(), endpoint=replace(priced, spend_per_day=1.0)))
    model = services.chat.models.main()
    assert model
    list(model.stream(TURNS, Event()))
    spent = services.chat.models.spent_today(server.base_url)
    services.close()
    assert build_services().chat.models.spent_today(server.base_url) == spent > 0


def test_two_commands_share_the_limit_of_the_home(
    home: Home, server: ChatServer, tmp_path: Path
) -> None:
    paper = tmp_path / "lamp.md"
    paper.write_text("# Lamp\n\nThe lamp is lit at dusk. The lens is cleaned.")
    assert run("index", str(paper)).returncode == 0
    limited = replace(server.endpoint(), requests_per_minute=1)
    save_settings(home.settings, replace(Settings(), endpoint=limited))
    done, failed = [command("ask", "When is the lamp lit?") for command in (run, run_process)]
    assert (done.returncode, failed.returncode) == (0, 1), (done, failed)
    assert "1 request a minute" in failed.stderr
    assert len(server.chats) == 1
