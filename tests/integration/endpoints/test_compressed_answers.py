"""Answers that a server compresses although it was asked not to."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from threading import Event

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.ports import ChatTurn
from tests.servers.chat_server import ChatServer

ANSWER = " ".join(f"Lamp {n} is lit at dusk [1]." for n in range(200))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER, mode="packed") as server:
        yield server


def ask(server: ChatServer) -> str:
    with closing(ChatClient(server.endpoint())) as client:
        return "".join(d.text for d in client.stream([ChatTurn("user", "When?")], Event()))


def bare_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", bare_deflate),
        ("deflate, gzip", lambda content: gzip.compress(zlib.compress(content))),
        ("", gzip.compress),
        ("identity", bytes),
    ],
)
def test_it_is_read(server: ChatServer, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    server.headers, server.pack = {"Content-Encoding": encoding}, pack
    assert ask(server) == ANSWER
    assert server.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br"])
def test_what_cannot_be_read_is_named(server: ChatServer, encoding: str) -> None:
    server.headers = {"Content-Encoding": encoding}
    with pytest.raises(AppError) as caught:
        ask(server)
    assert "compressed in a way that cannot be read" in caught.value.title
    assert encoding.rpartition(" ")[2] in caught.value.hint


def test_zstd_that_does_not_say_so_is_named(server: ChatServer) -> None:
    server.pack = lambda _: b"\x28\xb5\x2f\xfd\x04\x00"
    with pytest.raises(AppError) as caught:
        ask(server)
    assert "zstd" in caught.value.hint


def test_an_error_that_cannot_be_read_still_has_its_status(server: ChatServer) -> None:
    server.mode, server.status, server.headers = "status", 401, {"Content-Encoding": "br"}
    with pytest.raises(AppError) as caught:
        ask(server)
    assert caught.value.title == "The endpoint requires a key."


def test_what_is_not_compressed_as_it_says_is_an_error(server: ChatServer) -> None:
    server.mode = "packed"
    server.headers, server.pack = {"Content-Encoding": "gzip"}, lambda _: b"not packed"
    with pytest.raises(AppError) as caught:
        ask(server)
    assert caught.value.title == "The endpoint's answer could not be read."
