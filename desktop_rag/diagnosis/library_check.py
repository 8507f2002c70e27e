"""Checks the library: every block readable, its rules kept, its journal complete.

A library on a server has no journal beside it: the server keeps its own.
"""

from collections.abc import Iterator, Sequence
from threading import Event

from desktop_rag.core.errors import AppError
from desktop_rag.diagnosis.finding import Finding, OpenLibrary, State, Subject, from_error
from desktop_rag.store.contract.inspection import (
    Discrepancy,
    JournalState,
    NoLibraryError,
    NotReadableNowError,
)

REPAIR = "desktop-rag doctor --repair"
_RULES = "Not checked, because the library cannot be read."
_SHOWN = 4


def check_library(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """The store, the index, the chats and the journal."""
    if subject.library is None:
        yield _unreadable(subject)
        return
    library = subject.library
    try:
        library.storage.verify(lambda: not cancel.is_set())
    except AppError as error:
        yield Finding("store", State.PROBLEM, error.title, error.hint, is_repairable=True)
        yield Finding("index", State.NOT_CHECKED, _RULES)
        yield Finding("chats", State.NOT_CHECKED, _RULES)
        return
    yield Finding("store", State.OK, "Everything that is stored can be read.")
    found = library.inspection.discrepancies(lambda: not cancel.is_set())
    yield _index(library, [each for each in found if not each.is_precious])
    yield _chats([each for each in found if each.is_precious])
    if library.server is None:
        yield _journal(library)


def _unreadable(subject: Subject) -> Finding:
    error = subject.fault or AppError("The library is not open.")
    match error:
        case NoLibraryError() if error.has_journal:
            hint = (
                "Start the app: it restores chats and folders from the journal beside the library,"
                " then reads your folders again."
            )
            return Finding("store", State.PROBLEM, "The library file is gone.", hint)
        case NoLibraryError() | NotReadableNowError():
            return from_error("store", error, State.NOT_CHECKED)
        case _:
            return Finding("store", State.PROBLEM, error.title, error.hint, is_repairable=True)


def _index(library: OpenLibrary, broken: Sequence[Discrepancy]) -> Finding:
    if broken:
        title = f"The index disagrees with itself: {_listed(broken)}."
        hint = f"“{REPAIR}” mends it and reads the files concerned again. Chats are not affected."
        return Finding("index", State.PROBLEM, title, hint, is_repairable=True)
    title = "Documents, passages, words and vectors agree."
    if waiting := library.inspection.waiting_contents():
        title += f" {waiting:,} passages still get their vectors while the app runs."
    if pictures := library.inspection.waiting_pictures():
        title += f" {pictures:,} pictures and scanned pages are still to be read."
    return Finding("index", State.OK, title)


def _chats(broken: Sequence[Discrepancy]) -> Finding:
    if broken:
        title = f"Chats and folders disagree: {_listed(broken)}."
        hint = f"“{REPAIR}” restores them from the journal beside the library."
        return Finding("chats", State.PROBLEM, title, hint, is_repairable=True)
    return Finding("chats", State.OK, "Chats, folders and collections are complete.")


def _journal(library: OpenLibrary) -> Finding:
    try:
        state = library.inspection.journal()
    except AppError as error:
        return from_error("journal", error)
    if state.written is None:
        if not state.stored:
            return Finding("journal", State.OK, "There is nothing to record in a journal yet.")
        hint = "Start the app: it writes the journal anew from the library."
        return Finding("journal", State.WARNING, "The journal beside the library is gone.", hint)
    if state.written != state.stored:
        return _apart(state)
    if state.unreadable:
        title = f"Lines of the journal that cannot be read: {state.unreadable:,}."
        hint = f"The library holds everything itself. “{REPAIR}” writes the journal anew."
        return Finding("journal", State.WARNING, title, hint, is_repairable=True)
    title = f"The journal holds all {state.stored:,} changes of chats and folders."
    return Finding("journal", State.OK, title)


def _apart(state: JournalState) -> Finding:
    written = state.written or 0
    if written > state.stored:
        title = f"The library stops at change {state.stored:,}, its journal at {written:,}."
        hint = "Start the app: it restores what the library lost from the journal."
    else:
        title = f"The journal stops at change {written:,}, the library at {state.stored:,}."
        hint = "Start the app: it writes the journal anew from the library."
    return Finding("journal", State.WARNING, title, hint)


def _listed(broken: Sequence[Discrepancy]) -> str:
    shown = "; ".join(str(each) for each in broken[:_SHOWN])
    more = len(broken) - _SHOWN
    return f"{shown}; and {more} more" if more > 0 else shown
