"""Patterns as in a .gitignore file, decided as Git does. Pure; any thread may ask."""

import logging
import re
from collections.abc import Iterable

log = logging.getLogger(__name__)

# The group in pathspec's expressions that holds the slash behind the folder a pattern names.
_SLASH = "ps_d"


class Patterns:
    """Lines of a .gitignore file. A line that is no pattern counts as none, as Git has it.

    pathspec turns the lines into expressions; the deciding is done here. Its own goes by file and
    lets a folder's pattern speak for all below it, so that in `*`, `!*/`, `!note.md` or in
    `build/**`, `!build/note.md` the last line has no say. A scan asks for each folder on its way,
    so a pattern need only speak for what it names.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

        self._patterns: list[tuple[bool, re.Pattern[str]]] = []
        for line in lines:
            try:
                pattern = GitIgnoreSpecPattern(line)
            except ValueError:
                log.info("a line of the patterns is no pattern")
                continue
            if pattern.include is not None and pattern.regex is not None:
                self._patterns.insert(0, (pattern.include, pattern.regex))

    def leaves_out(self, path: str) -> bool | None:
        """True when the last pattern that matches the path excludes it; None if none matches.

        The path is relative, with slashes; that of a folder ends in one.
        """
        for leaves_out, expression in self._patterns:
            if any(_names(match, path) for match in expression.finditer(path)):
                return leaves_out
        return None


def _names(match: re.Match[str], path: str) -> bool:
    if _SLASH not in match.re.groupindex:
        # Of `build/**`: all in the folder, but not the folder.
        return match.end() < len(path) or not path.endswith("/")
    return match.start(_SLASH) in (-1, len(path) - 1)
