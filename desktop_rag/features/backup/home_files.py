"""The person's files in a backup, and its ZIP, which is complete or absent. Worker threads."""

import hashlib
import json
import logging
import os
import re
import zipfile
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from desktop_rag.core.errors import IMPORT_AGAIN, AppError, os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.files.settings_file import (
    load_settings,
    save_settings,
    settings_from_text,
    settings_to_text,
)
from desktop_rag.core.paths import Home
from desktop_rag.core.records import WrongValueError
from desktop_rag.core.settings import EndpointSettings, ServerSettings, Settings
from desktop_rag.features.backup.archive_reader import Archive
from desktop_rag.features.backup.manifest import (
    INDEX,
    MANIFEST,
    PROMPTS,
    REWRITES,
    SETTINGS,
    FileFacts,
    Manifest,
    is_known,
    most_bytes,
)
from desktop_rag.features.backup.value_rules import text

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


log = logging.getLogger(__name__)

# A rewrite's file is named after the beginning of its message's id.
_ID_CHARS = 12
_USER = re.compile(r"(?<=//)[^/@]*@")


@dataclass(frozen=True, slots=True)
class TakenFiles:
    """Files of a backup that the home lacks or has an older version of, ready to be written."""

    texts: tuple[tuple[Path, str, float], ...]
    settings: Settings | None

    def write(self, home: Home) -> None:
        """Write them; AppError when the disk refuses, and then the same import goes on."""
        title = "Not all prompts and answers of yours could be written."
        with os_error_as(title, home.root, IMPORT_AGAIN):
            for path, content, changed_at in self.texts:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_atomically(path, content)
                os.utime(path, (changed_at, changed_at))
        if self.settings:
            save_settings(home.settings, self.settings)


def add_home_files(
    archive: ArchiveWriter, home: Home, *, message_ids: Collection[str] | None = None
) -> None:
    """Add prompts, rewrites and settings; with `message_ids`, only the rewrites of these."""
    folders = {REWRITES: home.rewrites} | ({PROMPTS: home.prompts} if message_ids is None else {})
    endings = tuple(f"-{one[:_ID_CHARS]}.md" for one in message_ids or ())
    for folder, path in folders.items():
        for file in sorted(path.glob("*.md")):
            is_wanted = message_ids is None or file.name.endswith(endings)
            if is_wanted and is_known(folder + file.name):
                _add(archive, folder, file)
    if message_ids is None and home.settings.exists():
        settings, _ = load_settings(home.settings)
        archive.add(SETTINGS, [settings_to_text(_of_any_computer(settings)).encode()])


def has_news(archive: Archive, home: Home) -> bool:
    """True when prompts, rewrites or settings are not those in the backup."""
    now: dict[str, tuple[int, float]] = {}
    for folder, path in ((PROMPTS, home.prompts), (REWRITES, home.rewrites)):
        for file in path.glob("*.md"):
            if is_known(folder + file.name):
                status = file.stat()
                now[folder + file.name] = (status.st_size, max(0.0, status.st_mtime))
    before = archive.manifest.files.items()
    texts = {n: (f.size, f.changed_at) for n, f in before if n.startswith((PROMPTS, REWRITES))}
    settings = _of_any_computer(load_settings(home.settings)[0]) if home.settings.exists() else None
    return now != texts or settings != settings_of(archive)


def taken_files(archive: Archive, home: Home) -> TakenFiles:
    """New and newer texts of a backup, and settings if the home has none. WrongValueError."""
    texts: list[tuple[Path, str, float]] = []
    for folder, path in ((PROMPTS, home.prompts), (REWRITES, home.rewrites)):
        for name in archive.manifest.names(folder):
            content, changed_at = _text(archive, name), archive.manifest.files[name].changed_at
            target = path / name.removeprefix(folder)
            if _is_news(target, content, changed_at):
                texts.append((target, content, changed_at))
    return TakenFiles(tuple(texts), None if home.settings.exists() else settings_of(archive))


def settings_of(archive: Archive) -> Settings | None:
    """The settings in a backup, if it has any."""
    if SETTINGS not in archive.manifest.files:
        return None
    try:
        return _of_any_computer(settings_from_text(_text(archive, SETTINGS)))
    except ValueError as exc:
        raise WrongValueError(SETTINGS) from exc


def _add(archive: ArchiveWriter, folder: str, file: Path) -> None:
    try:
        status = file.stat()
        if not file.is_file() or status.st_size > most_bytes(folder + file.name):
            return
        content = file.read_bytes()
        text()(content.decode("utf-8"), file.name)
    except (OSError, ValueError) as exc:
        log.info("%s was left out: %s", file.name, type(exc).__name__)
        return
    archive.add(folder + file.name, [content], max(0.0, status.st_mtime))


def _text(archive: Archive, name: str) -> str:
    content = archive.text(name)
    text()(content, name)
    return content


def _is_news(target: Path, content: str, changed_at: float) -> bool:
    try:
        is_other = target.read_text(encoding="utf-8") != content
        return is_other and target.stat().st_mtime < changed_at
    except FileNotFoundError:
        return True
    except (OSError, UnicodeDecodeError) as exc:
        log.info("%s stays as it is: %s", target.name, type(exc).__name__)
        return False


def _of_any_computer(settings: Settings) -> Settings:
    """The settings without passwords in addresses, and without the server, which opens a port."""

    def clean(endpoint: EndpointSettings) -> EndpointSettings:
        return replace(endpoint, base_url=_USER.sub("", endpoint.base_url))

    return replace(
        settings,
        endpoint=clean(settings.endpoint),
        other_endpoints=tuple(map(clean, settings.other_endpoints)),
        helper=replace(settings.helper, base_url=_USER.sub("", settings.helper.base_url)),
        index=replace(settings.index, model_folder=_USER.sub("", settings.index.model_folder)),
        server=ServerSettings(),
    )
