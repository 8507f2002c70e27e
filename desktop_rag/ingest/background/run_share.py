"""The share of a run that is done, and the pace of its steps. Pure; one thread at a time."""

# Of a run that has not ended, at most this much is shown as done.
_MOST = 0.999
# Below this many seconds of work, its pace says too little to promise a time.
_LEAST_S = 2.0
# After this many seconds, what was measured counts half: the pace follows the work.
_RECENT_S = 30.0


class RunShare:
    """Grows with the work that is done, and never falls when more is found.

    What is done of all known work takes the same part of what the bar has left. While no work is
    added, this is the share of the whole.
    """

    def __init__(self) -> None:
        self._share = 0.0

    @property
    def share(self) -> float:
        """0 at the beginning; below 1 until the run ends."""
        return self._share

    def advance(self, done_s: float, left_s: float) -> None:
        """Work of `done_s` seconds was done since the last call, and `left_s` is left."""
        if done_s > 0:
            grown = self._share + (1 - self._share) * done_s / (done_s + left_s)
            self._share = max(self._share, min(grown, _MOST))


class Pace:
    """Seconds that a unit of work takes: assumed at first, measured later."""

    def __init__(self, assumed_s: float) -> None:
        self._assumed_s = assumed_s
        self._seconds = 0.0
        self._units = 0.0

    @property
    def is_measured(self) -> bool:
        """True when it is more than an assumption."""
        return self._seconds >= _LEAST_S and self._units > 0

    @property
    def seconds(self) -> float:
        """Seconds a unit."""
        return self._seconds / self._units if self.is_measured else self._assumed_s

    def add(self, units: int, seconds: float) -> None:
        """These units took so long."""
        if self._seconds > _RECENT_S:
            self._seconds /= 2
            self._units /= 2
        self._seconds += seconds
        self._units += units
