"""A wait that can be ended. Worker threads."""

import time
from threading import Event

_STEP_S = 0.1


def pause(seconds: float, cancel: Event) -> None:
    """Wait until the time is up or `cancel` is set; polled, as some events only support that."""
    until = time.monotonic() + seconds
    while (left_s := until - time.monotonic()) > 0 and not cancel.is_set():
        cancel.wait(min(left_s, _STEP_S))
