"""The stored copies of web pages. Runs on the thread of the link refresher."""

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from desktop_rag.core.domain import FileStat
from desktop_rag.core.errors import AppError
from desktop_rag.ingest.web.page_type import HTML

_NAME_CHARS = 32
_FOLDER = re.compile(r"[0-9a-f]{32}")


def page_path(folder: Path, url: str, suffix: str = HTML) -> Path:
    """The path of a page's copy; the same address always gets the same name."""
    digest = hashlib.sha256(url.encode()).hexdigest()
    return folder / f"{digest[:_NAME_CHARS]}{suffix}"


def stat_of(path: Path) -> FileStat | None:
    """Size, time and inode of a copy; None when it is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino)


def is_kept(path: Path, stat: FileStat, body: bytes) -> bool:
    """True when the copy is unchanged since it was read and contains exactly these bytes."""
    if stat_of(path) != stat or stat.size_bytes != len(body):
        return False
    try:
        return path.read_bytes() == body
    except OSError:
        return False


def save(path: Path, body: bytes) -> FileStat:
    """Write the copy atomically. Raises AppError on failure."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        found = path.stat()
    except OSError as exc:
        raise AppError("A fetched page could not be saved.", f"{path}: {exc.strerror}.") from exc
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino)


def drop(path: Path) -> None:
    """Delete a copy if it exists."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def drop_folders_but(pages: Path, kept: Collection[str]) -> None:
    """Delete the folders of removed sources; anything else there stays."""
    if not pages.is_dir():
        return
    for folder in pages.iterdir():
        is_ours = _FOLDER.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink()
        if is_ours and folder.name not in kept:
            shutil.rmtree(folder, ignore_errors=True)
