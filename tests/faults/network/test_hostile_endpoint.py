"""S-08: a malicious endpoint. Whatever it sends is bounded in memory and time, ends in a readable
error, and the key goes nowhere else.
"""

import json
import zlib
from collections.abc import Callable
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path
from threading import Event

import pytest

from desktop_rag.app import Services
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.embedding.remote_embedder import RemoteEmbedder
from desktop_rag.models.endpoints.client import endpoint_requests
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.endpoints.endpoint_check import list_models, probe_endpoint, running_servers
from desktop_rag.models.ports import ChatTurn
from tests.asking import ask
from tests.faults.memory import bounded_memory
from tests.servers.hostile_server import HostileServer, Script, forever, head

CANARY = "sk-canary-4b1fd00d"
MEGABYTE = 1 << 20
MOST_BYTES = 24 * MEGABYTE
# Text that must never be shown to a person.
JARGON = ("Error", "Exception", "Traceback", "Errno", "httpcore", "openai", "None", "<html", "\x1b")
Door = Callable[[EndpointSettings], object]


def chat(endpoint: EndpointSettings) -> str:
    with closing(ChatClient(endpoint, CANARY)) as client:
        deltas = list(client.stream([ChatTurn("user", "When is the lamp lit?")], Event()))
    return "".join(delta.text for delta in deltas if not delta.is_thinking)


def models(endpoint: EndpointSettings) -> tuple[str, ...]:
    return tuple(model.name for model in list_models(endpoint, CANARY))


def vectors(endpoint: EndpointSettings) -> object:
    with closing(RemoteEmbedder(endpoint, lambda _: CANARY)) as embedder:
        return embedder.embed_passages(["lamp"])


EACH_DOOR = pytest.mark.parametrize("door", [chat, models, vectors])


def event(**delta: object) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n"


END = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def answer(*parts: bytes) -> Script:
    return lambda: [head(), *parts, END]


def body(value: object, status: str = "200 OK") -> Script:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return lambda: [head(status, "application/json", Retry_After="0"), raw]


def fault_of(door: Door, endpoint: EndpointSettings) -> AppError:
    """The single resulting error, which states in plain words what happened and what to do."""
    with pytest.raises(AppError) as caught:
        door(endpoint)
    title, hint = caught.value.title, caught.value.hint
    assert title.endswith(".")
    assert hint
    assert len(title + hint) < 700
    assert not [word for word in (*JARGON, CANARY) if word in f"{title} {hint}"]
    return caught.value


# --- endless responses -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        event(content="and so on " * 1000),
        event(content=" " * 10_000),
        event(reasoning_content="let me think " * 1000),
        b": still here " * 1000 + b"\n\n",
    ],
    ids=["text", "blanks", "thoughts", "comments"],
)
def test_a_stream_without_end_is_ended(part: bytes) -> None:
    with HostileServer(lambda: chain([head()], forever(part))) as server:
        with bounded_memory():
            fault_of(chat, server.endpoint())
        assert server.sent_bytes < MOST_BYTES
        assert len(server.asked) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [b"data:\n" * 10_000, b"event: wait\n" * 5_000, b"\n" * 65_536],
    ids=["empty data", "names", "lines"],
)
def test_lines_without_end_are_ended(part: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    # With the limit of the app, millions of lines take half a minute while memory is traced.
    monkeypatch.setattr(endpoint_requests, "_MOST_BYTES_WITHOUT_TEXT", MEGABYTE)
    with HostileServer(lambda: chain([head()], forever(part))) as server:
        with bounded_memory():
            fault_of(chat, server.endpoint())
        assert server.sent_bytes < MOST_BYTES // 2
        assert len(server.asked) == 1


@EACH_DOOR
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_one_line_of_a_gigabyte_is_not_taken_in(door: Door, kind: str) -> None:
    start = b'data: {"data": [{"id": "' if kind == "text/event-stream" else b'{"data": [{"id": "'
    line = chain([head(kind=kind), start], repeat(b"x" * 65_536, 16_384))
    with HostileServer(lambda: line) as server:
        with bounded_memory():
            fault_of(door, server.endpoint())
        assert server.sent_bytes < MOST_BYTES


@EACH_DOOR
@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "500 Oh"])
def test_an_error_of_a_gigabyte_is_not_taken_in(door: Door, status: str) -> None:
    page = chain([head(status, "text/html"), b"<html>"], repeat(b"<p>sorry" * 8_192, 16_384))
    with HostileServer(lambda: page) as server:
        with bounded_memory():
            fault_of(door, server.endpoint())
        assert server.sent_bytes < MOST_BYTES


