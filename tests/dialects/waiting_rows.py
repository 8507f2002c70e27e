"""Refusals that pass: the wait that is asked for, in every form, and models that are loading."""

from tests.dialects.row import OK, Reply, Row, refused


def _busy(said: str, status: int = 429, **headers: str) -> Reply:
    return refused(status, {"error": {"message": said}}, **headers)


ROWS = (
    Row("the wait in the words", (_busy("Rate limit reached. Please try again in 0.2s."), OK),
        notice="asked again in 1 s"),
    Row("the wait in milliseconds", (_busy("Rate limit reached, retry after 300 ms"), OK),
        notice="asked again in 1 s"),
    Row("the wait in minutes", (_busy("Rate limit reached. Please try again in 0m45s."),),
        notice="asked again in 45 s"),
    Row("the wait in retry-after-ms", (_busy("Slow down", retry_after_ms="100"), OK),
        notice="limit of requests"),
    Row("the wait of the limit that is used up",
        (_busy("Slow down", x_ratelimit_remaining_tokens="0", x_ratelimit_reset_tokens="30s",
               x_ratelimit_remaining_requests="7", x_ratelimit_reset_requests="9h"),),
        notice="asked again in 30 s"),
    Row("a wait in a field of the body",
        (refused(503, {"error": "Model x is currently loading", "estimated_time": 0.1}), OK),
        notice="still loading"),
    Row("408", (_busy("Timed out", 408, retry_after="0.1"), OK), notice="asked again"),
    Row("409", (_busy("Conflict", 409, retry_after="0.1"), OK), notice="asked again"),
    Row("425", (_busy("Too early", 425, retry_after="0.1"), OK), notice="asked again"),
    Row("529", (_busy("Overloaded", 529, retry_after="0.1"), OK), notice="overloaded"),
    Row("503 of a gateway", (_busy("no healthy upstream", 503, retry_after="0.1"), OK),
        notice="overloaded"),
    Row("llama.cpp: loading, four times",
        (*[refused(503, {"error": {"message": "Loading model", "type": "unavailable_error",
                                   "code": 503}}, retry_after="0.1")] * 4, OK),
        notice="still loading its model"),
    Row("a connection that closes at once", (Reply(breaks=True), OK), notice="asked again"),
)  # fmt: skip
