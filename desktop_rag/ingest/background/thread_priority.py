"""Lets background work wait for the window, for questions and for other programs."""

import os
import sys
import threading
from contextlib import suppress

# Of 20 steps; a tenth of the processor's time while something else wants all of it.
NICENESS = 10


def lower_priority() -> None:
    """Lower the priority of the calling thread, and of processes and threads that it starts.

    On Linux, where it can be done for one thread by a standard call; elsewhere nothing happens. It
    can't be undone.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):
            now = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, max(now, NICENESS))
