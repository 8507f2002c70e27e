"""Prints the lines of requirements.lock, hashes included, for what the app needs at run time.

    make package

Neither tools nor extras are among them.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from build_sbom import ROOT, locked_packages, needed_at_run_time


def main() -> int:
    """Print them; returns the exit code."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    needed = needed_at_run_time(locked_packages(lock))
    for block in re.split(r"\n(?=[a-z0-9])", lock):
        name = re.match(r"[a-z0-9._-]+", block)
        if name and needed.get(name[0]) is False:
            print(block.strip("\n"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
