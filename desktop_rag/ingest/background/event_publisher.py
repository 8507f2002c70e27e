"""Passes the events of the library to its subscribers. Any thread."""

from collections.abc import Callable

from desktop_rag.core.library_events import LibraryEvent

Listener = Callable[[LibraryEvent], None]


class EventPublisher:
    """Calls every subscriber with each event, on the thread that publishes it."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns the function that unsubscribes."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, event: LibraryEvent) -> None:
        """Call the subscribers, in the order in which they subscribed."""
        for listener in list(self._listeners):
            listener(event)
