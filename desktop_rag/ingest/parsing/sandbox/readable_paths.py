"""The files that a parser process reads besides documents: Python, libraries, their data."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import desktop_rag
from desktop_rag.core.paths import resources_dir

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
    """Files and folders to be read whole, and folders of which only the names are needed."""

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
