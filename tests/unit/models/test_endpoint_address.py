"""Addresses as people type them."""

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.models.endpoint_address import is_this_computer, normalise_base_url, with_version


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        (" http://localhost:11434/v1/ \n", "http://localhost:11434/v1"),
        ("localhost:11434", "http://localhost:11434"),
        ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("192.168.1.7:1234/v1", "http://192.168.1.7:1234/v1"),
        ("workshop:8000/v1", "http://workshop:8000/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
        ("8.8.8.8/v1", "https://8.8.8.8/v1"),
        ("HTTPS://API.Example.com/V1", "https://api.example.com/V1"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com/v1"),
        ("https://api.example.com/v1//models/", "https://api.example.com/v1"),
        ("http://localhost:8080/#/chat", "http://localhost:8080"),
        ("https://api.example.com/v1?key=secret", "https://api.example.com/v1"),
    ],
)
def test_normalised(typed: str, address: str) -> None:
    assert normalise_base_url(typed) == address
    assert normalise_base_url(address) == address


@pytest.mark.parametrize(
    "typed",
    ["", "  ", "ftp://host/v1", "http://", "a b", "http://host:port", "http://[::1", "http://h:0",
     "file:///etc/passwd", "http://me:secret@host/v1", "me@host", "http://ho\u202est/"],
)  # fmt: skip
def test_not_an_address(typed: str) -> None:
    with pytest.raises(AppError) as caught:
        normalise_base_url(typed)
    assert caught.value.hint
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:5", True),
        ("http://192.168.1.7", False),
        ("https://localhost.example.com", False),
    ],
)
def test_this_computer(address: str, is_here: bool) -> None:
    assert is_this_computer(address) is is_here


def test_the_version_is_suggested_only_where_it_lacks() -> None:
    assert with_version("http://localhost:8080") == "http://localhost:8080/v1"
    assert with_version("http://localhost:8080/v1") == ""
    assert with_version("https://api.example.com/v1beta/openai") == ""
