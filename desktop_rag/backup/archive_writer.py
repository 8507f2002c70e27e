"""Writes the file of a backup: a ZIP that is complete or absent. Any worker thread."""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from desktop_rag.backup.manifest import INDEX, MANIFEST, FileFacts, Manifest
from desktop_rag.core.errors import AppError

Write = Callable[[bytes], None]
_PART = ".part"


class ArchiveWriter:
    """A backup being written beside its final place, which it takes when it is finished.

    Unless `finish` is called, leaving the context removes the file. AppError when the disk refuses.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._part = file.with_name(file.name + _PART)
        self._facts: dict[str, FileFacts] = {}
        try:
            # Chats and settings are nobody else's business, wherever the file goes.
            descriptor = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            self._content: IO[bytes] = os.fdopen(descriptor, "w+b")
        except OSError as exc:
            raise _refused(file, exc) from exc
        self._zip = zipfile.ZipFile(self._content, "w", zipfile.ZIP_DEFLATED)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Not `close`, which would write the rest of the archive to a disk that may be full.
        self._zip.fp = None
        with suppress(OSError):  # for what is left in the buffer there is no room either
            self._content.close()
        with suppress(OSError):
            self._part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _refused(self._file, error) from error

    def add(self, name: str, content: Iterable[bytes], changed_at: float = 0.0) -> None:
        """Add a file, piece by piece."""
        with self.stream(name, changed_at) as write:
            for piece in content:
                write(piece)

    @contextmanager
    def stream(self, name: str, changed_at: float = 0.0) -> Generator[Write]:
        """Add a file with what is written inside the block; one at a time."""
        # Vectors and packed texts do not get smaller.
        method = zipfile.ZIP_STORED if name == INDEX else zipfile.ZIP_DEFLATED
        digest, sizes = hashlib.sha256(), [0]
        with self._zip.open(_info(name, method), "w", force_zip64=True) as written:

            def write(piece: bytes) -> None:
                written.write(piece)
                digest.update(piece)
                sizes.append(len(piece))

            yield write
        self._facts[name] = FileFacts(sum(sizes), digest.hexdigest(), changed_at)

    @property
    def facts(self) -> dict[str, FileFacts]:
        """The files added so far."""
        return dict(self._facts)

    def finish(self, manifest: Manifest) -> None:
        """Add what the backup says of itself, sync it, and put it in its place."""
        content = json.dumps(manifest.to_json(), ensure_ascii=False, indent=1)
        self._zip.writestr(_info(MANIFEST, zipfile.ZIP_DEFLATED), content)
        self._zip.close()
        self._content.flush()
        os.fsync(self._content.fileno())
        self._content.close()
        self._part.replace(self._file)
        _sync_folder(self._file.parent)


def remove_unfinished(folder: Path) -> None:
    """Remove what interrupted writing left. Nothing may be being written there."""
    for part in folder.glob(f"*{_PART}"):
        part.unlink(missing_ok=True)


def _info(name: str, method: int) -> zipfile.ZipInfo:
    # The clock may say a year that ZIP has no number for; the manifest has the times.
    info = zipfile.ZipInfo(name)
    info.compress_type = method
    info.external_attr = 0o600 << 16
    return info


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _refused(file: Path, exc: OSError) -> AppError:
    hint = f"{file}: {exc.strerror or exc}. An earlier file of this name is unchanged."
    return AppError("The backup could not be written.", hint)
