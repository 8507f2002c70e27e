"""Errors shown to people. Every other exception is a bug and is not caught."""

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


class DiskFullError(AppError):
    """A write was refused for lack of space, and nothing changed. It may succeed later."""

    def __init__(self, detail: str) -> None:
        super().__init__("The disk is full.", f"{detail} Free some space.".strip())


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
