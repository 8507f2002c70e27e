"""Whether an answer is JSON or events, by its first bytes."""

import pytest

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.client.endpoint_requests import is_json, read_beginning


@pytest.mark.parametrize(
    ("chunks", "begun", "is_one_body"),
    [
        ([b'{"a"', b":1}"], 1, True),
        ([b"\n", b" \r\n", b"[1]"], 3, True),
        ([b"\xef\xbb\xbf{}"], 1, True),
        ([b"data: {}", b"\n\n"], 1, False),
        ([b": ping\n", b"data"], 1, False),
        ([b"<html>"], 1, False),
        ([], 0, False),
        ([b"\n"], 1, False),
    ],
)
def test_the_first_bytes_tell(chunks: list[bytes], begun: int, is_one_body: bool) -> None:
    left = iter(chunks)
    read = read_beginning(lambda: next(left, None))
    # Blank ones before it are let go.
    assert read == [chunk for chunk in chunks[:begun] if chunk.strip()]
    assert [*left] == chunks[begun:]
    assert is_json(read) is is_one_body


def test_a_connection_that_ends_before_is_a_fault() -> None:
    def cut() -> bytes:
        raise StreamError(Fault.CUT)

    with pytest.raises(StreamError) as caught:
        read_beginning(cut)
    assert caught.value.fault is Fault.CLOSED
