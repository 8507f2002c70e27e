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
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from ctypes import POINTER, Structure, c_char_p, c_int, c_uint8, c_uint16, c_uint32, c_void_p
from ctypes.util import find_library
from pathlib import Path
from threading import Event
from typing import TypeVar, cast

from desktop_rag.app import embedder_opener, parser_maker
from desktop_rag.core.domain import DocumentState, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.features.diagnosis.finding import Finding, State, Subject, from_error
from desktop_rag.features.diagnosis.library_checks import check_database, check_library
from desktop_rag.models.endpoint_address import is_this_computer, normalise_base_url
from desktop_rag.models.endpoints.endpoint_check import probe_endpoint
from desktop_rag.models.system_keyring import FilePasswords
from desktop_rag.store.contract.engine import Engine


class _Cookie(Structure):
    _fields_ = (("sequence", ctypes.c_uint),)


class _Reply(Structure):
    """The head of a reply, and the one number that both replies hold."""

    _fields_ = (
        ("response_type", c_uint8), ("pad", c_uint8), ("sequence", c_uint16), ("length", c_uint32),
        ("number", c_uint32),
    )  # fmt: skip


def has_x11_tray() -> bool:
    """True when the display of this session has such a tray; blocks for one answer of the server.

    False without an X server, and below Wayland, where Qt asks no X server.
    """
    if not os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return False
    try:
        xcb = _load()
    except (OSError, AttributeError):
        return False
    screen = c_int(0)
    connection = xcb.xcb_connect(None, ctypes.byref(screen))
    try:
        if xcb.xcb_connection_has_error(connection):
            return False
        name = f"_NET_SYSTEM_TRAY_S{screen.value}".encode()
        asked = xcb.xcb_intern_atom(connection, 1, len(name), name)
        atom = _number(xcb.xcb_intern_atom_reply(connection, asked, None))
        if not atom:
            return False
        asked = xcb.xcb_get_selection_owner(connection, atom)
        return bool(_number(xcb.xcb_get_selection_owner_reply(connection, asked, None)))
    finally:
        xcb.xcb_disconnect(connection)


def _number(address: int | None) -> int:
    """The number of a reply, 0 for none. The reply is freed."""
    if not address:
        return 0
    number = int(_Reply.from_address(address).number)
    ctypes.CDLL(None).free(c_void_p(address))
    return number


def _load() -> ctypes.CDLL:
    xcb = ctypes.CDLL(find_library("xcb") or "libxcb.so.1")
    for name, result, arguments in (
        ("xcb_connect", c_void_p, [c_char_p, POINTER(c_int)]),
        ("xcb_connection_has_error", c_int, [c_void_p]),
        ("xcb_intern_atom", _Cookie, [c_void_p, c_uint8, c_uint16, c_char_p]),
        ("xcb_intern_atom_reply", c_void_p, [c_void_p, _Cookie, c_void_p]),
        ("xcb_get_selection_owner", _Cookie, [c_void_p, c_uint32]),
        ("xcb_get_selection_owner_reply", c_void_p, [c_void_p, _Cookie, c_void_p]),
        ("xcb_disconnect", None, [c_void_p]),
    ):
        function = getattr(xcb, name)
        function.restype, function.argtypes = result, arguments
    return xcb


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
        listed = read_manifest(subject.models)
    except (OSError, ValueError) as exc:
        title = f"The list of the bundled model files cannot be read ({exc})."
        yield Finding("model files", State.PROBLEM, title, hint)
        return
    wrong = []
    for name, sha256 in listed.items():
        if cancel.is_set():
            return
        if fault := _fault(subject.models / name, sha256):
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
    if name := subject.keys.keyring_name():
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
    key = subject.keys.get(endpoint.base_url)
    report = probe_endpoint(endpoint, key, cancel, own_server=subject.own_server)
    state = State.OK if report.is_ok else State.PROBLEM
    yield Finding("endpoint", state, report.title, report.hint)


def check_chat_model(subject: Subject, _: Event) -> Iterator[Finding]:
    """What was measured of the chat model; no request is sent."""
    endpoint = subject.settings.endpoint
    if not endpoint.is_set:
        return
    profile = subject.profile(endpoint)
    if profile.is_examined:
        yield Finding("chat model", State.OK, " ".join(profile.findings()))
    else:
        title = "The limits of the chat model have not been measured yet."
        hint = "“desktop-rag doctor --examine” measures them; so does the app while it runs."
        yield Finding("chat model", State.NOT_CHECKED, title, hint)


