"""The message and the codes in bodies of every form."""

import json

import pytest

from desktop_rag.models.endpoints.client.refusals.refusal_kinds import (
    is_error,
    parsed_body,
    server_message,
)

RAW = json.dumps({"type": "error", "error": {"type": "authentication_error", "message": "no key"}})


@pytest.mark.parametrize(
    ("body", "said", "code"),
    [
        ({"error": {"message": "Slow down", "code": "429"}}, "Slow down", "429"),
        ({"error": "Slow down", "error_type": "busy"}, "Slow down", "busy"),
        ({"message": "Slow down", "type": "a"}, "Slow down", "a"),
        ({"detail": "Slow down"}, "Slow down", ""),
        ({"detail": [{"loc": ["body"], "msg": "Field required"}]}, "Field required", ""),
        ([{"error": {"code": 400, "message": "Slow down", "status": "X"}}], "Slow down", "400 X"),
        ({"errors": [{"message": "A", "code": 5007}, {"message": "B."}]}, "A. B.", "5007"),
        ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}}, "login fail", "1004"),
        ({"error": {"message": "Provider returned error", "code": 401, "metadata": {"raw": RAW}}},
         "Provider returned error. no key", "401 error authentication_error"),
        ({"object": "error", "message": {"detail": [{"msg": "Too long"}]}}, "Too long", ""),
        ({"error_code": 18, "error_msg": "qps"}, "qps", "18"),
        ({"__type": "ThrottlingException", "Message": "Wait"}, "Wait", "ThrottlingException"),
        ({"title": "Bad", "detail": "Bad input", "status": 422}, "Bad input", "422"),
        ({"error": {"message": "The same"}, "message": "The same"}, "The same", ""),
        ({"error": True}, "", ""),
        ("plain text", "plain text", ""),
        (None, "", ""),
        (7, "", ""),
    ],
)  # fmt: skip
def test_messages(body: object, said: str, code: str) -> None:
    assert server_message(body) == (said, code)


def test_what_was_sent_is_no_message() -> None:
    body = {"detail": [{"msg": "No", "input": {"message": "a secret question"}}]}
    assert server_message(body) == ("No", "")


def test_a_deep_body_ends() -> None:
    body: object = "deep"
    for _ in range(100):
        body = {"error": body}
    assert server_message(body) == ("", "")


@pytest.mark.parametrize(
    ("content", "body"),
    [
        (b'\xef\xbb\xbf{"error": 1}', {"error": 1}),
        (b'event: error\ndata: {"message": "x"}\n\n', {"message": "x"}),
        (b'error: {"code": 500}\n\n', {"code": 500}),
        (b" no JSON ", "no JSON"),
        (b"{half", "{half"),
    ],
)
def test_bodies(content: bytes, body: object) -> None:
    assert parsed_body(content) == body


@pytest.mark.parametrize(
    "body",
    [
        {"error": "x"},
        {"errors": [{"message": "x"}]},
        [{"error": {}}, {"error": {"message": "x"}}],
        {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
        {"object": "error", "message": "x"},
        {"type": "error", "error": {"message": "x"}},
        {"success": False, "msg": "x"},
        {"code": 1113, "msg": "x"},
        {"detail": "x"},
        {"choices": [{"error": {"message": "x"}, "finish_reason": "error"}]},
    ],
)
def test_errors_in_a_successful_response(body: object) -> None:
    assert is_error(body) == (body != [{"error": {}}, {"error": {"message": "x"}}])


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"delta": {"content": "x"}}]},
        {"choices": [], "usage": {}, "error": None},
        {"choices": [], "base_resp": {"status_code": 0, "status_msg": "success"}},
        {"type": "ping"},
        {"message": "hello", "code": 200},
        {"id": "x", "object": "chat.completion.chunk"},
        [],
        "x",
        None,
    ],
)
def test_no_errors(body: object) -> None:
    assert not is_error(body)
