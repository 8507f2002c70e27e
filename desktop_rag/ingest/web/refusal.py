"""Reasons for not getting a web page. Pure."""

from enum import Enum, auto

from desktop_rag.core.errors import AppError


class RefusalKind(Enum):
    """The consequence of a refusal for a page that was read before."""

    UNREACHABLE = auto()
    """No response: unknown host, no connection, or a timeout. The page is kept."""
    FAILING = auto()
    """The server answered with an error that may be temporary. The page is kept."""
    BLOCKED = auto()
    """The app does not connect to this address. The page is kept: networks may redirect to
    themselves.
    """
    GONE = auto()
    """The server says that the page no longer exists. The page is removed."""
    CLOSED = auto()
    """The site forbids robots to read it. The page is removed."""
    UNFIT = auto()
    """The address no longer holds a readable page. The page is removed."""


class PageRefused(AppError):  # noqa: N818  the page's failure, not the program's
    """A page is not available. `kind` is for decisions, title and hint are for people."""

    def __init__(self, kind: RefusalKind, title: str, hint: str = "") -> None:
        super().__init__(title, hint)
        self.kind = kind

    @property
    def reason(self) -> str:
        """Title and hint, as the reason shown for the document."""
        return f"{self.title} {self.hint}".strip()
