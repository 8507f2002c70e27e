"""Why a page of the web was not had. Pure."""

from enum import Enum, auto

from desktop_rag.core.errors import AppError


class Kind(Enum):
    """What a refusal means for a page that was read before."""

    UNREACHABLE = auto()
    """Nothing answered: no such name, no connection, no time. It is kept."""
    FAILING = auto()
    """The server answered, with an error that may pass. It is kept."""
    BLOCKED = auto()
    """The address is none the app connects to. It is kept: networks redirect to themselves."""
    GONE = auto()
    """The server says that the page is no longer there. It goes."""
    CLOSED = auto()
    """The site asks programs not to read it. It goes."""
    UNFIT = auto()
    """What is there now is no page that can be read. It goes."""


class PageRefused(AppError):  # noqa: N818  the page's failure, not the program's
    """A page can't be had. `kind` is for decisions, title and hint are for people."""

    def __init__(self, kind: Kind, title: str, hint: str = "") -> None:
        super().__init__(title, hint)
        self.kind = kind

    @property
    def reason(self) -> str:
        """Title and hint as the reason of a document."""
        return f"{self.title} {self.hint}".strip()
