"""The entry point of the command line.

Exit codes: 0 done, 1 an error with title and hint on stderr, 2 wrong usage. Only the modules of the
verb that was asked for are imported, so that what reaches the running app is there at once.
"""

import sys
from collections.abc import Sequence

from desktop_rag.cli.running import run_verb
from desktop_rag.cli.terminal import say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import keep_files_private
from desktop_rag.idle_memory import share_memory


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb, or open the window; returns the exit code."""
    given = sys.argv[1:] if argv is None else argv
    keep_files_private()
    share_memory()
    try:
        return run_verb(given)
    except AppError as error:
        say("\n".join(line for line in (error.title, error.hint) if line))
        return 1
    except KeyboardInterrupt:
        return 130
