"""The activity of the app as people see it: the event log and the feedback of the library together.

Methods read files and the store, so they run on worker threads.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence

from desktop_rag.activity.activity_event import ActivityEvent
from desktop_rag.activity.event_log import EventLog, Listener
from desktop_rag.activity.event_search import EventFilter, FoundEvents, Totals


class Activity:
    """Finds and deletes events. Feedback belongs to the chats and is never deleted here."""

    def __init__(
        self,
        log: EventLog,
        feedback: Callable[[], Sequence[ActivityEvent]],
        chat_titles: Callable[[], Mapping[str, str]],
    ) -> None:
        """`feedback` returns all of it, the newest first; `chat_titles` those that exist by id."""
        self._log = log
        self._feedback = feedback
        self._chat_titles = chat_titles

    def find(self, wanted: EventFilter) -> FoundEvents:
        """The events that fit, the newest first.

        Raises:
            AppError: when the store can't be read.
        """
        self._log.flush()
        titles = self._chat_titles()
        # Each of the two keeps its own order, whatever happened to the clock.
        merged = heapq.merge(self._log.newest_first(), self._feedback(), key=_negative_time)
        events = [e for e in merged if wanted.fits(e, titles.get(e.chat_id, ""))]
        totals = Totals()
        for event in events:
            totals = totals.plus(event)
        return FoundEvents(events, titles, totals)

    def delete_all(self) -> None:
        """Delete the event log. AppError when a file can't be removed."""
        self._log.delete_all()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with new events, on the thread of the log; returns how to unsubscribe."""
        return self._log.subscribe(listener)


def _negative_time(event: ActivityEvent) -> float:
    return -event.at
