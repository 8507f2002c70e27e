"""JSON objects by the hash of a content: what takes long to make again. Any thread.

They outlive a change of readers, a move of the file and a repair of the library.
"""

import json
import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any

from desktop_rag.core.files.atomic_file import read_object, write_atomically

log = logging.getLogger(__name__)


class ContentFolder:
    """A folder with a file for each name, which is a content hash, alone or with `.` and more."""

    def __init__(self, folder: Path) -> None:
        """The folder is created with the first file."""
        self._folder = folder

    @property
    def has_any(self) -> bool:
        """True when something is kept."""
        try:
            return any(self._folder.iterdir())
        except OSError:
            return False

    def read(self, name: str) -> dict[str, Any]:
        """The object of this name, empty when there is none."""
        return read_object(self._path(name))

    def write(self, name: str, fields: dict[str, Any]) -> None:
        """Keep an object in place of the former one; OSError when that fails."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(self._path(name), json.dumps(fields, ensure_ascii=False))

    def remove(self, name: str) -> None:
        """Keep the object of this name no longer."""
        self._path(name).unlink(missing_ok=True)

    def keep_only(self, content_hashes: Collection[str]) -> None:
        """Remove what belongs to any other content."""
        if not self.has_any:
            return
        for path in list(self._folder.iterdir()):
            if path.name.partition(".")[0] not in content_hashes:
                log.info("what was kept of a file that is gone is removed")
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
