"""Finishes a bundle that PyInstaller made: makes it smaller, checks it, and reports its size.

    python packaging/bundle/finish_bundle.py build/bundle/desktop-rag

Sizes are in millions of bytes, each file counted once. Exit code 1 when a library of the bundle
needs one that neither the bundle nor this system has.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import icu_data
from left_out import left_out

_LARGEST = 10
_MB = 1e6
_INSIDE = "_internal"
# Repaired after they were built: the tool that did it and `strip` break each other's work.
_REPAIRED = re.compile(r"\.libs$")


def strip_symbols(bundle: Path) -> None:
    """Remove the symbols that only a debugger reads, on Linux."""
    tool = shutil.which("strip")
    if sys.platform != "linux" or not tool:
        return
    for path in _libraries(bundle):
        if not _REPAIRED.search(path.parent.name):
            subprocess.run([tool, "--strip-unneeded", str(path)], check=True)


def trim_icu(bundle: Path) -> None:
    """Take out of ICU's data what Qt never asks for, on Linux."""
    for path in _files(bundle):
        if path.match(icu_data.LIBRARY):
            icu_data.trim(path)


def missing_libraries(bundle: Path) -> list[str]:
    """`library: what it needs and nobody has`, on Linux.

    What is left to the desktop on purpose may be missing here.
    """
    tool = shutil.which("ldd")
    if sys.platform != "linux" or not tool:
        return []
    environment = os.environ | {"LD_LIBRARY_PATH": str(bundle / _INSIDE)}
    without = left_out()
    found: list[str] = []
    for path in _libraries(bundle):
        told = subprocess.run(
            [tool, str(path)], env=environment, capture_output=True, text=True, check=False
        )
        names = {line.split()[0] for line in told.stdout.splitlines() if "not found" in line}
        found += [
            f"{path.relative_to(bundle)}: {name}"
            for name in sorted(names)
            if not without.has_file(name)
        ]
    return found


def sizes(bundle: Path) -> Counter[str]:
    """Bytes of each part: a package with its libraries, or a single file."""
    parts: Counter[str] = Counter()
    for path in _files(bundle):
        inside = path.relative_to(bundle).parts
        name = inside[1] if inside[0] == _INSIDE else inside[0]
        parts[_REPAIRED.sub("", name)] += path.stat().st_size
    return parts


def _files(bundle: Path) -> Iterator[Path]:
    return (path for path in bundle.rglob("*") if path.is_file() and not path.is_symlink())


def _libraries(bundle: Path) -> list[Path]:
    return [path for path in _files(bundle) if ".so" in path.suffixes]


def main() -> int:
    """Finish the bundle and print the report; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    bundle: Path = parser.parse_args().bundle
    strip_symbols(bundle)
    trim_icu(bundle)
    parts = sizes(bundle)
    print(f"{sum(parts.values()) / _MB:6.1f} MB  {bundle}")
    for name, size in parts.most_common(_LARGEST):
        print(f"{size / _MB:6.1f} MB    {name}")
    missing = missing_libraries(bundle)
    for line in missing:
        print(f"missing: {line}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
