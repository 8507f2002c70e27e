"""Figures of the use of the local server, and how a request is judged to have ended."""

import pytest

from desktop_rag.features.server.values.access_values import (
    DAY_S,
    RequestKind,
    RequestRecord,
    RequestSearch,
    usage_since,
)

NOON = 1_700_000_000.0


def answered(at: float, ms: int, token: str = "editor") -> RequestRecord:
    return RequestRecord(at, token=token, status=200, ms=ms, asked_chars=10, answer_chars=100)


def test_figures_are_those_of_each_token_and_day() -> None:
    records = [
        RequestRecord(NOON + 5, status=401, ms=1),
        answered(NOON + 4, 3_000),
        answered(NOON + 3, 1_000),
        answered(NOON + 2, 2_000, token="script"),
        RequestRecord(NOON + 1, token="script", status=500, ms=90_000),
        answered(NOON - 3 * DAY_S, 9_000),
    ]
    figures = usage_since(NOON - DAY_S, records)
    assert (figures.whole.requests, figures.whole.answers) == (5, 3)
    assert (figures.whole.refused, figures.whole.errors) == (1, 1)
    assert (figures.whole.asked_chars, figures.whole.answer_chars) == (30, 300)
    assert (figures.whole.median_ms, figures.whole.slowest_ms) == (2_000, 3_000)
    assert [(t.label, t.requests, t.median_ms) for t in figures.tokens] == [
        ("editor", 2, 2_000), ("script", 2, 2_000), ("", 1, 0)]  # fmt: skip
    assert [day.requests for day in figures.days] == [5]
    assert len(usage_since(NOON - 5 * DAY_S, records).days) == 2


def test_nothing_asked_is_nothing() -> None:
    figures = usage_since(0.0, [])
    assert figures.whole.requests == figures.whole.median_ms == 0
    assert figures.days == figures.tokens == ()


def test_the_log_is_read_no_further_than_it_has_to() -> None:
    def records():  # noqa: ANN202
        yield answered(NOON, 1)
        # One process may write a little later than another.
        yield answered(NOON - 10, 1)
        yield answered(NOON - 5 * DAY_S, 1)
        raise AssertionError("read too far")

    assert usage_since(NOON - 20, records()).whole.requests == 2


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (answered(1.0, 5), RequestKind.ANSWER),
        (RequestRecord(1.0, status=200), RequestKind.OTHER),
        (RequestRecord(1.0, status=429, refusal="Too many"), RequestKind.REFUSED),
        (RequestRecord(1.0, status=200, refusal="The model failed."), RequestKind.ERROR),
        (RequestRecord(1.0, status=503), RequestKind.ERROR),
        (RequestRecord(1.0, status=0), RequestKind.ERROR),
    ],
)
def test_how_a_request_ended(record: RequestRecord, kind: RequestKind) -> None:
    assert record.kind is kind
    assert record.fits(RequestSearch(kind=kind.value))
    assert not record.fits(RequestSearch(token_id="another"))
