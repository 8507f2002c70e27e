"""The retries of a question that failed with 429, an overloaded server or no connection. Pure."""

from desktop_rag.models.endpoints.client.endpoint_faults import EndpointFaultError, Fault

# Pauses before automatic retries; when a server asks for a longer one, the error is reported.
_PAUSES_S = (0.5, 2.0)
_LONGEST_PAUSE_S = 20.0
# After these faults background work backs off at once; only a person's question is retried.
_OFTEN_PASSING = frozenset({Fault.REFUSED, Fault.UNREACHABLE})
_SERVER_FAILED = range(500, 600)


class Retries:
    """The retries of one question. One thread."""

    def __init__(self) -> None:
        self._pauses_s = iter(_PAUSES_S)

    def pause_after(self, error: EndpointFaultError) -> float | None:
        """Seconds to wait before the next try, as the server asks; None when the error is final."""
        pause_s = next(self._pauses_s, None)
        if pause_s is None or not _may_pass(error):
            return None
        pause_s = pause_s if error.wait_s is None else error.wait_s
        return pause_s if pause_s <= _LONGEST_PAUSE_S else None


def _may_pass(error: EndpointFaultError) -> bool:
    is_theirs = error.fault is Fault.FAILED and error.status in _SERVER_FAILED
    return error.is_passing or error.fault in _OFTEN_PASSING or is_theirs
