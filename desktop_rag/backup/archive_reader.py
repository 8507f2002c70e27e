"""Reads the file of a backup, which may come from anybody. Any worker thread.

Nothing is unpacked before its manifest was checked, no more than that allows is read of anything,
and what is read must have the hash that the manifest names.
"""

import hashlib
import io
import logging
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from desktop_rag.backup.manifest import (
    ENTRIES,
    IMAGES,
    MANIFEST,
    MOST_MANIFEST,
    Manifest,
    manifest_from,
)
from desktop_rag.backup.row_rules import check_entry
from desktop_rag.backup.selection import coherent
from desktop_rag.backup.value_rules import WrongValueError, strict_json
from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.precious import Entry

log = logging.getLogger(__name__)

_PIECE = 1 << 20
_LONGEST_LINE = 128 << 20
# The end of a ZIP, without and with 64-bit sizes, and where the latter is.
_END, _END_64, _LOCATOR = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_END_BYTES, _LOCATOR_BYTES, _LONGEST_COMMENT = 22, 20, 65_535
_MOST_DIRECTORY_BYTES = 16 << 20


class Archive:
    """An open backup with a checked manifest."""

    def __init__(
        self, opened: zipfile.ZipFile, manifest: Manifest, *, leaves_out_wrong: bool = False
    ) -> None:
        self._zip = opened
        self._leaves_out_wrong = leaves_out_wrong
        self.manifest = manifest
        self.left_out: set[str] = set()

    def entries(self) -> Iterator[Entry]:
        """All entries but images, each checked. The last one proves the hash of all."""
        return self._lines(ENTRIES)

    def coherent_entries(self) -> list[Entry]:
        """All entries but images; where some were left out, without what belongs to these."""
        entries = list(self.entries())
        return coherent(entries) if self.left_out else entries

    def images(self) -> Iterator[Entry]:
        """The images, each checked."""
        return self._lines(IMAGES) if IMAGES in self.manifest.files else iter(())

    def text(self, name: str) -> str:
        """The text of a small file."""
        try:
            return b"".join(self.pieces(name)).decode("utf-8")
        except UnicodeDecodeError:
            raise WrongValueError(name) from None

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of a file in pieces; WrongValueError when it is another than promised."""
        facts, digest, size = self.manifest.files[name], hashlib.sha256(), 0
        with self._zip.open(name) as member:
            while piece := member.read(_PIECE):
                size += len(piece)
                if size > facts.size:
                    raise WrongValueError(f"the size of {name}")
                digest.update(piece)
                yield piece
        if size != facts.size or digest.hexdigest() != facts.sha256:
            raise WrongValueError(f"the hash of {name}")

    def _lines(self, name: str) -> Iterator[Entry]:
        # An image is one line; everything else in the archive is an entry of another kind.
        rest = b""
        n = 0
        for piece in self.pieces(name):
            *whole, rest = (rest + piece).split(b"\n") if b"\n" in piece else (rest + piece,)
            for line in whole:
                n += 1
                try:
                    entry = _entry(line, f"{name} line {n}", has_images=name == IMAGES)
                except WrongValueError as exc:
                    if not self._leaves_out_wrong:
                        raise
                    self.left_out.add(str(exc))
                    log.info("an entry was left out: %s", exc)
                    continue
                yield entry
            if len(rest) > _LONGEST_LINE:
                raise WrongValueError(f"{name} line {n + 1}")
        if rest:
            raise WrongValueError(f"{name} line {n + 1}")


@contextmanager
def opened_archive(
    file: Path, schema: int, *, leaves_out_wrong: bool = False
) -> Generator[Archive]:
    """The backup in a file; AppError when it is none, damaged, or of another version.

    What is wrong with it is also an AppError when it shows only later, inside the block.
    """
    try:
        with file.open("rb") as content, _as_damage(file):
            _refuse_long_directory(content)
            with zipfile.ZipFile(content) as opened:
                manifest = manifest_from(_manifest_of(opened), schema)
                _refuse_other_members(opened, manifest)
                yield Archive(opened, manifest, leaves_out_wrong=leaves_out_wrong)
    except OSError as exc:
        raise AppError("The backup could not be read.", f"{file}: {exc.strerror or exc}.") from exc


class DamagedBackupError(AppError):
    """The bytes of a backup are not those of one that the app has made."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(f"{file.name} is no backup that this app has made, or it is damaged.",
                         f"{reason} Nothing was changed.")  # fmt: skip


@contextmanager
def _as_damage(file: Path) -> Generator[None]:
    try:
        yield
    except WrongValueError as exc:
        raise DamagedBackupError(file, f"Something is wrong at {exc}.") from exc
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as exc:
        raise DamagedBackupError(file, f"{type(exc).__name__}: {exc}.") from exc


def _manifest_of(opened: zipfile.ZipFile) -> Any:  # noqa: ANN401  checked by the caller
    names = [info.filename for info in opened.infolist()]
    if names.count(MANIFEST) != 1:
        raise WrongValueError(MANIFEST)
    info = opened.getinfo(MANIFEST)
    _refuse_odd(info)
    with opened.open(info) as member:
        content = member.read(MOST_MANIFEST + 1)
    if len(content) > MOST_MANIFEST:
        raise WrongValueError(f"the size of {MANIFEST}")
    try:
        return strict_json(content)
    except ValueError:
        raise WrongValueError(MANIFEST) from None


def _refuse_other_members(opened: zipfile.ZipFile, manifest: Manifest) -> None:
    members = opened.infolist()
    names = [info.filename for info in members]
    if sorted(names) != sorted([MANIFEST, *manifest.files]):
        raise WrongValueError("the list of files")
    for info in members:
        _refuse_odd(info)


def _refuse_odd(info: zipfile.ZipInfo) -> None:
    is_plain = info.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    if not is_plain or info.flag_bits & 0x1:
        raise WrongValueError(info.filename)


def _refuse_long_directory(content: IO[bytes]) -> None:
    """A list of files far longer than any backup's is not read into memory."""
    size = content.seek(0, io.SEEK_END)
    content.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT))
    tail = content.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise WrongValueError("its end")
    sizes: list[int] = [struct.unpack_from("<L", tail, at + 12)[0]]
    locator = tail[at - _LOCATOR_BYTES : at] if at >= _LOCATOR_BYTES else b""
    if locator.startswith(_LOCATOR):
        # zipfile takes the record from right before the locator.
        content.seek(max(0, size - len(tail) + at - _LOCATOR_BYTES - 56))
        record = content.read(56)
        sizes = [struct.unpack_from("<Q", record, 40)[0]] if record.startswith(_END_64) else sizes
    if max(sizes) > _MOST_DIRECTORY_BYTES:
        raise WrongValueError("its list of files")
    content.seek(0)


def _entry(line: bytes, place: str, *, has_images: bool) -> Entry:
    try:
        found = strict_json(line)
        entry = Entry(found["kind"], found["key"], found["rows"], found.get("conversation_id", ""))
        is_right = isinstance(entry.rows, dict) and all(
            isinstance(rows, list) for rows in entry.rows.values()
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise WrongValueError(place) from None
    if not is_right or type(found["kind"]) is not str or (entry.kind == "image") != has_images:
        raise WrongValueError(place)
    check_entry(entry, place)
    return entry
