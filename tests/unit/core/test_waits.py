"""How long servers ask to wait, in headers, fields and words."""

import email.utils
import time

import pytest

from desktop_rag.core.waits import Backoff, MinuteLimits, doubled_s, pause_s, wait_s_in


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("2", 2), ("0.5", 0.5), ("-3", 0), ("", None), ("soon", None), ("nan", None), ("inf", None),
     ("1e300", 86400), ("Wed, 21 Oct 2015 07:28:00 GMT", 0)],
)  # fmt: skip
def test_retry_after(header: str, seconds: float | None) -> None:
    assert wait_s_in("", None, {"retry-after": header}) == seconds


def test_retry_after_as_a_date() -> None:
    date = email.utils.formatdate(time.time() + 60, usegmt=True)
    wait_s = wait_s_in("", None, {"retry-after": date})
    assert wait_s is not None
    assert 55 < wait_s < 62


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Please try again in 1.5s.", 1.5),
        ("Please try again in 320ms. Visit the limits page.", 0.32),
        ("retry after 300 ms", 0.3),
        ("Try again in 2m30s", 150),
        ("Please try again in 1h16m0.667s.", 4560.667),
        ("Please retry in 34.074824224s.", 34.074824224),
        ("You can retry after 1 minute and 30 seconds.", 90),
        ("Retry-After: 30", 30),
        ("Your limit resets in 5 minutes", 300),
        ("wait for 12 seconds before trying again", 12),
        ("20 seconds remaining", 20),
        ("请在 30 秒后重试", 30),
        ("Bitte in 10 Sekunden erneut versuchen", None),
        ("Limit: 3 per 60 seconds", None),
        ("It took 12 seconds.", None),
        ("Please try again later.", None),
        ("", None),
    ],
)
def test_waits_in_words(said: str, seconds: float | None) -> None:
    assert wait_s_in(said) == (None if seconds is None else pytest.approx(seconds))


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ([{"error": {"code": 429, "details": [{"x": 1}, RETRY_INFO]}}], 34.5),
        ({"error": "Model x is currently loading", "estimated_time": 20.5}, 20.5),
        ({"retry_after_ms": 1500}, 1.5),
        ({"error": {"retry_after": "1m5s"}}, 65),
        ({"retry_after": True}, None),
        ({"retry_after": None}, None),
    ],
)
def test_waits_in_fields(body: object, seconds: float | None) -> None:
    assert wait_s_in("", body) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After-Ms": "250", "Retry-After": "1"}, 0.25),
        ({"retry-after": "1.5s"}, 1.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s",
          "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "9h"}, 360),
        ({"x-ratelimit-remaining-tokens": "12", "x-ratelimit-reset-tokens": "6m0s"}, None),
        ({"x-ratelimit-reset-tokens": "6m0s"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_waits_in_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_s_in("", None, headers) == seconds


@pytest.mark.parametrize("unit", [1, 1000])
def test_a_moment_in_a_header_is_a_wait_from_now(unit: int) -> None:
    moment = str(int((time.time() + 60) * unit))
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": moment}
    wait_s = wait_s_in("", None, headers)
    assert wait_s is not None
    assert 55 < wait_s < 61


def test_the_moment_of_anthropic() -> None:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60))
    name = "anthropic-ratelimit-tokens"
    wait_s = wait_s_in("", None, {f"{name}-remaining": "0", f"{name}-reset": moment})
    assert wait_s is not None
    assert 55 < wait_s < 61


def test_headers_are_believed_before_fields_and_fields_before_words() -> None:
    said, body = "Try again in 3s", {"retry_after": 2}
    assert wait_s_in(said, body, {"retry-after": "1"}) == 1
    assert wait_s_in(said, body) == 2


def test_the_pace_is_that_of_the_last_minute() -> None:
    now = [0.0]
    limits = MinuteLimits(lambda: now[0])
    assert [limits.take("ann", 2) for _ in range(3)] == [0, 0, 60]
    assert limits.take("ben", 2) == 0
    now[0] = 59.0
    assert limits.take("ann", 2) == 1
    now[0] = 60.0
    assert limits.take("ann", 2) == 0


def test_what_happens_anyway_counts_too() -> None:
    now = [0.0]
    limits = MinuteLimits(lambda: now[0])
    for second in range(4):
        now[0] = float(second)
        limits.count("ann")
    assert limits.wait_s("ann", 2) == 59
    now[0] = 62.0
    assert limits.wait_s("ann", 2) == 0


def test_a_server_is_believed_before_a_plan_unless_it_asks_for_long() -> None:
    assert pause_s(2.0, None, 10.0) == 2
    assert pause_s(2.0, 5.0, 10.0) == 5
    assert pause_s(2.0, 11.0, 10.0) is None
    assert pause_s(None, 1.0, 10.0) is None


def test_waits_double_up_to_the_longest() -> None:
    waits_s = [0.0]
    for _ in range(4):
        waits_s.append(doubled_s(waits_s[-1], 30.0, 100.0))
    assert waits_s[1:] == [30, 60, 100, 100]


def test_what_fails_is_tried_ever_more_rarely_until_it_succeeds() -> None:
    now = [100.0]
    backoff = Backoff(10.0, 30.0, lambda: now[0])
    assert backoff.left_s == 0
    assert backoff.begin()
    assert backoff.left_s == 10
    now[0] += 10
    assert backoff.left_s == 0
    assert not backoff.begin()
    assert backoff.left_s == 20
    assert not backoff.begin(asked_s=50.0)
    assert backoff.left_s == 50
    backoff.forget()
    assert backoff.left_s == 0
    assert backoff.begin()
    assert backoff.left_s == 10
