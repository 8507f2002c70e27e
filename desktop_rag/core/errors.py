"""Errors shown to people. Every other exception is a bug and is not caught."""

import errno
import logging
from collections.abc import Generator
from contextlib import contextmanager

log = logging.getLogger(__name__)

# Before the words of a server in a hint, which end with the last ”.
SERVER_SAYS = "It says: “"
LIBRARY_AWAY = "The database server does not answer."
IMPORT_AGAIN = "Import the backup again to complete it."


class AppError(Exception):
    """A failure outside the app that the person can understand and act on.

    `title` states in one plain sentence what happened, `hint` the way out. Both are shown as plain
    text and may contain file names and server messages. Raise it where the foreign exception
    appears, `from` that exception, on any thread.
    """

    def __init__(self, title: str, hint: str = "") -> None:
        super().__init__(title if not hint else f"{title} {hint}")
        self.title = title
        self.hint = hint


class PassingError(AppError):
    """A failure that may pass by itself: the work that it stopped is tried again later."""


class NotReadableNowError(AppError):
    """Nothing is wrong with the library, but it can't be read now: it is in use, or older."""


class LibraryHeldError(NotReadableNowError):
    """Another process holds the library."""


class LibraryAwayError(PassingError):
    """The server that keeps the library does not answer."""

    def __init__(self, hint: str = "") -> None:
        super().__init__(LIBRARY_AWAY, hint)


class DiskError(PassingError):
    """The disk refused to read or write, and nothing changed."""


class DiskFullError(DiskError):
    """A write was refused for lack of space."""

    def __init__(self, detail: str) -> None:
        super().__init__("The disk is full.", f"{detail} Free some space.".strip())


def disk_error(number: int | None, detail: str) -> DiskError:
    """The error for a number of `errno`; `detail` says what the disk refused."""
    match number:
        case errno.ENOSPC | errno.EDQUOT:
            return DiskFullError(detail)
        case errno.EMFILE | errno.ENFILE:
            hint = "Close other programs and try again."
            return DiskError("Too many files are open.", f"{detail} {hint}")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            hint = "Check the permissions of the file, and that its disk is not read-only."
            return DiskError("The library cannot be written.", f"{detail} {hint}")
        case errno.ETIMEDOUT | errno.ESTALE | errno.ENXIO | errno.ENODEV:
            hint = "Check the connection to the disk or server and try again."
            return DiskError("The disk with the library does not respond.", f"{detail} {hint}")
        case errno.EIO:
            title = "The disk reports a read or write error."
        case errno.ENOLCK:
            title = "The library cannot be locked."
        case _:
            title = "The disk refuses to work."
    return DiskError(title, f"{detail} Try again, and check the disk.")


# What the engine, which names no number, can fail with.
DISK_ERROR_NUMBERS = (
    errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EPERM, errno.EROFS,
    errno.ETIMEDOUT, errno.ESTALE, errno.ENXIO, errno.ENODEV, errno.EIO, errno.ENOLCK,
)  # fmt: skip


@contextmanager
def os_error_as(title: str, where: object = None, way_out: str = "") -> Generator[None]:
    """What the system refuses within is told with this title: `where`, its own path, and why.

    So is a file that is no text.
    """
    try:
        yield
    except UnicodeDecodeError as exc:
        raise AppError(title, f"It is no text in UTF-8. {way_out}".strip()) from exc
    except OSError as exc:
        if not way_out and exc.errno in DISK_ERROR_NUMBERS:
            way_out = disk_error(exc.errno, "").hint.strip()
        where = where or exc.filename
        why = f"{exc.strerror or exc}. {way_out}".strip()
        raise AppError(
            title, f"{where}: {why}" if where and str(where) not in title else why
        ) from exc


@contextmanager
def put_off(what: str) -> Generator[None]:
    """Leave work that the next start does as well undone while the disk refuses to write."""
    try:
        yield
    except DiskError as error:
        log.info("%s: put off until the next start: %s", what, error.title)


class WrongPasswordError(AppError):
    """A password does not open the file. Another may."""

    def __init__(self) -> None:
        super().__init__(
            "This password does not open the file.",
            "Check capital letters and the layout of the keyboard, then try again.",
        )


class TooLongError(AppError):
    """A model refused a request as too long; one of `fits_tokens` may be accepted."""

    def __init__(self, title: str, hint: str, fits_tokens: int) -> None:
        super().__init__(title, hint)
        self.fits_tokens = fits_tokens


class Cancelled(Exception):  # noqa: N818  it ends work early, it reports no failure
    """The person stopped the work. Raised between tokens, files or batches; never shown."""


def without_quotation(hint: str) -> str:
    """The hint without a server's words, which may repeat what was sent to it."""
    before, quotation, after = hint.partition(SERVER_SAYS)
    parts = before, after.rpartition("”")[2]
    return " ".join(part.strip() for part in parts if part.strip()) if quotation else hint


class InterruptedAnswer(Exception):  # noqa: N818  it is no error
    """A background answer kept giving way to the person: to be tried again later."""
