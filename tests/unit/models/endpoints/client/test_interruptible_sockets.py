"""Why a wait ended: on request, or by its limit."""

from threading import Event

import pytest

from desktop_rag.core.errors import Cancelled
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.client.interruptible_sockets import Interruption


def test_a_request_to_stop_counts_though_it_is_taken_back_at_once() -> None:
    interruption, cancel = Interruption(), Event()
    with pytest.raises(Cancelled), interruption.within(60.0, cancel):  # noqa: PT012  taken back while it is waited for
        cancel.set()
        try:
            interruption.check()
        finally:
            cancel.clear()


def test_a_wait_beyond_its_limit_says_that_the_server_is_slow() -> None:
    interruption = Interruption()
    with pytest.raises(StreamError) as raised, interruption.within(-1.0, Event()):
        interruption.check()
    assert raised.value.fault is Fault.SLOW
