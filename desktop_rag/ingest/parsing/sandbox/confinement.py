"""Confines the parser process by what its system offers, for good.

On Linux, Landlock limits the files it can open and a seccomp filter refuses system calls. macOS and
Windows offer one call each; neither keeps a process from reading the files of its user. Called once
by the parser process before it starts another thread.
"""

import ctypes
import errno
import importlib.util
import io
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from ctypes import util
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import desktop_rag
from desktop_rag.core.paths import resources_dir

# System calls that the parser process never needs, numbered as in the kernel's tables:
# arch/x86/entry/syscalls/syscall_64.tbl, asm-generic/unistd.h.

# The newest call that these tables know. One that came later is refused, whatever it does.
NEWEST = 462
# The address space of x32 on x86-64 begins above NEWEST, so that it is refused, too.
ARCHITECTURES: Mapping[str, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Each name with its number on x86-64 and on ARM64, where -1 is a call that does not exist.
_NETWORK = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200),
    "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242), "sendto": (44, 206),
    "sendmsg": (46, 211), "sendmmsg": (307, 269), "setsockopt": (54, 208),
}  # fmt: skip
_PROGRAMS = {
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, -1), "vfork": (58, -1),
    "personality": (135, 92),
}  # fmt: skip
_OTHER_PROCESSES = {
    "ptrace": (101, 117), "kcmp": (312, 272), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "setpriority": (141, 140), "setpgid": (109, 154),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190),
    "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191), "msgget": (68, 186),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}  # fmt: skip
# Landlock does not cover modes, owners, times and attributes.
_CHANGES_TO_FILES = {
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, -1), "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54),
    "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "creat": (85, -1), "truncate": (76, 45), "unlink": (87, -1), "unlinkat": (263, 35),
    "mkdir": (83, -1), "mkdirat": (258, 34), "rmdir": (84, -1), "rename": (82, -1),
    "renameat": (264, 38), "renameat2": (316, 276), "link": (86, -1), "linkat": (265, 37),
    "symlink": (88, -1), "symlinkat": (266, 36), "mknod": (133, -1), "mknodat": (259, 33),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
}  # fmt: skip
# Attack surface: much of what has been broken in the kernel lies behind these.
_KERNEL = {
    "mount": (165, 40), "umount2": (166, 39), "move_mount": (429, 429), "open_tree": (428, 428),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280), "perf_event_open": (298, 241),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "userfaultfd": (323, 282), "fanotify_init": (300, 262), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "syslog": (103, 116), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "reboot": (169, 142), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
}  # fmt: skip
_BY_ARGUMENT = {
    "kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261), "clone": (56, 220),
    "open": (2, -1), "openat": (257, 56), "ioctl": (16, 29), "fcntl": (72, 25),
}  # fmt: skip
# Their arguments lie in memory, which a filter can't see; libraries do without them.
_UNSEEN = {"clone3": (435, 435), "openat2": (437, 437)}


def _numbers(calls: Mapping[str, tuple[int, int]], architecture: str) -> dict[str, int]:
    column = list(ARCHITECTURES).index(architecture)
    return {name: number[column] for name, number in calls.items() if number[column] >= 0}


def refused_calls(architecture: str) -> list[int]:
    """The calls that are refused whatever their arguments are."""
    rooms = (_NETWORK, _PROGRAMS, _OTHER_PROCESSES, _CHANGES_TO_FILES, _KERNEL)
    return [number for room in rooms for number in _numbers(room, architecture).values()]


def missing_calls(architecture: str) -> list[int]:
    """The calls that look as if the kernel did not have them, so that libraries use older ones."""
    return list(_numbers(_UNSEEN, architecture).values())


def calls_by_argument(architecture: str) -> dict[str, int]:
    """The calls that depend on an argument, by name."""
    return _numbers(_BY_ARGUMENT, architecture)


_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_CALL = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER = 1
_ALL_THREADS = 1

# Instructions of classic BPF.
_LOAD = 0x20
_EQUAL = 0x15
_ABOVE = 0x25
_ANY_BIT = 0x45
_RETURN = 0x06
# Where the number, the architecture and the arguments of a call lie.
_NUMBER_AT = 0
_ARCHITECTURE_AT = 4
_ARGUMENTS_AT = 16
_ARGUMENT_BYTES = 8
# Results of the filter.
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_REFUSE = 0x00050000 | errno.EPERM
_MISSING = 0x00050000 | errno.ENOSYS

_CLONE_THREAD = 0x00010000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# Typing into a terminal, and choosing who gets a signal about a descriptor.
_IOCTLS = (0x5412, 0x541C, 0x8901, 0x8902)
_FCNTLS = (8, 15)


