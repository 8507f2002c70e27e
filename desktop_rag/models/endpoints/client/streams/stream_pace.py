"""Tells when a stream is no answer any more: it says nothing, trickles or repeats itself. Pure.

A person would have stopped it long ago; nobody sees the streams of short jobs.
"""

from collections import deque

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

# In times of the endpoint's timeout, the longest silence of a connection (30 s by default): the
# wait for the first words, which a prompt may take to be read, and the span that is looked back on.
SILENCES_FOR_TEXT = 10
_SILENCES_LOOKED_BACK_ON = 4
# A word in ten seconds is slower than any model that somebody would wait for.
_LEAST_CHARS_A_SECOND = 1 / 3
_MOST_BYTES_WITHOUT_TEXT = 16 * 1024 * 1024
# Text that repeats itself: so often, and so much of it. A long table has rows that differ.
_LEAST_REPEATS = 8
_LEAST_REPEATED_CHARS = 3_000
_LONGEST_REPEATED_CHARS = 1_500
_LOOK_EVERY_CHARS = 500
_SIGN_CHARS = 80


class StreamPace:
    """The pace of one answer. `now` is a time in seconds, from any clock that only goes forward."""

    def __init__(self, timeout_s: float, now: float) -> None:
        self.text_limit_s = SILENCES_FOR_TEXT * timeout_s
        self._window_s = _SILENCES_LOOKED_BACK_ON * timeout_s
        self._began_at = now
        self._bytes = 0
        self._heard: deque[tuple[float, int]] = deque()
        self._heard_chars = 0
        self._first_at: float | None = None
        self._tail = ""
        self._unlooked_chars = 0

    def receive(self, size_bytes: int, now: float) -> None:
        """Bytes came, whatever is in them.

        Raises:
            StreamError: when there was no text for too long.
        """
        self._bytes += size_bytes
        if self._bytes > _MOST_BYTES_WITHOUT_TEXT:
            raise StreamError(Fault.SLOW)
        if self._first_at is None:
            if now - self._began_at > self.text_limit_s:
                raise StreamError(Fault.SLOW)
            return
        while self._heard and self._heard[0][0] < now - self._window_s:
            self._heard_chars -= self._heard.popleft()[1]
        least = _LEAST_CHARS_A_SECOND * self._window_s
        if now - self._first_at > self._window_s and self._heard_chars < least:
            raise StreamError(Fault.TRICKLING)

    def hear(self, text: str, now: float) -> None:
        """A piece of the answer, or of the thinking, came.

        Raises:
            StreamError: when the text repeats itself.
        """
        if not text.strip():
            return
        self._first_at = now if self._first_at is None else self._first_at
        self._bytes = 0
        self._heard.append((now, len(text)))
        self._heard_chars += len(text)
        most = _LEAST_REPEATS * _LONGEST_REPEATED_CHARS + _SIGN_CHARS
        self._tail = (self._tail + text)[-most:]
        self._unlooked_chars += len(text)
        if self._unlooked_chars >= _LOOK_EVERY_CHARS:
            self._unlooked_chars = 0
            if is_repeating(self._tail):
                raise StreamError(Fault.REPEATING)


def is_repeating(text: str) -> bool:
    """True when the end of a text is the same words again and again, and much of them."""
    sign = text[-_SIGN_CHARS:]
    before = text.rfind(sign, 0, len(text) - 1)
    if before < 0:
        return False
    unit = len(text) - len(sign) - before
    length = max(_LEAST_REPEATED_CHARS, _LEAST_REPEATS * unit)
    return length <= len(text) and text[-length:-unit] == text[-length + unit :]
