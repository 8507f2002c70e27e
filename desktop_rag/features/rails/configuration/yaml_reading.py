"""Reads YAML that a stranger may have written: plain values, no objects, no references.

Any thread.
"""

from pathlib import Path
from typing import Any

import yaml

from desktop_rag.core.errors import AppError

_MOST_BYTES = 1_000_000


class _PlainLoader(yaml.SafeLoader):
    """The safe loader without references, which can make a small file endless."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(problem="references are not read", problem_mark=mark)
        return super().compose_node(parent, index)


def read_text(path: Path) -> str:
    """The text of a file of a configuration; AppError when it can't be read."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise AppError(
                f"{path.name} is too large for a file of rails.", "Is it the right file?"
            )
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise AppError(f"{path.name} can't be read.", f"{exc}.") from exc


def read_yaml(path: Path) -> dict[str, Any]:
    """The entries of a file; AppError with line and column when it is no YAML."""
    text = read_text(path)
    try:
        # A loader of ours that knows plain values only.
        found = yaml.load(text, Loader=_PlainLoader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        place = f"{path.name}:{mark.line + 1}:{mark.column + 1}" if mark else path.name
        raise AppError(f"{place}: This is no YAML.", f"{exc.problem}.") from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise AppError(f"{path.name} is no YAML.") from exc
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise AppError(f"{path.name}:1:1: Entries such as `key: value` are expected.")
    return {str(key): value for key, value in found.items()}
