"""The checks of the diagnosis, listed in `CHECKS` in the order shown. Worker threads; read-only."""

import ctypes
import hashlib
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import TypeVar

from desktop_rag.core.domain import DocumentState, Source
from desktop_rag.core.errors import AppError, NotReadableNowError
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.server_state import (
    INDEX_HINTS,
    STATEMENTS_HINT,
    STATEMENTS_TITLE,
    Connections,
    IndexState,
    ServerState,
    VectorIndex,
    replica_in_words,
    size_in_words,
)
from desktop_rag.diagnosis.finding import (
    Finding,
    State,
    Subject,
    from_error,
    from_report,
    from_sentence,
)
from desktop_rag.models.endpoint_address import is_this_computer, normalise_base_url
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.inspection import Discrepancy, JournalState, NoLibraryError

T = TypeVar("T")


def within(limit_s: float, call: Callable[[], T], *, otherwise: T) -> T:
    """The result of `call`, or `otherwise` after the limit, when its thread is abandoned.

    For calls that may never return, such as those on a disconnected drive.
    """
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(call()), name="patience", daemon=True)
    thread.start()
    thread.join(limit_s)
    return results[0] if results else otherwise


# --- watching ------------------------------------------------------------------------------------

LIMITS = Path("/proc/sys/fs/inotify")
# Other programs of the person, such as editors, watch folders too.
_SAFE_SHARE = 0.75
_PROBE_ANSWER_S = 60.0
_ROOMY = 524_288
_POLLED = "Folders beyond the limit are compared with the disk at intervals instead."