@EACH_DOOR
def test_a_head_without_end_is_not_taken_in(door: Door) -> None:
    lines = chain([b"HTTP/1.1 200 OK\r\n"], forever(b"X-More: " + b"x" * 1000 + b"\r\n"))
    with HostileServer(lambda: lines) as server:
        fault_of(door, server.endpoint())
        assert server.sent_bytes < MOST_BYTES


@pytest.mark.parametrize(
    "parts",
    [
        [b"HTTP/1.1 100 Continue\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"],
        [head(), b": still here\n"],
        [head(), event(content=" ")],
        [head(kind="application/json"), b" "],
        [head("500 Oh", kind="application/json"), b" "],
    ],
    ids=["continue", "head", "comments", "blanks", "body", "error"],
)
@EACH_DOOR
def test_a_byte_now_and_then_does_not_keep_anyone_waiting(door: Door, parts: list[bytes]) -> None:
    with HostileServer(lambda: chain(parts, forever(parts[-1]))) as server:
        server.pause_s = 0.02
        fault_of(door, server.endpoint(timeout_s=0.05))


def test_servers_on_this_computer_are_looked_for_in_bounded_time() -> None:
    with HostileServer(lambda: chain([head()], forever(b" "))) as server:
        server.pause_s = 0.02
        assert running_servers(Event(), {"Dripping": server.base_url}) == []


# --- compressed, garbled ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """256 MB of blanks in a quarter of a megabyte."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(b" " * MEGABYTE) for _ in range(256)) + packer.flush()


@EACH_DOOR
@pytest.mark.parametrize("status", ["200 OK", "500 Oh"])
@pytest.mark.parametrize("encoding", ["GZIP", "gzip, gzip", "", "br", "x", "gzip," * 1000])
def test_what_is_compressed_is_unpacked_within_bounds(
    door: Door, status: str, encoding: str, bomb: bytes
) -> None:
    packed = [head(status, "application/json", Content_Encoding=encoding), bomb]
    with HostileServer(lambda: packed) as server, bounded_memory():
        error = fault_of(door, server.endpoint())
        is_unknown = encoding in ("br", "x") or len(encoding) > 100
        told = "compressed in a way that cannot be read." if is_unknown else "could not be read."
        assert error.title.endswith(told if status == "200 OK" else "failed.")
        assert "accept-encoding: identity" in server.asked[0].head


@EACH_DOOR
def test_a_body_that_is_compressed_on_the_way_is_never_unpacked(door: Door, bomb: bytes) -> None:
    packed = [head(Transfer_Encoding="gzip, chunked"), bomb]
    with HostileServer(lambda: packed) as server, bounded_memory():
        fault_of(door, server.endpoint())


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (b"caf\xe9", "caf\ufffd"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xc0\xaf", "\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\\ud83d!", "\ufffd!"),
        (b"a\\u0000!", "a !"),
        (b"\\ud83d\\ude00", "\U0001f600"),
    ],
)
def test_bytes_that_are_no_text_become_text_that_can_be_kept(sent: bytes, shown: str) -> None:
    with HostileServer(answer(event(content="?").replace(b"?", sent))) as server:
        assert chat(server.endpoint()) == shown


@pytest.mark.slow
def test_an_answer_that_no_database_takes_is_kept_all_the_same(
    services: Services, tmp_path: Path
) -> None:
    (tmp_path / "lamp.md").write_text("The lamp is lit at dusk.")
    services.library.sources.add(tmp_path / "lamp.md")
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    odd = event(reasoning_content="\ud83d\0") + event(content="At dusk \udc00\0[1].")
    with HostileServer(answer(odd)) as server:
        services.chat.apply(Settings(endpoint=server.endpoint()))
        told = ask(services, "When is the lamp lit?")
    kept = services.chat.history.messages(told.conversation_id)[-1]
    assert (kept.text, kept.thinking) == ("At dusk \ufffd [1].", "\ufffd ")


