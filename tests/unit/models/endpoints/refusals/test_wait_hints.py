"""How long servers ask to wait, in headers, fields and words."""

import email.utils
import time

import pytest

from desktop_rag.models.endpoints.refusals.wait_hints import wait_s_of


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("2", 2), ("0.5", 0.5), ("-3", 0), ("", None), ("soon", None), ("nan", None), ("inf", None),
     ("1e300", 86400), ("Wed, 21 Oct 2015 07:28:00 GMT", 0)],
)  # fmt: skip
def test_retry_after(header: str, seconds: float | None) -> None:
    assert wait_s_of(header) == seconds


def test_retry_after_as_a_date() -> None:
    wait_s = wait_s_of(email.utils.formatdate(time.time() + 60, usegmt=True))
    assert wait_s is not None
    assert 55 < wait_s < 62
