"""What there is to say about a document that can't be read as it was cited. Pure; Qt thread."""

from dataclasses import dataclass
from enum import Enum, auto

from desktop_rag.core.domain import Document, DocumentState, FileCondition
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.shared_library import is_shared
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.reading.document_loading import Loaded

_STORED = tr("Below is the text that is stored of it.")


class WayOut(Enum):
    """What the person can do about it."""

    NONE = auto()
    FOLDER = auto()
    PASSWORD = auto()
    LIBRARY = auto()


WORDS = {
    WayOut.NONE: "",
    WayOut.FOLDER: tr("Show its folder"),
    WayOut.PASSWORD: tr("Enter password…"),
    WayOut.LIBRARY: tr("Open the library"),
}


@dataclass(frozen=True, slots=True)
class StateNotice:
    """A title, a hint, and the way out."""

    title: str
    hint: str = ""
    way_out: WayOut = WayOut.NONE


def notice_of_text(loaded: Loaded) -> StateNotice | None:
    """What is to say about the stored text; None when all is well."""
    if loaded.stored is None and is_shared(loaded.place.document_id):
        return StateNotice(
            tr("The shared library is offline, or no longer has this document."),
            tr("Below is the passage as it was cited.") if loaded.place.passage else "",
        )
    if loaded.stored is None:
        return StateNotice(
            tr("This document is no longer in your library."),
            tr("Below is the passage as it was cited.") if loaded.place.passage else "",
            WayOut.LIBRARY,
        )
    document = loaded.stored.document
    if document.needs_password:
        return StateNotice(tr("This document needs a password."), "", WayOut.PASSWORD)
    if not loaded.has_text:
        return _without_text(document, bool(loaded.place.passage))
    if loaded.is_lost:
        return StateNotice(
            tr("The document has changed: the cited words are no longer in it."),
            tr("They were: “{one_line}”", one_line=one_line(_shortened(loaded.place.quote))),
        )
    return None


def notice_of_file(document: Document, condition: FileCondition) -> StateNotice | None:
    """What is to say about the file; None when it is as it was read."""
    if document.url:
        return None
    if condition is FileCondition.ELSEWHERE:
        path = one_line(str(document.path))
        return StateNotice(
            tr("From the shared library: its file is on another computer."), f"{path} {_STORED}"
        )
    if document.state is DocumentState.GONE or condition is FileCondition.MISSING:
        title = tr("{one_line} was moved or deleted.", one_line=one_line(document.path.name))
        return StateNotice(title, _STORED, WayOut.FOLDER)
    if condition is FileCondition.OUT_OF_REACH:
        return StateNotice(
            tr("The file can't be reached: its drive or folder is not connected."), _STORED
        )
    if condition is FileCondition.CHANGED:
        return StateNotice(
            tr("The file has changed since it was read."),
            tr("Below is the text as it was read. The new one follows when it is read again."),
        )
    return None


def notice_of_pages(error: AppError) -> StateNotice:
    """What is to say when the pages of a file can't be drawn."""
    return StateNotice(failure_in_words(error), _STORED)


def _without_text(document: Document, has_passage: bool) -> StateNotice:
    waits = document.state in {DocumentState.WAITING, DocumentState.READING}
    title = (
        tr("This document is still to be read.")
        if waits
        else tr("There is no text of this document.")
    )
    hint = one_line(told(document.reason))
    if has_passage:
        hint = tr("{hint} Below is the passage as it was cited.", hint=hint).strip()
    return StateNotice(title, hint)


def _shortened(text: str, most: int = 200) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most]}…"
