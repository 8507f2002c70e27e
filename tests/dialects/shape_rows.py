"""Requests and answers in another shape: no streaming, and bodies compressed unasked."""

import gzip

from tests.dialects.row import ANSWER, DONE, JSON, Reply, Row, delta, refused, whole

WHOLE = Reply((whole(),), kind=JSON)
EVENTS_SENT = delta(ANSWER) + delta(finish_reason="stop") + DONE
NO_STREAM = {"error": {"message": "Streaming is not supported for this model.", "param": "stream"}}
UNVERIFIED = {"error": {
    "message": "Your organization must be verified to stream this model.", "param": "stream",
    "code": "unsupported_value"}}  # fmt: skip


def packed(encoding: str, body: bytes) -> Reply:
    """An answer that is said to be compressed."""
    return Reply((body,), headers={"Content-Encoding": encoding} if encoding else {})


ROWS = (
    Row("refuses to stream", (refused(400, NO_STREAM), WHOLE), notice="does not stream"),
    Row("streams for verified organisations only", (refused(400, UNVERIFIED), WHOLE),
        notice="does not stream"),
    Row("gzip unasked", (packed("gzip", gzip.compress(EVENTS_SENT)),)),
    Row("gzip that does not say so", (packed("", gzip.compress(EVENTS_SENT)),)),
    Row("br unasked", (packed("br", b"\x8b\x02\x80"),),
        told="compressed in a way that cannot be read", advice="It came as br"),
    Row("zstd that does not say so", (packed("", b"\x28\xb5\x2f\xfd\x04\x00"),),
        told="compressed in a way that cannot be read", advice="It came as zstd"),
)  # fmt: skip