def check_watching(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """The number of folders, against Linux's limits on watches; other systems have none."""
    if sys.platform != "linux":
        title = "This system has no limit for watching folders."
        yield Finding("watching", State.NOT_CHECKED, title)
    elif subject.library is None:
        yield Finding("watching", State.NOT_CHECKED, "The list of folders cannot be read.")
    else:
        roots = [s.path for s in subject.library.sources.sources() if s.is_on_disk]
        yield watching(roots, cancel)


def watching(
    roots: list[Path],
    cancel: Event,
    limits: Path = LIMITS,
    can_watch: Callable[[], bool] | None = None,
) -> Finding:
    """The finding for these sources."""
    try:
        most = int((limits / "max_user_watches").read_text())
        instances = int((limits / "max_user_instances").read_text())
    except (OSError, ValueError):
        return Finding("watching", State.NOT_CHECKED, "The system does not tell its limits.")
    if not (can_watch or _can_watch)():
        title = f"No program may begin to watch folders: all {instances:,} watchers are in use."
        return Finding("watching", State.WARNING, title, _hint("max_user_instances", 1024))
    need = within(_PROBE_ANSWER_S, lambda: _folders(roots, most, cancel), otherwise=-1)
    if need < 0:
        return Finding("watching", State.NOT_CHECKED, "A folder does not answer.")
    hint = _hint("max_user_watches", max(_ROOMY, 1 << (2 * need).bit_length()))
    if need > most:
        title = f"There are more folders than the {most:,} that the system watches."
        return Finding("watching", State.WARNING, title, hint)
    told = (
        f"1 folder is watched of the {most:,} that the system allows"
        if need == 1
        else f"{need:,} folders are watched of the {most:,} that the system allows"
    )
    if need > _SAFE_SHARE * most:
        title = f"{told}, and other programs need some."
        return Finding("watching", State.WARNING, title, hint)
    return Finding("watching", State.OK, f"{told}.")


def _hint(name: str, value: int) -> str:
    return f"{_POLLED} Raise the limit: sudo sysctl fs.inotify.{name}={value}"


def _folders(roots: list[Path], most: int, cancel: Event) -> int:
    """The number of folders below these; counting ends above `most`."""
    count = 0
    for root in roots:
        for _ in os.walk(root):
            count += 1
            if count > most or cancel.is_set():
                return count
    return count


def _can_watch() -> bool:
    """True when this process may make a watcher; the running app already has one."""
    system = ctypes.CDLL(None, use_errno=True)
    descriptor = system.inotify_init1(os.O_CLOEXEC)
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True


# --- permissions ---------------------------------------------------------------------------------

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MOST_SHOWN = 5


def check_permissions(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """The home and everything in it is for this user alone."""
    root = subject.home.root
    if os.name != "posix":
        title = "Windows keeps the files of a user from other users by itself."
        yield Finding("permissions", State.NOT_CHECKED, title)
    elif not root.exists():
        yield Finding("permissions", State.NOT_CHECKED, f"{root} does not exist yet.")
    else:
        yield permissions(root, cancel)


def permissions(root: Path, cancel: Event) -> Finding:
    """The finding for an existing home."""
    is_open, foreign = _seen(root)
    shared: list[str] = []
    for path in _below(root):
        if cancel.is_set():
            break
        others_may, is_foreign = _seen(path)
        name = str(path.relative_to(root))
        foreign, shared = foreign or is_foreign, shared + [name] * (others_may or is_foreign)
    hint = f"Close it to others: chmod -R go= {shlex.quote(str(root))}"
    if foreign:
        named = _named(shared) or str(root)
        title = f"Files of the app in {root} belong to another user: {named}."
        return Finding("permissions", State.PROBLEM, title, "Give them back with chown.")
    if is_open:
        title = f"Other users of this computer may open {root}."
        return Finding("permissions", State.PROBLEM, title, hint)
    if shared:
        title = f"Files in {root} would be open to others without their folder: {_named(shared)}."
        return Finding("permissions", State.WARNING, title, hint)
    return Finding("permissions", State.OK, f"{root} and everything in it is for you alone.")


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        yield from (Path(folder) / name for name in (*folders, *files))


def _seen(path: Path) -> tuple[bool, bool]:
    """Whether others have a right to it, and whether it belongs to another user."""
    try:
        status = path.lstat()
    except OSError:
        return False, False  # removed meanwhile
    is_link = stat.S_ISLNK(status.st_mode)
    return not is_link and bool(status.st_mode & _OTHERS), status.st_uid != os.geteuid()


def _named(names: list[str]) -> str:
    more = len(names) - _MOST_SHOWN
    shown = ", ".join(sorted(names)[:_MOST_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown


# --- bundled models ------------------------------------------------------------------------------

# In the format of sha256sum, so that `sha256sum --check` reads it too.
MANIFEST = "manifest.sha256"
_HASH = re.compile("[0-9a-f]{64}")


def check_bundled(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """Every bundled file is there and has its hash of the manifest."""
    hint = "Install the app again."
    try:
        listed = read_manifest(subject.outside.models)
    except (OSError, ValueError) as exc:
        title = f"The list of the bundled model files cannot be read ({exc})."
        yield Finding("model files", State.PROBLEM, title, hint)
        return
    wrong = []
    for name, sha256 in listed.items():
        if cancel.is_set():
            return
        if fault := _fault(subject.outside.models / name, sha256):
            wrong.append(f"{name} {fault}")
    if wrong:
        title = f"Files of the bundled model are wrong: {'; '.join(wrong)}."
        yield Finding("model files", State.PROBLEM, title, hint)
    else:
        title = f"All {len(listed)} files of the bundled model are unaltered."
        yield Finding("model files", State.OK, title)


def read_manifest(models: Path) -> dict[str, str]:
    """SHA-256 by file name; OSError or ValueError when the list can't be read."""
    listed: dict[str, str] = {}
    for line in (models / MANIFEST).read_text(encoding="utf-8").splitlines():
        sha256, _, name = line.partition("  ")
        if not _HASH.fullmatch(sha256) or not name or ".." in Path(name).parts:
            raise ValueError("a line is no hash with a name")
        listed[name] = sha256
    if not listed:
        raise ValueError("it is empty")
    return listed


def sha256_of(path: Path) -> str:
    """The hash of a file; OSError when it can't be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fault(path: Path, sha256: str) -> str:
    try:
        return "" if sha256_of(path) == sha256 else "was changed or cut"
    except FileNotFoundError:
        return "is missing"
    except OSError as exc:
        return f"cannot be read ({exc.strerror})"


def check_keyring(subject: Subject, _: Event) -> Iterator[Finding]:
    """Which keyring is in use; no key is read."""
    if name := subject.outside.keyring():
        yield Finding("keyring", State.OK, f"Keys are kept in: {name}.")
        return
    title = "This system offers no keyring: a key is kept until the app ends."
    if not any(_may_need_key(endpoint.base_url) for endpoint in subject.settings.endpoints):
        yield Finding("keyring", State.OK, title, "No endpoint that is set needs a key.")
        return
    hint = "Unlock or install a keyring, or set DESKTOP_RAG_API_KEY before starting the app."
    yield Finding("keyring", State.WARNING, title, hint)


def _may_need_key(base_url: str) -> bool:
    try:
        return not is_this_computer(normalise_base_url(base_url))
    except AppError:
        return False


# --- free space ----------------------------------------------------------------------------------

_MB = 1_000_000
# Enough, and the least with which the next document or chat can be stored.
_HOME = (1000 * _MB, 100 * _MB)
# Files sent by mail or packed in others are unpacked here, one at a time.
_TEMPORARY = (500 * _MB, 50 * _MB)
_FEW_FILES = 1000


def check_space(subject: Subject, _: Event) -> Iterator[Finding]:
    """The free space for the home and for temporary files."""
    yield space("library", subject.home.root, *_HOME)
    yield space("temporary files", Path(tempfile.gettempdir()), *_TEMPORARY)


def space(what: str, folder: Path, enough_bytes: int, least_bytes: int) -> Finding:
    """The finding for a folder, or for the one in which it will be created: it can be written."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
        files = _free_files(folder)
    except OSError as exc:
        title = f"The free space of {folder} cannot be read ({exc.strerror})."
        return Finding("space", State.NOT_CHECKED, title)
    if not os.access(folder, os.W_OK):
        hint = "Its disk is read-only, or you may not write there. The library can only be read."
        return Finding("space", State.PROBLEM, f"Nothing can be written to {folder}.", hint)
    hint = f"Free some space on its disk; {_shown_size(enough_bytes)} are enough."
    if files < _FEW_FILES:
        title = f"Only {files:,} more files fit on the disk with the {what} in {folder}."
        return Finding("space", State.PROBLEM, title, "Delete files that you do not need.")
    little = f"Only {_shown_size(free)} are free for the {what} in {folder}."
    if free < least_bytes:
        return Finding("space", State.PROBLEM, little, hint)
    if free < enough_bytes:
        return Finding("space", State.WARNING, little, hint)
    title = f"{_shown_size(free)} are free for the {what} in {folder}."
    return Finding("space", State.OK, title)


def _free_files(folder: Path) -> int:
    """The number of files that can still be created; enough where there is no limit."""
    if not hasattr(os, "statvfs"):
        return _FEW_FILES
    found = os.statvfs(folder)
    return found.f_favail if found.f_files else _FEW_FILES


def _shown_size(count: int) -> str:
    if count >= 1000 * _MB:
        return f"{count / (1000 * _MB):,.1f} GB"
    return f"{count / _MB:,.0f} MB"


# --- sources -------------------------------------------------------------------------------------

_ANSWER_S = 5.0
_KEPT = "Its documents stay searchable;"


def check_folders(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """For each source: it is readable, and how many of its files could not be read."""
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


def _check(source: Source, library: Engine) -> Finding:
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
    title = f"{name} has {counts.total:,} {what}."
    if failed := counts.of(DocumentState.FAILED):
        title += f" {failed:,} of them could not be read."
        return Finding("folder", State.OK, title, "“desktop-rag status --failed” says why.")
    return Finding("folder", State.OK, title)


# --- endpoint ------------------------------------------------------------------------------------


def check_endpoint(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """The endpoint is reachable, and its model answers."""
    endpoint = subject.settings.endpoint
    if not endpoint.is_set:
        yield Finding("endpoint", State.OK, "No endpoint is set: answers are excerpts.")
        return
    yield from_report("endpoint", subject.outside.check_endpoint(endpoint, cancel))


def check_chat_model(subject: Subject, _: Event) -> Iterator[Finding]:
    """What was measured of the chat model; no request is sent."""
    endpoint = subject.settings.endpoint
    if not endpoint.is_set:
        return
    profile = subject.outside.profile(endpoint)
    if profile.is_examined:
        yield Finding("chat model", State.OK, " ".join(profile.findings()))
    else:
        title = "The limits of the chat model have not been measured yet."
        hint = "“desktop-rag doctor --examine” measures them; so does the app while it runs."
        yield Finding("chat model", State.NOT_CHECKED, title, hint)


# --- the desktop ---------------------------------------------------------------------------------
# The app works without a tray and hotkeys, so a desktop without them needs no attention.

if sys.platform == "linux":
    from desktop_rag.diagnosis.session_bus import has_x11_tray, session_bus

_TRAY = "org.kde.StatusNotifierWatcher"
_PORTAL = "org.freedesktop.portal.Desktop"
_PORTAL_PATH = "/org/freedesktop/portal/desktop"
_SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
_DISPLAYS = Path("/", "tmp", ".X11-unix")
_UNKNOWN = "Not known without a desktop session."
_GNOME = "On GNOME the extension AppIndicator adds one. The app works without it."
_OWN_KEY = "Bind “desktop-rag quick-ask” to a key in the settings of your desktop instead."


def check_tray(_: Subject, __: Event) -> Iterator[Finding]:
    """The desktop has a system tray."""
    if sys.platform != "linux":
        yield Finding("tray", State.OK, "This system has a tray.")
        return
    with session_bus() as bus:
        if (bus is not None and bus.has(_TRAY)) or has_x11_tray():
            yield Finding("tray", State.OK, "This desktop offers a system tray.")
        elif bus is None:
            yield Finding("tray", State.NOT_CHECKED, _UNKNOWN)
        else:
            yield Finding("tray", State.OK, "This desktop offers no system tray.", _GNOME)


def check_hotkeys(_: Subject, __: Event) -> Iterator[Finding]:
    """The desktop lets an app register global hotkeys."""
    if sys.platform != "linux":
        yield Finding("hotkeys", State.OK, "This system lets an app register hotkeys.")
        return
    with session_bus() as bus:
        version = None
        if bus is not None and bus.has(_PORTAL):
            version = bus.property_of(_PORTAL, _PORTAL_PATH, _SHORTCUTS, "version")
    if version:
        title = f"This desktop lets an app ask for hotkeys (portal version {version})."
        yield Finding("hotkeys", State.OK, title)
    elif _has_x11():
        yield Finding("hotkeys", State.OK, "X11 lets an app register hotkeys.")
    elif bus is None and not os.environ.get("WAYLAND_DISPLAY"):
        yield Finding("hotkeys", State.NOT_CHECKED, _UNKNOWN)
    else:
        title = "This desktop lets no app register hotkeys."
        yield Finding("hotkeys", State.OK, title, _OWN_KEY)


def _has_x11() -> bool:
    """True in a session of X11 itself: below Wayland, keys reach X11 programs only."""
    display = os.environ.get("DISPLAY", "")
    if os.environ.get("WAYLAND_DISPLAY") or not display.startswith(":"):
        return False
    return (_DISPLAYS / f"X{display[1:].split('.')[0]}").exists()


# --- database server -----------------------------------------------------------------------------

_SLOWEST = 3
_MOST_USED = 0.9
_INCOMPLETE = (IndexState.MISSING, IndexState.STALE)


def check_database(subject: Subject, _: Event) -> Iterator[Finding]:
    """The database server, as on the admin page; nothing for a library in a file."""
    if subject.library is None or subject.library.server is None:
        return
    try:
        state = subject.library.server()
    except AppError as error:
        yield from_error("database", error)
        return
    yield _size(state)
    for index in state.indexes:
        yield _vector_index(index)
    if state.replica:
        replica = State.OK if state.replica.is_used else State.WARNING
        yield Finding("replica", replica, replica_in_words(state.replica))
    yield _connections(state.connections)
    yield from _slow(state)


def _size(state: ServerState) -> Finding:
    parts = (p for p in state.parts if p.table_bytes + p.index_bytes)
    listed = ", ".join(f"{p.name} {size_in_words(p.table_bytes + p.index_bytes)}" for p in parts)
    title = (
        f"PostgreSQL {state.server_version} with pgvector {state.vector_version} keeps the library."
        f" It takes {size_in_words(state.size_bytes)} with its indexes: {listed}."
    )
    return Finding("database", State.OK, title)


def _vector_index(index: VectorIndex) -> Finding:
    title = f"The index of the {index.vectors:,} vectors of {index.model}: {index.state.value}."
    if index.share is not None:
        title += f" {index.share:.0%} of it is built."
    state = State.WARNING if index.state in _INCOMPLETE else State.OK
    return Finding("vector index", state, title, INDEX_HINTS[index.state])


def _connections(used: Connections) -> Finding:
    title = f"{used.all:,} of {used.most:,} connections are in use, {used.own:,} by the library."
    if used.all < _MOST_USED * used.most:
        return Finding("connections", State.OK, title)
    hint = "Raise max_connections on the server, or end programs that keep connections open."
    return Finding("connections", State.WARNING, title, hint)


def _slow(state: ServerState) -> Iterator[Finding]:
    if state.searches:
        listed = ", ".join(
            f"{s.milliseconds:,.0f} ms by {s.kind}" for s in state.searches[:_SLOWEST]
        )
        title = f"The slowest of {state.searched:,} searches in 24 hours: {listed}."
        yield Finding("slow searches", State.OK, title)
    if state.statements is None:
        yield Finding("slow statements", State.NOT_CHECKED, STATEMENTS_TITLE, STATEMENTS_HINT)
    elif state.statements:
        listed = "; ".join(
            f"{s.mean_ms:,.1f} ms, {s.calls:,} times: {s.text}" for s in state.statements[:_SLOWEST]
        )
        title = f"The statements that take longest on average: {listed}."
        yield Finding("slow statements", State.OK, title)


# --- the library ---------------------------------------------------------------------------------

_REPAIR = "desktop-rag doctor --repair"
_NOT_LOOKED_AT = "Not checked, because the library cannot be read."
_MOST_BROKEN = 4


def check_library(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """The store, the index, the chats and the journal; a server keeps its journal itself."""
    if subject.library is None:
        yield _unreadable(subject)
        return
    library = subject.library
    try:
        library.storage.verify(lambda: not cancel.is_set())
    except AppError as error:
        yield Finding("store", State.PROBLEM, error.title, error.hint, is_repairable=True)
        yield Finding("index", State.NOT_CHECKED, _NOT_LOOKED_AT)
        yield Finding("chats", State.NOT_CHECKED, _NOT_LOOKED_AT)
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


def _index(library: Engine, broken: Sequence[Discrepancy]) -> Finding:
    if broken:
        title = f"The index disagrees with itself: {_listed(broken)}."
        hint = f"“{_REPAIR}” mends it and reads the files concerned again. Chats are not affected."
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
        hint = f"“{_REPAIR}” restores them from the journal beside the library."
        return Finding("chats", State.PROBLEM, title, hint, is_repairable=True)
    return Finding("chats", State.OK, "Chats, folders and collections are complete.")


def _journal(library: Engine) -> Finding:
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
        hint = f"The library holds everything itself. “{_REPAIR}” writes the journal anew."
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
    shown = "; ".join(str(each) for each in broken[:_MOST_BROKEN])
    more = len(broken) - _MOST_BROKEN
    return f"{shown}; and {more} more" if more > 0 else shown


# --- all checks ----------------------------------------------------------------------------------


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


CHECKS: tuple[Callable[[Subject, Event], Iterable[Finding]], ...] = (
    _settings, check_library, check_database, _model, check_bundled, check_folders, check_watching,
    check_space, check_permissions, _sandbox, check_endpoint, check_chat_model, check_keyring,
    check_tray, check_hotkeys,
)  # fmt: skip
