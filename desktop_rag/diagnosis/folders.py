"""Checks the sources: there, readable, and how many of their files could not be read."""

import os
import stat
from collections.abc import Iterator
from threading import Event

from desktop_rag.core.domain import DocumentState, Source
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.diagnosis.patience import within
from desktop_rag.diagnosis.subject import OpenLibrary, Subject

_ANSWER_S = 5.0
_KEPT = "Its documents stay searchable;"


def check_folders(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """One finding for each source."""
    if subject.library is None:
        yield Finding("folder", State.NOT_CHECKED, "The list of folders cannot be read.")
        return
    sources = subject.library.sources.sources()
    for source in sources:
        if cancel.is_set():
            return
        yield _check(source, subject.library)
    if not sources:
        yield Finding("folder", State.OK, "No folders have been added yet.")


def _check(source: Source, library: OpenLibrary) -> Finding:
    counts = library.documents.counts(source.source_id)
    if source.links is not None:
        return _found(source.name, counts, "pages")
    if source.program:
        return _found(source.name, counts, "documents")
    # A disconnected network drive may never answer.
    fault = within(_ANSWER_S, lambda: _fault_of(source), otherwise="does not answer")
    if not fault:
        return _found(str(source.path), counts, "files")
    hint = {
        "may not be read": f"{_KEPT} give yourself the right to read it.",
        "does not answer": f"{_KEPT} check the connection to its drive or server.",
    }.get(fault, f"{_KEPT} connect the drive, or remove the folder.")
    return Finding("folder", State.WARNING, f"{source.path} {fault}.", hint)


def _fault_of(source: Source) -> str:
    path = source.path
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            with os.scandir(path) as entries:
                next(entries, None)
        else:
            path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError):
        return "cannot be reached"
    except PermissionError:
        return "may not be read"
    except OSError as exc:
        return f"cannot be read ({exc.strerror})"
    return ""


def _found(name: str, counts: DocumentCounts, what: str) -> Finding:
    what = what.removesuffix("s") if counts.total == 1 else what
    title = f"{name}: {counts.total:,} {what}."
    if failed := counts.of(DocumentState.FAILED):
        title += f" {failed:,} of them could not be read."
        return Finding("folder", State.OK, title, "“desktop-rag status --failed” says why.")
    return Finding("folder", State.OK, title)