def forbid_calls() -> bool:
    """Refuse calls by a seccomp filter. False when the kernel or the architecture has none.

    The filter is a program for the kernel's classic BPF machine: it sees the number and arguments
    of each call, and holds for every thread from now on. What is not refused by name is allowed,
    because libraries differ in what they call; a call newer than the tables is refused.
    """
    architecture = platform.machine()
    if architecture not in ARCHITECTURES:
        return False
    instructions = filter_for(architecture, os.getpid())
    code = ctypes.create_string_buffer(b"".join(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    # struct sock_fprog: the number of instructions, padding, their address.
    program = struct.pack("@HxxxxxxQ", len(instructions), ctypes.addressof(code))
    installed: int = libc.syscall(
        ctypes.c_long(_SECCOMP_CALL[architecture]), ctypes.c_long(_SET_MODE_FILTER),
        ctypes.c_long(_ALL_THREADS), program,
    )  # fmt: skip
    return installed == 0


def filter_for(architecture: str, pid: int) -> list[bytes]:
    """The instructions of the filter for the process `pid`."""
    calls = calls_by_argument(architecture)
    filtered = [
        _instruction(_LOAD, _ARCHITECTURE_AT),
        _instruction(_EQUAL, ARCHITECTURES[architecture], 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER_AT),
        _instruction(_ABOVE, NEWEST, 0, 1),
        _instruction(_RETURN, _MISSING),
        *_always(missing_calls(architecture), _MISSING),
        *_always(refused_calls(architecture), _REFUSE),
        *_when(calls["kill"], 0, _EQUAL, [pid], then=_ALLOW, otherwise=_REFUSE),
        *_when(calls["tgkill"], 0, _EQUAL, [pid], then=_ALLOW, otherwise=_REFUSE),
        *_when(calls["prlimit64"], 0, _EQUAL, [0, pid], then=_ALLOW, otherwise=_REFUSE),
        *_when(calls["clone"], 0, _ANY_BIT, [_CLONE_THREAD], then=_ALLOW, otherwise=_REFUSE),
        *_when(calls["openat"], 2, _ANY_BIT, [_WRITING], then=_REFUSE, otherwise=_ALLOW),
        *_when(calls["ioctl"], 1, _EQUAL, _IOCTLS, then=_REFUSE, otherwise=_ALLOW),
        *_when(calls["fcntl"], 1, _EQUAL, _FCNTLS, then=_REFUSE, otherwise=_ALLOW),
    ]
    if "open" in calls:
        filtered += _when(calls["open"], 1, _ANY_BIT, [_WRITING], then=_REFUSE, otherwise=_ALLOW)
    return [*filtered, _instruction(_RETURN, _ALLOW)]


def _always(numbers: Iterable[int], result: int) -> list[bytes]:
    return [
        instruction
        for number in numbers
        for instruction in (_instruction(_EQUAL, number, 0, 1), _instruction(_RETURN, result))
    ]


def _when(
    number: int, argument: int, test: int, values: Sequence[int], *, then: int, otherwise: int
) -> list[bytes]:
    """For one call: the result `then` if its argument passes the test with any of the values.

    The lower half of the argument is enough: the kernel takes no more of these.
    """
    body = [_instruction(_LOAD, _ARGUMENTS_AT + argument * _ARGUMENT_BYTES)]
    for value in values:
        body += [_instruction(test, value, 0, 1), _instruction(_RETURN, then)]
    body.append(_instruction(_RETURN, otherwise))
    return [_instruction(_EQUAL, number, 0, len(body)), *body]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One struct sock_filter: the operation, two jumps counted from the next one, the operand."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


# Libraries, fonts and locales of the system, the time zone, and what libraries ask of the machine.
_SYSTEM = (
    "/usr", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/etc/ld.so.cache",
    "/etc/localtime", "/etc/mime.types", "/proc/self", "/proc/cpuinfo", "/proc/meminfo",
    "/proc/stat", "/sys/devices/system", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
)  # fmt: skip
# Imported by readers, later. Their place stands for that of all libraries.
_LIBRARIES = ("lxml", "numpy")


@dataclass(frozen=True, slots=True)
class ReadablePaths:
    """What a parser process reads besides documents; of `listable` folders only the names."""

    readable: tuple[Path, ...]
    listable: tuple[Path, ...]

    @property
    def hold_libraries(self) -> bool:
        """False when the libraries are links to somewhere else, as some installers make them."""
        for name in _LIBRARIES:
            found = importlib.util.find_spec(name)
            origin = Path(found.origin).resolve() if found and found.origin else None
            if origin and not any(origin.is_relative_to(path) for path in self.readable):
                return False
        return True


def readable_paths() -> ReadablePaths:
    """The paths for this installation."""
    package = Path(desktop_rag.__file__ or "").resolve().parent
    readable = [*map(Path, _SYSTEM), package, resources_dir(), *_installation(package.parent)]
    resolved = dict.fromkeys(path.resolve() for path in readable if path.exists())
    home = Path.home()
    # A home folder, or what holds it, is never the installation alone.
    kept = [path for path in resolved if not home.is_relative_to(path)]
    # The import system lists the folder of the package, in which other things may lie.
    return ReadablePaths(tuple(kept), (package.parent,))


def _installation(checkout: Path) -> Iterator[Path]:
    yield from map(Path, (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix))
    yield from (Path(entry) for entry in sys.path if entry and Path(entry).resolve() != checkout)
    if getattr(sys, "frozen", False):
        # A frozen program holds the modules in itself.
        yield Path(sys.executable)
    searched = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    yield from (Path(folder) for folder in searched if folder)


_PROFILE = """(version 1)
(allow default)
(deny network*)
(deny process-fork)
(deny process-exec*)
(deny file-write*)
(allow file-write* (literal "/dev/null") (subpath "{temporary}"))
"""
# PROCESS_MITIGATION_POLICY.ProcessChildProcessPolicy and its flag NoChildProcessCreation.
_CHILD_PROCESS_POLICY = 13
_NO_CHILD_PROCESSES = 1


def forbid_by_profile() -> bool:
    """On macOS: no network, no programs, no writing but of temporary files."""
    temporary = os.path.realpath(tempfile.gettempdir())
    if sys.platform != "darwin" or '"' in temporary or "\\" in temporary:
        return False
    try:
        library = ctypes.CDLL(util.find_library("sandbox") or "/usr/lib/libSystem.B.dylib")
        profile = _PROFILE.format(temporary=temporary).encode()
        return (
            library.sandbox_init(profile, ctypes.c_uint64(0), ctypes.byref(ctypes.c_char_p())) == 0
        )
    except (OSError, AttributeError):
        return False


def forbid_child_processes() -> bool:
    """On Windows: no programs."""
    if sys.platform != "win32":
        return False
    flags = ctypes.c_uint32(_NO_CHILD_PROCESSES)
    try:
        return bool(
            ctypes.windll.kernel32.SetProcessMitigationPolicy(
                _CHILD_PROCESS_POLICY, ctypes.byref(flags), ctypes.c_size_t(ctypes.sizeof(flags))
            )
        )
    except (OSError, AttributeError):
        return False


# The numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1

READ_FILES = 1 << 2
READ_FOLDERS = 1 << 3
# Rights that each version adds to those of the one before.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_NETWORK_VERSION, _NETWORK_RIGHTS = 4, 0b11
_SCOPE_VERSION, _SCOPES = 6, 0b11


def version() -> int:
    """The version of Landlock in this kernel, 0 without it."""
    return max(0, _call(_CREATE_RULESET, None, 0, _ASK_VERSION))


def limit_files(readable: Iterable[Path], listable: Iterable[Path] = ()) -> bool:
    """By Landlock, allow only to read what is `readable`, and to list folders below `listable`.

    Nothing can be written, created, removed or executed, by this thread and those that it starts.
    What was opened before, and what the parent passes, stays readable. False where it can't be.
    """
    found = version()
    if not found:
        return False
    rights = sum(added for since, added in _FILE_RIGHTS.items() if since <= found)
    network = _NETWORK_RIGHTS if found >= _NETWORK_VERSION else 0
    scopes = _SCOPES if found >= _SCOPE_VERSION else 0
    # Fields that a kernel does not know must be zero.
    attributes = struct.pack("=QQQ", rights, network, scopes)
    ruleset = _call(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow(ruleset, path, READ_FILES | READ_FOLDERS)
        for path in listable:
            _allow(ruleset, path, READ_FOLDERS)
        libc = ctypes.CDLL(None, use_errno=True)
        return not libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) and not _call(
            _RESTRICT_SELF, ruleset, 0
        )
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    with suppress(OSError):  # It does not exist here.
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not path.is_dir():
                rights &= READ_FILES
            _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
        finally:
            os.close(descriptor)


def _call(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    passed = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = libc.syscall(ctypes.c_long(number), *passed)
    return result


def confine() -> list[str]:
    """Give up the network, other programs and foreign files; returns the guards in force."""
    if sys.platform == "linux":
        return _confine_on_linux()
    if sys.platform == "darwin":
        return ["seatbelt"] if forbid_by_profile() else []
    if sys.platform == "win32":
        return ["no child processes"] if forbid_child_processes() else []
    return []


def _confine_on_linux() -> list[str]:
    guards: list[str] = []
    paths = readable_paths()
    if paths.hold_libraries and limit_files(paths.readable, paths.listable):
        guards.append("landlock")
    if forbid_calls():
        guards.append("seccomp")
    if guards:
        tempfile.TemporaryFile = _file_in_memory
    return guards


def _file_in_memory(*_arguments: object, **_options: object) -> IO[bytes]:
    """A temporary file without a place on the disk, where nothing can be written."""
    try:
        return os.fdopen(os.memfd_create("temporary"), "w+b")
    except OSError:
        return io.BytesIO()
