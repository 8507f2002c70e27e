import socket
import threading

from desktop_rag.models.endpoints.endpoint_check import LocalServer, running_servers
from tests.servers.chat_server import ChatServer


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_those_that_answer_are_found_with_their_models() -> None:
    with ChatServer() as small, ChatServer() as broken:
        small.models = ("tiny", "large")
        broken.mode = "html"
        usual = {
            "Small": small.base_url,
            "Nobody": f"http://127.0.0.1:{free_port()}/v1",
            "A web server": broken.base_url,
        }
        found = running_servers(threading.Event(), usual)
        assert found == [LocalServer("Small", small.base_url, ("tiny", "large"))]
        assert [request.path for request in small.requests] == ["/v1/models"]
        assert "sk-" not in str(small.requests[0].headers)


def test_one_that_never_ends_does_not_hold_up_the_others() -> None:
    with ChatServer() as good, ChatServer() as endless:
        endless.mode = "silence"
        usual = {"Endless": endless.base_url, "Good": good.base_url}
        assert [s.name for s in running_servers(threading.Event(), usual)] == ["Good"]


def test_one_that_never_answers_is_left_alone_when_nobody_waits_any_more() -> None:
    cancelled = threading.Event()
    cancelled.set()
    with ChatServer() as server:
        server.mode = "silence"
        assert running_servers(cancelled, {"Silent": server.base_url}) == []
