"""Waits for indexing, and reports progress on the command line. Runs on the waiting thread."""

from collections import deque
from collections.abc import Callable
from types import TracebackType

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ingest.library import Library
from desktop_rag.progress_words import overall_percent, pictures_wait, progress_line

_REPORT_S = 1.0


class Waiting:
    """Prints notices and progress while a command waits for the library.

    with Waiting(library, say) as waiting:
        library.start()
        waiting.until_idle()
    """

    def __init__(
        self,
        library: Library,
        say: Callable[[str], None],
        go_on: Callable[[], None] = lambda: None,
        *,
        is_guest: bool = False,
        report_s: float = _REPORT_S,
    ) -> None:
        """`say` is called with lines: notices, and every `report_s` seconds new progress.

        `go_on` may raise to end the wait. A guest waits in a process that others use too, whose
        pauses stay.
        """
        self._library = library
        self._say = say
        self._go_on = go_on
        self._is_guest = is_guest
        self._report_s = report_s
        self._embedded_before = library.indexing.embedded_chunks
        self._notices: deque[Notice] = deque()
        self._stop: Notice | None = None
        self._told = ""
        self._stop_hearing = lambda: None

    def __enter__(self) -> "Waiting":
        self._stop_hearing = self._library.changes.hear(Notice, self._on_notice)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._stop_hearing()

    def until_idle(self) -> None:
        """Wait until nothing is left to do; AppError when indexing failed, as on a full disk."""
        while not self._library.indexing.wait_until_idle(self._report_s):
            self._go_on()
            if self._library.indexing.is_paused_for_battery and not self._is_guest:
                # The person is waiting for the result.
                self._library.indexing.resume()
            self.tell()
            if self._library.indexing.is_paused and self._is_guest:
                hint = "What waits is in the library and will be read when it goes on."
                raise AppError("Indexing is paused.", hint)
            self._tell_progress()
        self.tell()
        if held := pictures_wait(self._library.indexing.progress().pictures):
            # Nobody is asked here: what takes long waits for the setting, or for the option.
            self._say(held)

    def _tell_progress(self) -> None:
        line = _progress_in_words(self._library, self._embedded_before)
        if line != self._told:
            self._say(line)
        self._told = line

    def tell(self) -> None:
        """Print the notices since the last time; AppError as in `until_idle`."""
        while self._notices:
            notice = self._notices.popleft()
            self._say(f"{notice.title} {notice.hint}".strip())
        if self._stop and self._library.indexing.is_retrying_later:
            # It would go on by itself, but a script must not hang until then.
            raise AppError(self._stop.title, "Run the command again later.")
        if self._stop and self._library.indexing.is_paused:
            raise AppError(self._stop.title, self._stop.hint)

    def _on_notice(self, event: Notice) -> None:
        indexing = self._library.indexing
        if indexing.is_paused and not (indexing.is_paused_for_battery or self._is_guest):
            # Only an error pauses indexing here, and nobody could resume it.
            self._stop = event
        else:
            self._notices.append(event)


def _progress_in_words(library: Library, embedded_before: int) -> str:
    """The words of the window, the percentage in place of its bar, and the passages done.

    Of the passages that `library.indexing` has embedded, `embedded_before` are not counted.
    """
    indexing = library.indexing
    progress = indexing.progress()
    parts = [progress_line(progress)]
    if progress.steps:
        embedded = f"{indexing.embedded_chunks - embedded_before:,} passages embedded"
        parts += [overall_percent(progress), embedded, progress.current_file]
    return " · ".join(part for part in parts if part)
