"""Atomic writes of small files owned by the app. Any thread."""

import json
import logging
import os
from pathlib import Path
from typing import Any, cast

log = logging.getLogger(__name__)


def write_atomically(path: Path, text: str) -> None:
    """Replace the file once the new content is on disk. Raises OSError on failure."""
    temporary = path.with_suffix(path.suffix + ".new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file; an empty one when it is missing or unreadable."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as exc:
        log.info("%s cannot be read and is replaced: %s", path.name, type(exc).__name__)
        return {}
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def write_object(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object that can be rebuilt: failures are logged, not raised."""
    try:
        write_atomically(path, json.dumps(content, ensure_ascii=False, indent=1))
    except OSError as exc:
        log.info("%s could not be saved: %s", path.name, exc.strerror)
