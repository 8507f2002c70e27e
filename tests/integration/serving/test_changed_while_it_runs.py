"""Settings of the server that hold from the next request on, and those that start it anew."""

import socket
import ssl
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import httpx2
import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.services import ServerSwitch
from tests.integration.serving.admin.admin_browser import AdminBrowser
from tests.integration.serving.conftest import Serve, Server
from tests.servers.chat_server import ChatServer
from tests.unit.serve.certificate_files import certificate_files

pytestmark = pytest.mark.usefixtures("one_library")

_CHAT = "/v1/chat/completions"
_ASKED = {"model": "desktop-rag", "messages": [{"role": "user", "content": "When is it lit?"}]}


def switch_of(server: Server) -> ServerSwitch:
    return server.services.wing(ServerSwitch)


def change(server: Server, **settings: object) -> None:
    present = ServerSettings(is_on=True, port=0)
    switch_of(server).apply(replace(present, **settings))  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_login_and_the_address_outlive_a_switch(server: Server) -> None:
    with AdminBrowser(server) as browser:
        browser.log_in()
        assert "Questions and answers are not kept" in browser.get("/admin/log").text
        change(server, logs_text=True, exposes_models=True, origins=("https://wiki.example",))
        assert switch_of(server).address == server.address
        assert "Questions and answers are kept" in browser.get("/admin/log").text


@pytest.mark.slow
def test_a_stream_goes_on_over_a_switch(server: Server, endpoint: ChatServer) -> None:
    endpoint.pause_s = 0.05
    asked = _ASKED | {"stream": True}
    with server.client() as client, client.stream("POST", _CHAT, json=asked) as answer:
        lines = answer.iter_lines()
        next(lines)
        change(server, logs_text=True, exposes_models=True)
        assert [line for line in lines if line][-1] == "data: [DONE]"


@pytest.mark.slow
def test_models_of_endpoints_are_exposed_at_once(server: Server, endpoint: ChatServer) -> None:
    with server.client() as client:
        before = {each["id"] for each in client.get("/v1/models").json()["data"]}
        change(server, exposes_models=True)
        after = {each["id"] for each in client.get("/v1/models").json()["data"]}
        assert after > before
        change(server)
        assert {each["id"] for each in client.get("/v1/models").json()["data"]} == before


@pytest.mark.slow
def test_an_origin_and_a_name_are_let_in_at_once(server: Server) -> None:
    port = server.address.rpartition(":")[2]
    foreign = {"origin": "https://wiki.example"}
    named = {"host": f"rag.example:{port}"}
    with server.client() as client:
        assert client.get("/v1/models", headers=foreign).status_code == HTTPStatus.FORBIDDEN
        assert client.get("/v1/models", headers=named).status_code == HTTPStatus.MISDIRECTED_REQUEST
        change(server, origins=("https://wiki.example",), host_names=("rag.example",))
        assert client.get("/v1/models", headers=foreign).status_code == HTTPStatus.OK
        assert client.get("/v1/models", headers=named).status_code == HTTPStatus.OK


@pytest.mark.slow
def test_without_a_filter_that_is_wanted_nothing_is_served(server: Server) -> None:
    with pytest.raises(AppError, match="no filter"):
        change(server, filters=("nowhere",))
    assert not switch_of(server).address


@pytest.mark.slow
def test_another_port_starts_it_anew(serve: Serve) -> None:
    server = serve()
    with AdminBrowser(server) as browser:
        browser.log_in(server.token(TokenScope.ADMIN))
        serve(port=0, host="localhost")
        assert switch_of(server).address
        assert switch_of(server).address != server.address


@pytest.mark.slow
def test_a_port_of_another_program_changes_nothing(server: Server) -> None:
    switch = switch_of(server)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(AppError, match=f"Port {port} is taken by another program"):
            switch.check(ServerSettings(is_on=True, port=port))
    assert switch.address == server.address
    # Its own port is free for it.
    switch.check(ServerSettings(is_on=True, port=switch.port, host="localhost"))


@pytest.mark.slow
def test_an_address_of_another_computer_is_told(server: Server) -> None:
    with pytest.raises(AppError, match="no address of this computer"):
        switch_of(server).check(ServerSettings(is_on=True, port=0, host="192.0.2.1"))


@pytest.mark.slow
def test_a_certificate_starts_it_anew_with_https(serve: Serve, tmp_path: Path) -> None:
    files = certificate_files(tmp_path, "good")
    settings = {"certificate": str(files.certificate), "certificate_key": str(files.key)}
    server = serve(**settings)
    facts = switch_of(server).check(replace(ServerSettings(port=0), **settings))
    assert facts
    assert facts.names == ("localhost", "127.0.0.1")
    trusted = ssl.create_default_context(cafile=files.certificate)
    answer = httpx2.get(f"{server.address}/v1/models", verify=trusted, trust_env=False)
    assert answer.status_code == HTTPStatus.UNAUTHORIZED
    with pytest.raises(httpx2.TransportError):
        httpx2.get(server.address.replace("https", "http"), trust_env=False)


@pytest.mark.slow
def test_a_key_behind_a_password_asks_nobody(serve: Serve, tmp_path: Path) -> None:
    files = certificate_files(tmp_path, "closed", password=b"sesame")
    with pytest.raises(AppError, match="protected by a password"):
        serve(certificate=str(files.certificate), certificate_key=str(files.key))