# --- the desktop ---------------------------------------------------------------------------------
# The app works without a tray and hotkeys, so a desktop without them needs no attention.

if sys.platform == "linux":
    from jeepney import DBusErrorResponse

    from desktop_rag.desktop.session_bus import FAULTS, SessionBus
    from desktop_rag.features.diagnosis.diagnosis import has_x11_tray

_BUS = ("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
_TRAY = "org.kde.StatusNotifierWatcher"
_PORTAL = "org.freedesktop.portal.Desktop"
_PROPERTIES = (
    "/org/freedesktop/portal/desktop", _PORTAL, "org.freedesktop.DBus.Properties",
)  # fmt: skip
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
    with _session_bus() as bus:
        if (bus and _has(bus, _TRAY)) or has_x11_tray():
            yield Finding("tray", State.OK, "This desktop offers a system tray.")
        elif not bus:
            yield Finding("tray", State.NOT_CHECKED, _UNKNOWN)
        else:
            yield Finding("tray", State.OK, "This desktop offers no system tray.", _GNOME)


def check_hotkeys(_: Subject, __: Event) -> Iterator[Finding]:
    """The desktop lets an app register global hotkeys."""
    if sys.platform != "linux":
        yield Finding("hotkeys", State.OK, "This system lets an app register hotkeys.")
        return
    version: object = None
    with _session_bus() as bus:
        if bus and _has(bus, _PORTAL):
            with suppress(DBusErrorResponse):
                [found] = bus.call(_PROPERTIES, "Get", "ss", (_SHORTCUTS, "version"))
                version = cast("tuple[str, object]", found)[1]
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


@contextmanager
def _session_bus() -> "Generator[SessionBus | None]":
    """The bus of this desktop session; None when there is none or it can't be reached."""
    bus = None
    if os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        with suppress(*FAULTS, RuntimeError):
            bus = SessionBus()
    try:
        yield bus
    finally:
        if bus:
            bus.close()


def _has(bus: "SessionBus", name: str) -> bool:
    """True when a program owns this name; none is started."""
    [is_owned] = bus.call(_BUS, "NameHasOwner", "s", (name,))
    return bool(is_owned)


def _has_x11() -> bool:
    """True in a session of X11 itself: below Wayland, keys reach X11 programs only."""
    display = os.environ.get("DISPLAY", "")
    if os.environ.get("WAYLAND_DISPLAY") or not display.startswith(":"):
        return False
    return (_DISPLAYS / f"X{display[1:].split('.')[0]}").exists()


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
    try:
        title = embedder_opener(subject.keys).check(subject.settings.index.model_folder)
        yield Finding("model", State.OK, title)
    except AppError as error:
        yield from_error("model", error)


def _sandbox(subject: Subject, _: Event) -> Iterator[Finding]:
    try:
        with closing(parser_maker(subject.settings.index, FilePasswords())()) as parser:
            yield sandbox(parser.guards())
    except AppError as error:
        yield from_error("sandbox", error)


def sandbox(guards: Collection[str]) -> Finding:
    """The finding for the guards that a parser process named. Ok with the strongest known here."""
    state, hint = State.OK, ""
    if {"seccomp", "landlock"} <= set(guards):
        title = "The parser process has no network, starts no program and opens no other file."
    elif "seccomp" in guards:
        title = "The parser process has no network, starts no program and writes no file."
        hint = (
            "It could read other files of yours: for that, Linux 5.13 or newer with Landlock is "
            "needed, and libraries that are files and not links."
        )
    elif "landlock" in guards:
        title = "The parser process opens no other file, but could reach the network."
        state, hint = State.PROBLEM, "This kernel accepts no seccomp filter."
    elif "seatbelt" in guards:
        title = "The parser process has no network, starts no program and writes no file."
        hint = "It could read other files of yours."
    elif "no child processes" in guards:
        title = "The parser process starts no program."
        hint = "Windows does not keep it from the network or from other files of yours."
    else:
        state = State.PROBLEM
        title = f"The system ({sys.platform}) does not confine the parser process."
        hint = (
            "Only Python itself keeps it from the network and from other programs; a fault in "
            "native code could get past that. Be careful with files from strangers."
        )
    return Finding("sandbox", state, title, hint)


CHECKS: tuple[Callable[[Subject, Event], Iterable[Finding]], ...] = (
    _settings, check_library, check_database, _model, check_bundled, check_folders, check_watching,
    check_space, check_permissions, _sandbox, check_endpoint, check_chat_model, check_keyring,
    check_tray, check_hotkeys,
)  # fmt: skip
