"""Errors of the network that no local server can make, in words."""

import socket
import ssl

import httpcore2
import httpx2
import pytest

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.endpoint_errors import mapping_endpoint_errors
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

ENDPOINT = EndpointSettings("https://api.example.com", "m{o}del", timeout_s=7)
KEY = "sk-canary-42"


def mapped(exc: Exception) -> AppError:
    with pytest.raises(AppError) as caught, mapping_endpoint_errors(ENDPOINT, KEY):
        raise exc
    return caught.value


def certificate_error() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("error", "title", "hint"),
    [
        (httpcore2.ConnectError(ConnectionRefusedError()), "refused", "api.example.com"),
        (httpcore2.ConnectError(socket.gaierror(-2, "unknown")), "not found", "online"),
        (httpcore2.ConnectError(certificate_error()), "certificate", "self-signed certificate"),
        (httpcore2.ConnectError(ssl.SSLError("record layer")), "https", "http://"),
        (httpcore2.ConnectError(OSError(113, "No route")), "cannot be reached", "No route"),
        (httpcore2.ConnectTimeout(), "10 seconds", "api.example.com"),
        (httpcore2.WriteTimeout(), "too long", "Retry"),
        (httpcore2.ProxyError("407 Login"), "proxy", "407 Login"),
        (httpcore2.ReadError(OSError("reset")), "closed the connection", "Retry"),
        (StreamError(Fault.FAILED, "Slow down", "429"), "limit of requests", "Slow down"),
        (StreamError(Fault.FAILED, "maximum context length is 9"), "too long", "8192"),
    ],
)
def test_each_error_says_what_and_what_now(error: Exception, title: str, hint: str) -> None:
    found = mapped(error)
    assert title in found.title
    assert hint in found.hint
    assert found.__cause__ is error


@pytest.mark.parametrize("fault", Fault)
def test_every_fault_fills_in_its_words(fault: Fault) -> None:
    found = mapped(StreamError(fault, f"{{curly}} {KEY} " + "x" * 1000))
    words = f"{found.title} {found.hint}"
    assert found.title.endswith(".")
    assert KEY not in words
    assert "{" not in words.replace("{o}", "").replace("{curly}", "")
    assert "  " not in words
    assert len(words) < 700


def test_a_connection_error_of_the_library_itself() -> None:
    from openai import APIConnectionError

    request = httpx2.Request("GET", "https://api.example.com")
    assert "cannot be reached" in mapped(APIConnectionError(request=request)).title


def test_a_fault_without_an_address_has_words_too() -> None:
    with pytest.raises(AppError) as caught, mapping_endpoint_errors(EndpointSettings("x y")):
        raise StreamError(Fault.ODD_KEY)
    assert "Copy it again" in caught.value.hint


def test_a_bug_stays_a_bug() -> None:
    with pytest.raises(ZeroDivisionError), mapping_endpoint_errors(ENDPOINT):
        raise ZeroDivisionError


@pytest.mark.parametrize("error", [Cancelled(), AppError("Known.", "Already.")])
def test_our_own_errors_pass(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, mapping_endpoint_errors(ENDPOINT):
        raise error
    assert caught.value is error
