"""Prints the lines of the lock files, hashes included, for a server without a display.

    make container-lock

Everything that the app needs at run time but Qt, or with --tools what builds the wheel. No verb of
the command line imports Qt; it is 250 MB, and needs libraries that a slim image lacks.
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from build_sbom import lock_text, locked_packages, needed_at_run_time

# An extra that a server for a team needs: what connects to PostgreSQL.
TEAM = frozenset({"psycopg", "psycopg-binary", "psycopg-pool"})
WITHOUT = frozenset({"pyside6-essentials", "shiboken6"})
TOOLS = frozenset({"hatchling", "packaging", "pathspec", "pluggy", "trove-classifiers"})


def server_lock(lock: str, *, is_for_tools: bool = False) -> str:
    """The lines of a lock file that the image needs, or those that build the wheel for it."""
    needed = needed_at_run_time(locked_packages(lock))
    server = {name for name, is_extra in needed.items() if not is_extra} - WITHOUT | TEAM
    names = TOOLS if is_for_tools else server
    found: list[str] = []
    for block in re.split(r"\n(?=[a-z0-9])", lock):
        name = re.match(r"[a-z0-9._-]+", block)
        if name and name[0] in names:
            found.append(block.strip("\n"))
    return "\n".join(found) + "\n"


def main() -> int:
    """Print them; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", action="store_true")
    sys.stdout.write(server_lock(lock_text(), is_for_tools=parser.parse_args().tools))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
