"""Reading a stream: events in any cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.models.endpoints.client.chat_stream import (
    DONE,
    EventDecoder,
    HeardCalls,
    StreamPart,
    read_completion,
    read_event,
)
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError


def event(text: str) -> bytes:
    body = json.dumps({"choices": [{"delta": {"content": text}}]}, ensure_ascii=False)
    return f"data: {body}\r\n\r\n".encode()


def decode(*chunks: bytes) -> list[StreamPart]:
    decoder = EventDecoder()
    pieces = [piece for chunk in chunks for piece in decoder.feed(chunk)]
    return pieces + list(decoder.feed(b"", is_last=True))


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
def test_cuts_of_the_bytes_do_not_matter(texts: list[str], data: st.DataObject) -> None:
    stream = b"".join(map(event, texts))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert [piece.text for piece in decode(*chunks)] == texts


def test_an_event_without_its_blank_line_counts_at_the_end() -> None:
    assert decode(event("a") + b"data: [DONE]") == [StreamPart("a"), StreamPart(finish_reason=DONE)]


def test_an_event_in_several_lines_is_one() -> None:
    assert decode(b'data: {"choices":\ndata: [{"delta": {"content": "x"}}]}\n\n') == [
        StreamPart("x")
    ]


def test_only_events_with_names_of_their_own_may_hold_anything() -> None:
    assert decode(b"event: execute\ndata: rm -rf\n\n", event("a")) == [StreamPart("a")]
    with pytest.raises(StreamError):
        decode(b"event: message\ndata: rm -rf\n\n")
    with pytest.raises(StreamError):
        decode(b"event: error\ndata: out of memory\n\n")


def test_in_a_stream_a_line_like_a_tag_is_no_web_page() -> None:
    assert decode(event("a"), b"<!-- still here -->\n\n", event("b")) == [
        StreamPart("a"),
        StreamPart("b"),
    ]


def test_an_error_among_events_comes_after_what_was_before_it() -> None:
    decoder = EventDecoder()
    pieces = decoder.feed(event("a") + b'data: {"error": "broken"}\n\n')
    assert next(pieces) == StreamPart("a")
    with pytest.raises(StreamError) as caught:
        next(pieces)
    assert (caught.value.fault, caught.value.said) == (Fault.FAILED, "broken")


@pytest.mark.parametrize("line", [b"data: x\n", b": x\n", b"x", b"x\n"])
def test_what_is_held_is_bounded_and_comments_are_not_held(line: bytes) -> None:
    decoder = EventDecoder()
    chunk = line.replace(b"x", b"x" * 100_000)

    def feed() -> None:
        for _ in range(60):
            assert list(decoder.feed(chunk)) == []

    if line.startswith(b"data") or not line.endswith(b"\n"):
        with pytest.raises(StreamError):
            feed()
    else:
        feed()


def test_a_web_page_is_recognised_whatever_it_is_called() -> None:
    with pytest.raises(StreamError) as caught:
        decode(b"\n\n  <html>\n")
    assert caught.value.fault is Fault.WEB_PAGE


@pytest.mark.slow
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["choices", "delta", "message", "content", "text", "thinking", "reasoning",
                         "finish_reason", "refusal", "x"]), inner),
    max_leaves=20,
))  # fmt: skip
def test_no_event_of_any_shape_is_a_bug(event: object) -> None:
    piece = read_event(event)
    assert isinstance(piece.text, str)
    assert isinstance(piece.thinking, str)
    assert isinstance(piece.finish_reason, str)


def test_contents_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Yes"},
        {"type": "text", "text": "."},
    ]
    assert read_event({"choices": [{"delta": {"content": parts}}]}) == StreamPart("Yes.", "Hm.")


def test_a_refusal_is_the_answer() -> None:
    assert read_event({"choices": [{"delta": {"refusal": "No."}}]}) == StreamPart("No.")


@pytest.mark.parametrize("body", [b"", b"[]", b'"x"', b'{"a": 1}', b"\xff", b"1" * 5000])
def test_what_is_no_completion(body: bytes) -> None:
    with pytest.raises(StreamError) as caught:
        read_completion(body)
    assert caught.value.fault is Fault.UNREADABLE


def received(*chunks: bytes) -> str:
    decoder = EventDecoder()
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return "".join(part.text for part in [*parts, *decoder.feed(b"", is_last=True)])


def test_a_byte_order_mark_eats_no_word() -> None:
    event = b'\xef\xbb\xbfdata: {"choices": [{"delta": {"content": "Yes."}}]}\n\n'
    assert received(event) == "Yes."
    assert received(event[:1], event[1:2], event[2:]) == "Yes."


def test_an_emoji_in_two_events_is_one() -> None:
    halves = (rb"Lit \ud83d", rb"\ude00.", rb"Lone \ud83d", rb"end")
    events = [b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % half for half in halves]
    assert received(*events) == "Lit \U0001f600.Lone \ufffdend"


def test_an_emoji_whose_bytes_are_in_two_events_is_one() -> None:
    parts = (b"Lit \xf0\x9f", b"\x98\x80.", b"Alone \xf0\x9f", b"end \xff")
    events = [b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % part for part in parts]
    assert received(*events) == "Lit \U0001f600.Alone \ufffdend \ufffd"


def test_an_answer_repeated_at_its_end_comes_once() -> None:
    begun = b'data: {"choices": [{"delta": {"content": "Yes."}}]}\n\n'
    for delta in (b"{}", b'{"content": ""}', b'{"role": "assistant"}'):
        repeated = b'data: {"choices": [{"delta": %s, "message": {"content": "Yes."}}]}\n\n' % delta
        assert received(begun, repeated) == "Yes."
    assert received(begun, b'data: {"choices": [{"message": {"content": "Yes."}}]}\n\n') == "Yes."
    alone = b'data: {"choices": [{"delta": {}, "message": {"content": "Yes."}}]}\n\n'
    assert received(alone) == "Yes."


@pytest.mark.parametrize(
    ("choice", "part"),
    [
        ({"delta": {"content": {"type": "text", "text": "Yes"}}}, StreamPart("Yes")),
        ({"text": "Yes"}, StreamPart("Yes")),
        ({"delta": {"reasoning_details": [{"text": "Hm"}]}}, StreamPart(thinking="Hm")),
        ({"delta": {}, "finish_reason": "null"}, StreamPart()),
        ({"delta": {}, "finish_reason": "MAX_TOKENS"}, StreamPart(finish_reason="max_tokens")),
        ({"finish_details": {"type": "stop"}}, StreamPart(finish_reason="stop")),
        ({"finish_reason": None, "stop_reason": "end_turn"}, StreamPart(finish_reason="end_turn")),
    ],
)
def test_other_places_for_the_same_things(choice: dict[str, object], part: StreamPart) -> None:
    assert read_event({"choices": [choice]}) == part


def test_an_error_in_the_place_of_an_answer_is_one() -> None:
    error = {"message": "Provider returned error", "code": 502}
    with pytest.raises(StreamError) as caught:
        read_event({"choices": [{"delta": {"content": ""}, "error": error}]})
    assert caught.value.said == "Provider returned error"


def test_a_whole_answer_needs_no_reason() -> None:
    part = read_completion(b'{"choices": [{"message": {"content": "Yes."}}]}')
    assert (part.text, part.finish_reason) == ("Yes.", DONE)


def called(*deltas: object) -> list[tuple[str, str, str]]:
    """The calls in a stream of these deltas: id, name and arguments of each."""
    heard = HeardCalls()
    for delta in deltas:
        heard.add(read_event({"choices": [{"delta": {"tool_calls": delta}}]}).calls)
    return [(call.call_id, call.name, call.arguments) for call in heard.calls()]


def a_call(index: int | None, name: str, arguments: object, call_id: str = "") -> dict[str, object]:
    named = {"id": call_id} if call_id else {}
    placed = {} if index is None else {"index": index}
    return {**placed, **named, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "deltas",
    [
        ([a_call(0, "search", "", "a")], [a_call(0, "", '{"q":')], [a_call(0, "", "1}")]),
        ([a_call(0, "search", '{"q":1}', "a")],),
        ([a_call(None, "search", '{"q":1}', "a")],),
        ([a_call(0, "search", {"q": 1}, "a")],),
    ],
)
def test_a_call_comes_in_pieces_whole_or_as_an_object(deltas: tuple[object, ...]) -> None:
    [(call_id, name, arguments)] = called(*deltas)
    assert (call_id, name, json.loads(arguments)) == ("a", "search", {"q": 1})


def test_calls_that_all_have_the_index_zero_are_told_apart_by_their_ids() -> None:
    found = called([a_call(0, "search", "{}", "a")], [a_call(0, "read", "{}", "b")])
    assert found == [("a", "search", "{}"), ("b", "read", "{}")]


@pytest.mark.parametrize("calls", [None, 5, "x", [], [5], [{}], [{"function": 1}], {"a": 1}])
def test_what_is_no_call_is_ignored(calls: object) -> None:
    assert called(calls) == []


def test_arguments_without_end_are_refused() -> None:
    heard = HeardCalls()
    part = read_event({"choices": [{"delta": {"tool_calls": [a_call(0, "search", "x" * 9_000)]}}]})
    with pytest.raises(StreamError) as caught:
        heard.add(part.calls * 10)
    assert caught.value.fault is Fault.ENDLESS
