"""Every check, in the order in which it is shown. Reads only. Any worker thread."""

from collections.abc import Callable, Iterable, Iterator
from threading import Event

from desktop_rag.core.errors import AppError
from desktop_rag.diagnosis.database_check import check_database
from desktop_rag.diagnosis.desktop import check_hotkeys, check_tray
from desktop_rag.diagnosis.endpoint import check_chat_model, check_endpoint
from desktop_rag.diagnosis.finding import Finding, State, from_error, from_report, from_sentence
from desktop_rag.diagnosis.folders import check_folders
from desktop_rag.diagnosis.free_space import check_space
from desktop_rag.diagnosis.keyring import check_keyring
from desktop_rag.diagnosis.library_check import check_library
from desktop_rag.diagnosis.model_files import check_bundled
from desktop_rag.diagnosis.permissions import check_permissions
from desktop_rag.diagnosis.subject import Subject
from desktop_rag.diagnosis.watch_limits import check_watching

Check = Callable[[Subject, Event], Iterable[Finding]]


def findings(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """The findings one after the other; ends soon after `cancel` is set."""
    for check in CHECKS:
        for finding in check(subject, cancel):
            if cancel.is_set():
                return
            yield finding


def _settings(subject: Subject, _: Event) -> Iterator[Finding]:
    for notice in subject.settings_notices:
        yield Finding("settings", State.PROBLEM, notice.title, notice.hint)
    if not subject.settings_notices:
        yield Finding("settings", State.OK, "The settings can be read.")


def _model(subject: Subject, _: Event) -> Iterator[Finding]:
    yield from_sentence("model", subject.outside.check_model)


def _sandbox(subject: Subject, _: Event) -> Iterator[Finding]:
    try:
        yield from_report("sandbox", subject.outside.sandbox_report())
    except AppError as error:
        yield from_error("sandbox", error)


CHECKS: tuple[Check, ...] = (
    _settings,
    check_library,
    check_database,
    _model,
    check_bundled,
    check_folders,
    check_watching,
    check_space,
    check_permissions,
    _sandbox,
    check_endpoint,
    check_chat_model,
    check_keyring,
    check_tray,
    check_hotkeys,
)
