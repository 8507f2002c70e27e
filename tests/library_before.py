"""A library as the last commit before version 1 of the tables left it, made by its code.

Two files of /documents are indexed in it, with their vectors; it has a chat, a scheduled question
and a set of questions. Beside it is its backup.
"""

import zipfile
from pathlib import Path

from desktop_rag.core.paths import Home

_PACKED = Path(__file__).parent / "unit/store/duckdb/database/before_version_1.zip"
BACKUP = "all.desktop-rag-backup"


def unpacked(folder: Path) -> Home:
    """The home with the library, in this folder."""
    with zipfile.ZipFile(_PACKED) as packed:
        packed.extractall(folder)
    return Home(folder / "home")
