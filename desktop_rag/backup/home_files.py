"""The person's files in a backup: prompts, rewrites, settings. Worker threads."""

import logging
import os
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_rag.backup.archive_reader import Archive
from desktop_rag.backup.archive_writer import ArchiveWriter
from desktop_rag.backup.manifest import PROMPTS, REWRITES, SETTINGS, is_known, most_bytes
from desktop_rag.backup.value_rules import WrongValueError, text
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.files.settings_file import (
    load_settings,
    save_settings,
    settings_from_text,
    settings_to_text,
)
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, ServerSettings, Settings

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
        try:
            for path, content, changed_at in self.texts:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_atomically(path, content)
                os.utime(path, (changed_at, changed_at))
        except OSError as exc:
            hint = f"{exc.filename}: {exc.strerror}. Import the backup again to complete it."
            raise AppError("Not all prompts and answers of yours could be written.", hint) from exc
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
