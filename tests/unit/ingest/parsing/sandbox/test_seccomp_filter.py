"""The filter run by an interpreter of its instructions, for architectures that are not at hand."""

import errno
import os
import struct

import pytest

from desktop_rag.ingest.parsing.sandbox.confinement import ARCHITECTURES, filter_for

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
REFUSED, MISSING = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
PID = 4711
THREAD = 0x3D0F00


def result(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """What the kernel would make of this call."""
    architecture = ARCHITECTURES[machine] if audit is None else audit
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    call = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    program = [struct.unpack("=HBBI", one) for one in filter_for(machine, PID)]
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            [loaded] = struct.unpack_from("=I", call, value)
            continue
        is_true = {0x15: loaded == value, 0x25: loaded > value, 0x45: bool(loaded & value)}[code]
        at += if_true if is_true else if_false


# read, write, mmap, futex, recvmsg, exit_group, memfd_create
NEEDED = {"x86_64": (0, 1, 9, 202, 47, 231, 319), "aarch64": (63, 64, 222, 98, 212, 94, 279)}
# socket, connect, bind, sendto, execve, ptrace, unlinkat, bpf, io_uring_setup, pidfd_getfd
FOREIGN = {
    "x86_64": (41, 42, 49, 44, 59, 101, 263, 321, 425, 438),
    "aarch64": (198, 203, 200, 206, 221, 117, 35, 280, 425, 438),
}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_calls_are_told_apart_by_number(machine: str) -> None:
    assert {result(machine, number) for number in NEEDED[machine]} == {ALLOWED}
    assert {result(machine, number) for number in FOREIGN[machine]} == {REFUSED}
    # clone3, openat2, a call of the future, one of x32
    assert {result(machine, n) for n in (435, 437, 463, 0x40000001)} == {MISSING}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    assert result(machine, 0, audit=0x40000003) == KILLED


@pytest.mark.parametrize(
    ("machine", "clone", "kill", "openat", "prlimit"),
    [("x86_64", 56, 62, 257, 302), ("aarch64", 220, 129, 56, 261)],
)
def test_some_calls_depend_on_an_argument(
    machine: str, clone: int, kill: int, openat: int, prlimit: int
) -> None:
    assert result(machine, clone, THREAD) == ALLOWED
    assert result(machine, clone, 17) == REFUSED
    assert result(machine, kill, PID, 6) == ALLOWED
    assert {result(machine, kill, other) for other in (1, 0, 2**32 - 1)} == {REFUSED}
    assert result(machine, openat, 0, 0, os.O_RDONLY | os.O_CLOEXEC) == ALLOWED
    writing = (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC)
    assert {result(machine, openat, 0, 0, flag) for flag in writing} == {REFUSED}
    assert {result(machine, prlimit, pid) for pid in (0, PID)} == {ALLOWED}
    assert result(machine, prlimit, 1) == REFUSED