@pytest.mark.parametrize("sent", [b"\\ud83d", b"\\u0000", b"\xed\xa0\x80"])
def test_names_of_models_are_text_that_can_be_kept(sent: bytes) -> None:
    with HostileServer(body(b'{"data": [{"id": "m' + sent + b'"}]}')) as server:
        [name] = models(server.endpoint())
    assert name in ("m\ufffd", "m ")


@EACH_DOOR
@pytest.mark.parametrize("value", [b"\xff\xfe\xfa", b"{\xff", b"\xef\xbb\xbf{", b"", b"[", b"NaN"])
def test_a_body_that_is_no_text_is_an_error(door: Door, value: bytes) -> None:
    with HostileServer(body(value)) as server:
        fault_of(door, server.endpoint())


def nested_error(depth: int) -> bytes:
    return b'{"error":' * depth + b'"no"' + b"}" * depth


@pytest.mark.slow
@EACH_DOOR
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request"])
def test_errors_within_errors_at_any_depth_are_an_error(door: Door, status: str) -> None:
    # The nesting limit of the JSON parser is somewhere in this range.
    for depth in range(700, 1000, 10):
        with HostileServer(body(nested_error(depth), status)) as server:
            fault_of(door, server.endpoint())


@EACH_DOOR
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "429 Busy", "503 Loading"])
@pytest.mark.parametrize(
    "error",
    [
        {"message": ["a", {"b": 1}], "code": {"c": []}, "type": 5, "param": [None]},
        {"message": "\x1b[2J\x1b]0;owned\x07 \u202e\u2066 gone\u200b", "code": "\x1b[31m"},
        {"message": "<html><script>alert(1)</script>"},
        {"message": "x" * 100_000},
        {"message": "\ud800\u0000"},
        {"message": "{host} {0} %s {said!r}"},
        [["no"]],
        5,
        True,
    ],
    ids=["types", "controls", "html", "long", "surrogate", "braces", "list", "number", "true"],
)
def test_errors_of_any_shape_are_told_in_plain_words(
    door: Door, status: str, error: object
) -> None:
    with HostileServer(body({"error": error}, status)) as server:
        found = fault_of(door, server.endpoint())
    shown = f"{found.title} {found.hint}"
    assert shown.isprintable()
    assert "\u202e" not in shown


# --- unrequested content ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["execute", "tool", "function_call", "__proto__", "\x1b[2J"])
def test_unknown_events_are_passed_over(name: str) -> None:
    orders: list[object] = ["import os", {"code": "import os"}, {"tool": "rm", "arguments": "/"}]
    said = [f"event: {name}\ndata: {json.dumps(order)}\n\n".encode() for order in orders]
    raw = f"event: {name}\ndata: import os; os.abort()\nid: 1\nretry: 0\n\n".encode()
    with HostileServer(answer(*said, raw, event(content="At dusk."), raw)) as server:
        assert chat(server.endpoint()) == "At dusk."
        assert len(server.asked) == 1


CALL = {"id": "1", "type": "function", "function": {"name": "delete_folder", "arguments": "{}"}}


@pytest.mark.parametrize(
    "call",
    [
        {"tool_calls": [CALL]},
        {"tool_calls": {"index": 0}},
        {"function_call": {"name": "delete_folder", "arguments": "{}"}},
        {"role": "tool", "tool_calls": [CALL] * 1000},
        {"audio": {"data": "AAAA"}, "images": [{"image_url": {"url": "http://x/"}}]},
    ],
)
def test_calls_of_tools_are_passed_over(call: dict[str, object]) -> None:
    with HostileServer(answer(event(content="At "), event(**call), event(content="dusk."))) as it:
        assert chat(it.endpoint()) == "At dusk."
    with HostileServer(answer(event(**call))) as server:
        assert fault_of(chat, server.endpoint()).title == "The model gave no answer."
        assert len(server.asked) == 1


