"""The environment of the parser process: what Python, the system's libraries and readers need.

Keys, tokens and addresses of the parent's environment stay out of it.
"""

import os
import sys
from pathlib import Path

import desktop_rag

_LANGUAGE = ("LANG", "LANGUAGE", "TZ")
_LANGUAGE_PREFIX = "LC_"
_FOLDERS = ("TMPDIR", "TEMP", "TMP")
_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
# Without HOME Python would ask the system's user database, by a socket, for the user's packages.
_PYTHON = (
    "HOME", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE",
    "PYTHONUTF8", "PYTHONTZPATH",
)  # fmt: skip
# Windows finds its own libraries by these.
_WINDOWS = (
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "PATH", "USERPROFILE", "APPDATA", "NUMBER_OF_PROCESSORS",
)  # fmt: skip


def child_environment() -> dict[str, str]:
    """The environment with this package importable and no modules from the working directory."""
    root = str(Path(desktop_rag.__file__ or "").resolve().parent.parent)
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: value for name, value in os.environ.items() if _is_needed(name)}
    return kept | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
        # Every library thread would reserve address space, which is limited.
        "MALLOC_ARENA_MAX": "2",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _is_needed(name: str) -> bool:
    names = (*_LANGUAGE, *_FOLDERS, *_LIBRARIES, *_PYTHON)
    if sys.platform == "win32":
        return name.upper() in (*names, *_WINDOWS)
    return name in names or name.startswith(_LANGUAGE_PREFIX)
