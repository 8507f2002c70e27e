"""Small files of the app's own, written whole or not at all. Any thread."""

import json
import logging
import os
from pathlib import Path
from typing import Any, cast

log = logging.getLogger(__name__)


def write_atomically(path: Path, text: str) -> None:
    """Put the file in place only once all of it is on disk; OSError when that is not possible."""
    temporary = path.with_suffix(path.suffix + ".new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file; an empty one when there is no file or it can't be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as exc:
        log.info("%s cannot be read and is begun anew: %s", path.name, type(exc).__name__)
        return {}
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def write_object(path: Path, content: dict[str, Any]) -> None:
    """Keep a JSON object that can be made again: when the disk refuses, the log says so."""
    try:
        write_atomically(path, json.dumps(content, ensure_ascii=False, indent=1))
    except OSError as exc:
        log.info("%s could not be saved: %s", path.name, exc.strerror)