# --- the key ---------------------------------------------------------------------------------


@EACH_DOOR
@pytest.mark.parametrize("status", ["301", "302", "303", "307", "308", "300", "399"])
@pytest.mark.parametrize("form", ["http://{host}/v1", "//{host}/", "http://a:b@{host}/?k={key}"])
def test_no_redirect_is_followed(door: Door, status: str, form: str) -> None:
    with HostileServer(body({})) as trap:
        host = trap.base_url.removeprefix("http://").removesuffix("/v1")
        place = form.format(host=host, key=CANARY)
        moved = [head(f"{status} Moved", Location=place, Refresh=f"0; url={place}")]
        with HostileServer(lambda: moved) as server:
            error = fault_of(door, server.endpoint())
            assert len(server.asked) == 1
        assert trap.connections == 0
    assert error.title.endswith("The endpoint points to another address.")
    assert host in error.hint


@EACH_DOOR
@pytest.mark.parametrize("place", ["file:///etc/passwd", "", "http://", "\\\\host\\share", "h" * 9])
def test_odd_redirects_are_errors_too(door: Door, place: str) -> None:
    with HostileServer(lambda: [head("302 Found", Location=place)]) as server:
        error = fault_of(door, server.endpoint())
    assert error.title.endswith("The endpoint points to another address.")


@EACH_DOOR
@pytest.mark.parametrize("status", ["401 Unauthorized", "407 Proxy"])
@pytest.mark.parametrize("scheme", ["Bearer", "Basic", "Digest", "Negotiate", "NTLM"])
def test_whoever_wants_the_key_elsewhere_does_not_get_it(
    door: Door, status: str, scheme: str
) -> None:
    with HostileServer(body({"access_token": "x"})) as trap:
        realm = f'{scheme} realm="{trap.base_url}/token", nonce="1", qop="auth", service="x"'
        wants = head(
            status, "application/json",
            WWW_Authenticate=realm, Proxy_Authenticate=realm, Location=trap.base_url,
            Link=f"<{trap.base_url}>; rel=next", Retry_After="0",
        )  # fmt: skip
        with HostileServer(lambda: [wants, b'{"error": {"message": "no"}}']) as server:
            error = fault_of(door, server.endpoint())
            # A refused key is not sent again, however often the server asks for it.
            assert len(server.asked) == 1
            assert server.asked[0].head.count(CANARY) == 1
        assert trap.connections == 0
        assert trap.base_url not in f"{error.title} {error.hint}"


@EACH_DOOR
def test_nothing_that_the_server_hands_out_comes_back_to_it(door: Door) -> None:
    given = head(
        "429 Busy", "application/json",
        Set_Cookie="track=me; Path=/", ETag='"me"', Alt_Svc='h2="o.example:443"', Retry_After="0",
    )  # fmt: skip
    with HostileServer(lambda: [given, b"{}"]) as server:
        fault_of(door, server.endpoint())
        assert len(server.asked) == (1 if door is models else 3)
        assert not [one for one in server.asked if "track" in one.head or '"me"' in one.head]
        assert {one.line.split()[1] for one in server.asked} <= {
            "/v1/chat/completions", "/v1/models", "/v1/embeddings",
        }  # fmt: skip


def test_a_probe_gives_up_once_a_server_only_drips() -> None:
    with HostileServer(lambda: chain([head(kind="application/json")], forever(b" "))) as server:
        server.pause_s = 0.02
        report = probe_endpoint(server.endpoint(timeout_s=0.05), CANARY)
        assert report.title == "The endpoint did not produce an answer in time."
        assert len(server.asked) == 1


@pytest.mark.slow
def test_a_probe_of_a_hostile_endpoint_reports_it() -> None:
    with HostileServer(lambda: chain([head()], forever(event(content=" " * 10_000)))) as server:
        report = probe_endpoint(server.endpoint(), CANARY)
    assert not report.is_ok
    assert CANARY not in repr(report)
