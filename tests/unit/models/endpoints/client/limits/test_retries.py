"""Which errors are tried again, and after how long."""

import pytest

from desktop_rag.models.endpoints.client.chat_client import Retries
from desktop_rag.models.endpoints.client.endpoint_faults import EndpointFaultError, Fault


def pauses(fault: Fault, status: int = 0, wait_s: float | None = None) -> list[float]:
    """The pauses after the same error again and again."""
    retries = Retries()
    error = EndpointFaultError(fault, "", "", wait_s, status=status)
    found: list[float] = []
    while (pause_s := retries.pause_after(error)) is not None:
        found.append(pause_s)
    return found


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 504, 599])
def test_statuses_that_pass_are_tried_twice_again(status: int) -> None:
    assert pauses(Fault.FAILED, status) == [0.5, 2.0]


@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.OVERLOADED, Fault.CLOSED, Fault.REFUSED])
def test_faults_that_pass_are_tried_twice_again(fault: Fault) -> None:
    assert pauses(fault) == [0.5, 2.0]


@pytest.mark.parametrize(
    "fault", [Fault.BAD_KEY, Fault.NO_CREDIT, Fault.TOO_LONG, Fault.FILTERED, Fault.OVER_RATE]
)
def test_faults_that_stay_are_told_at_once(fault: Fault) -> None:
    assert pauses(fault) == []
    assert pauses(Fault.FAILED, 418) == []


def test_the_server_s_wait_is_kept_up_to_a_minute() -> None:
    assert pauses(Fault.BUSY, wait_s=34) == [34, 34]
    assert pauses(Fault.BUSY, wait_s=61) == []


def test_a_model_that_is_loading_is_asked_often_for_five_minutes() -> None:
    found = pauses(Fault.LOADING)
    assert found[:5] == [1.0, 2.0, 3.0, 5.0, 5.0]
    assert 290 <= sum(found) <= 300
    assert max(pauses(Fault.LOADING, wait_s=120)) == 5.0
    assert len(pauses(Fault.LOADING, wait_s=0)) == 300
