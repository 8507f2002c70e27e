"""What macOS and Windows offer a process to confine itself: one call each.

Neither keeps a process from reading the files of its user.
"""

import ctypes
import os
import sys
import tempfile
from ctypes import util

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
