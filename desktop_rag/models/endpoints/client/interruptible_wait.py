"""Waiting that can be ended. Worker threads."""

import time
from threading import Event

_STEP_S = 0.1


def pause(seconds: float, cancel: Event) -> None:
    """Wait so long, or until `cancel` is set; it is asked again and again, as some only answer."""
    until = time.monotonic() + seconds
    while (left_s := until - time.monotonic()) > 0 and not cancel.is_set():
        cancel.wait(min(left_s, _STEP_S))
