"""Refuses the system calls that a parser process never needs, by a seccomp filter. Linux only.

The filter is a program for the kernel's classic BPF machine: it sees the number and the arguments
of each call, and holds for every thread from now on. What is not refused by name is allowed,
because libraries differ in what they call; a call newer than the tables is refused.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable, Sequence

from desktop_rag.ingest.parsing.sandbox.system_calls import (
    ARCHITECTURES,
    NEWEST,
    calls_by_argument,
    missing_calls,
    refused_calls,
)

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
    """Install the filter. False when the kernel or the architecture has none for us."""
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
    """The same result for each of these calls."""
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
