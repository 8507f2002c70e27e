"""A copy of the app with one wing fewer; as a script, runs the core's tests in a copy for each.

python -m tests.absent_wing
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from desktop_rag import registry

ROOT = Path(__file__).parents[1]
# Resolved, their files would lie in the tree that is whole.
_COPIED = ("desktop_rag", "tests", "resources")


def copy_without(wing: str, folder: Path) -> Path:
    """Copy the app and its tests below the folder, without this wing."""
    folder.mkdir(exist_ok=True)
    for path in ROOT.iterdir():
        if path.name in _COPIED:
            shutil.copytree(path, folder / path.name)  # with what is compiled
        elif not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    shutil.rmtree(folder / "desktop_rag" / "features" / wing)
    return folder


def run_in(copy: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments in the copy, whose modules come before installed ones."""
    env = {**os.environ, "PYTHONPATH": str(copy), **environment}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, check=False)


def main() -> int:
    """Run the tests of every day without each wing; returns the number of wings that fail."""
    failed = 0
    for wing in registry.wings():
        with tempfile.TemporaryDirectory() as folder:
            copy = copy_without(wing, Path(folder))
            options = ("-q", "-n", "logical", "-m", "not slow", "-p", "no:cacheprovider")
            done = run_in(copy, "-m", "pytest", *options, "tests/unit", "tests/integration")
            sys.stdout.write(f"without {wing}: {done.stdout.splitlines()[-1]}\n")
            if done.returncode:
                failed += 1
                sys.stdout.write(done.stdout[-4000:] + done.stderr[-4000:])
    return failed


if __name__ == "__main__":
    sys.exit(main())
