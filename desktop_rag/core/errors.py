"""Errors shown to people. Every other exception is a bug and is not caught."""

import errno
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager

log = logging.getLogger(__name__)

# Before the words of a server in a hint, which end with the last ”.
SERVER_SAYS = "It says: “"


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


class DiskError(PassingError):
    """The disk refused to read or write, and nothing changed."""


class DiskFullError(DiskError):
    """A write was refused for lack of space."""

    def __init__(self, detail: str) -> None:
        super().__init__("The disk is full.", f"{detail} Free some space.".strip())


def disk_error(number: int | None, detail: str) -> DiskError:
    """The error for a number of `errno`; `detail` says what the disk refused."""
    if number in (errno.ENOSPC, errno.EDQUOT):
        return DiskFullError(detail)
    for (title, hint), numbers in _DISK_ERRORS.items():
        if number in numbers:
            return DiskError(title, f"{detail} {hint}")
    cause = f"{os.strerror(number)}. " if number else ""
    return DiskError("The disk refuses to work.", f"{detail} {cause}Try again, and check the disk.")


@contextmanager
def put_off(what: str) -> Generator[None]:
    """Leave work that the next start does as well undone while the disk refuses to write."""
    try:
        yield
    except DiskError as error:
        log.info("%s: put off until the next start: %s", what, error.title)


_TRY_AGAIN = "Try again, and check the disk."
_DISK_ERRORS = {
    ("Too many files are open.", "Close other programs and try again."): (
        errno.EMFILE, errno.ENFILE,
    ),
    (
        "The library cannot be written.",
        "Check the permissions of the file, and that its disk is not read-only.",
    ): (errno.EACCES, errno.EPERM, errno.EROFS),
    ("The disk reports a read or write error.", _TRY_AGAIN): (errno.EIO,),
    (
        "The disk with the library does not respond.",
        "Check the connection to the disk or server and try again.",
    ): (errno.ETIMEDOUT, errno.ESTALE, errno.ENXIO, errno.ENODEV),
    ("The library cannot be locked.", _TRY_AGAIN): (errno.ENOLCK,),
}  # fmt: skip
# What the engine, which names no number, says for each of them.
DISK_ERROR_NUMBERS = (
    errno.ENOSPC, errno.EDQUOT, *(n for numbers in _DISK_ERRORS.values() for n in numbers)
)  # fmt: skip


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
