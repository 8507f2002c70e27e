"""Whether an answer is JSON or events, by its first bytes."""

from collections.abc import Iterator

import httpcore2
import pytest

from desktop_rag.models.endpoints.client.answer_form import is_json, read_beginning
from desktop_rag.models.endpoints.client.endpoint_faults import StreamError


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
    ],
)
def test_the_first_bytes_tell(chunks: list[bytes], begun: int, is_one_body: bool) -> None:
    left = iter(chunks)
    read = read_beginning(left)
    assert read == chunks[:begun]
    assert [*left] == chunks[begun:]
    assert is_json(read) is is_one_body


def test_a_connection_that_ends_before_is_a_fault() -> None:
    def broken() -> Iterator[bytes]:
        yield b" "
        raise httpcore2.RemoteProtocolError("incomplete")

    with pytest.raises(StreamError):
        read_beginning(broken())
