"""Confines the parser process by what its system offers, for good.

Called once by the parser process before it starts another thread.
"""

import io
import os
import sys
import tempfile
from typing import IO

from desktop_rag.ingest.parsing.sandbox.landlock import limit_files
from desktop_rag.ingest.parsing.sandbox.other_systems import (
    forbid_by_profile,
    forbid_child_processes,
)
from desktop_rag.ingest.parsing.sandbox.readable_paths import readable_paths
from desktop_rag.ingest.parsing.sandbox.seccomp_filter import forbid_calls


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
