"""A publish/subscribe hub: services publish typed events, listeners hear them. Any thread.

An event is a frozen value of the room that publishes it. One that nobody hears is dropped.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

E = TypeVar("E")


class Changes:
    """Passes each event on to the listeners of its type."""

    def __init__(self) -> None:
        self._hearers: dict[object, tuple[Any, Callable[[Any], object]]] = {}

    def hear(
        self, kind: type[E] | tuple[type[E], ...], hearer: Callable[[E], object]
    ) -> Callable[[], None]:
        """Call `hearer` with each event of this type, or of any of these, from now on.

        It runs on the publishing thread, which waits, so it must be quick. Listeners are called in
        the order in which they subscribed. Returns a function that unsubscribes.
        """
        key = object()
        self._hearers[key] = (kind, hearer)

        def stop() -> None:
            self._hearers.pop(key, None)

        return stop

    def publish(self, event: object) -> None:
        """Call everyone who hears events of this type.

        An exception is a bug of the listener: it goes to `sys.excepthook`, and the others still
        hear.
        """
        for key in tuple(self._hearers):
            kind, hearer = self._hearers.get(key, ((), None))
            if hearer and isinstance(event, kind):
                try:
                    hearer(event)
                except Exception as bug:
                    sys.excepthook(type(bug), bug, bug.__traceback__)
