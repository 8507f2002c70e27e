"""The retries of a question that failed with 429, an overloaded server or no connection. Pure."""

from desktop_rag.models.endpoints.client.endpoint_faults import EndpointFaultError, Fault

# Pauses before automatic retries; when a server asks for a longer one, the error is reported.
_PAUSES_S = (0.5, 2.0)
_LONGEST_PAUSE_S = 60.0
# A server that loads its model says so at once, so it is asked often and for long.
_LOADING_PAUSES_S = (1.0, 2.0, 3.0)
_LOADING_PAUSE_S = 5.0
_LONGEST_LOADING_S = 300.0
# After these faults background work backs off at once; only a person's question is retried.
_OFTEN_PASSING = frozenset({Fault.REFUSED, Fault.UNREACHABLE})
# Request timeout, conflict, too early.
_PASSING_STATUSES = frozenset({408, 409, 425, *range(500, 600)})


class Retries:
    """The retries of one question. One thread."""

    def __init__(self) -> None:
        self._pauses_s = iter(_PAUSES_S)
        self._loading_pauses_s = iter(_LOADING_PAUSES_S)
        self._loading_s = 0.0

    def pause_after(self, error: EndpointFaultError) -> float | None:
        """Seconds to wait before the next try, as the server asks; None when the error is final."""
        if error.fault is Fault.LOADING:
            return self._loading_pause(error)
        pause_s = next(self._pauses_s, None)
        if pause_s is None or not _may_pass(error):
            return None
        pause_s = pause_s if error.wait_s is None else error.wait_s
        return pause_s if pause_s <= _LONGEST_PAUSE_S else None

    def _loading_pause(self, error: EndpointFaultError) -> float | None:
        """The pause while a model is loaded: no longer than ours, however long the server asks."""
        pause_s = next(self._loading_pauses_s, _LOADING_PAUSE_S)
        pause_s = pause_s if error.wait_s is None else min(pause_s, error.wait_s)
        self._loading_s += max(pause_s, _LOADING_PAUSES_S[0])
        return pause_s if self._loading_s <= _LONGEST_LOADING_S else None


def _may_pass(error: EndpointFaultError) -> bool:
    is_theirs = error.fault is Fault.FAILED and error.status in _PASSING_STATUSES
    return error.is_passing or error.fault in _OFTEN_PASSING or is_theirs
