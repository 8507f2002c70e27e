"""Addresses as people type them."""

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.models.endpoint_address import (
    has_key_slot,
    is_this_computer,
    key_in,
    normalise_base_url,
    split_address,
    with_version,
)


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
        ("https://api.example.com/v1/chat/completions?v=2", "https://api.example.com/v1?v=2"),
        ("https://api.example.com/v1?", "https://api.example.com/v1"),
        ("https://api.example.com/v1?key=secret&v=2", "https://api.example.com/v1?key={key}&v=2"),
        ("https://api.example.com/v1?key={key}", "https://api.example.com/v1?key={key}"),
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
    ("query", "key"),
    [
        ("key=secret", "secret"),
        ("API_KEY=secret", "secret"),
        ("subscription-key=secret&api-version=2024-10-21", "secret"),
        ("sig=a%2Bb%2F1", "a+b/1"),
        ("x=sk-proj-0123456789", "sk-proj-0123456789"),
        ("x=AIzaSyD0123456789abcdefghij", "AIzaSyD0123456789abcdefghij"),
        ("x=Zm9vYmFyYmF6cXV4MTIzNDU2", "Zm9vYmFyYmF6cXV4MTIzNDU2"),
        ("token={key}", ""),
        ("key=", ""),
        ("api-version=2025-04-01-preview", ""),
        ("project=12345678-aaaa-bbbb-cccc-1234567890ab", ""),
        ("country_code=de&keyboard=qwerty&max_tokens=5", ""),
        ("next=https://files.example.com/2024/11/21/report", ""),
    ],
)
def test_a_key_in_the_query_is_told_from_the_rest(query: str, key: str) -> None:
    typed = f"https://api.example.com/v1?{query}"
    assert key_in(typed) == key
    address = normalise_base_url(typed)
    assert not key or key not in address
    assert has_key_slot(address) is (bool(key) or "{key}" in query)
    assert key or address == typed


def test_the_key_goes_back_to_its_place_in_a_request() -> None:
    address = normalise_base_url("https://api.example.com/v1?a=1&key=s%26cret")
    assert split_address(address, "s&cret") == ("https://api.example.com/v1", "a=1&key=s%26cret")


def test_two_keys_are_one_too_many() -> None:
    with pytest.raises(AppError) as caught:
        normalise_base_url("https://api.example.com/v1?key=first&token=second")
    assert "several keys" in caught.value.title
    assert "first" not in str(caught.value)


def test_the_name_of_the_model_is_filled_into_the_path() -> None:
    address = "https://me.openai.azure.com/openai/deployments/{model}?api-version=2024-10-21"
    assert normalise_base_url(address) == address
    bare, query = split_address(address, model="my model/4")
    assert bare == "https://me.openai.azure.com/openai/deployments/my%20model%2F4"
    assert query == "api-version=2024-10-21"


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
    assert with_version("http://localhost:8080?a=1") == "http://localhost:8080/v1?a=1"
    assert with_version("http://localhost:8080/v1") == ""
    assert with_version("https://api.example.com/v1beta/openai") == ""


@pytest.mark.parametrize("path", ["", "/v1beta", "/v1beta/models/gemini-pro:generateContent"])
def test_the_api_that_the_app_does_not_speak_leads_to_the_one_beside_it(path: str) -> None:
    with pytest.raises(AppError) as refused:
        normalise_base_url(f"https://generativelanguage.googleapis.com{path}")
    assert refused.value.hint.endswith("https://generativelanguage.googleapis.com/v1beta/openai")
    spoken = normalise_base_url(
        "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"
    )
    assert spoken.endswith("/v1beta/openai")
