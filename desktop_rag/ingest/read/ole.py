"""The old Office container (OLE): the names of its streams, and what is in them.

Runs in the parser process.
"""

import io
import struct
from typing import TYPE_CHECKING

from desktop_rag.ingest.read.draft import one_line
from desktop_rag.ingest.read.source import SourceFile, Unreadable

if TYPE_CHECKING:
    from olefile import OleFileIO

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# Properties of a document, and code pages whose codec has another name.
_CODE_PAGE, _TITLE = 1, 2
_ENCODINGS = {0: "cp1252", 1200: "utf-16-le", 10000: "mac-roman", 65001: "utf-8"}
# What olefile raises for damaged files beside its own errors, which are OSErrors.
_DAMAGE = (OSError, struct.error, IndexError, ValueError, TypeError, AttributeError, RecursionError)


class Container:
    """An opened container. Raises Unreadable when it can't be opened."""

    def __init__(self, source: SourceFile) -> None:
        try:
            self._file = _open(source.data)
        except _DAMAGE as exc:
            hint = "It is cut short or altered."
            raise Unreadable("damaged", "The file is damaged", hint) from exc

    def stream(self, *path: str) -> bytes | None:
        """The bytes of a stream, None if it is missing or can't be had. Names heed no case."""
        try:
            with self._file.openstream(list(path)) as stream:
                return stream.read()
        except _DAMAGE:
            return None

    def title(self) -> str:
        """The title in the properties of the document, "" without one."""
        try:
            properties = self._file.getproperties("\x05SummaryInformation")
            title = properties.get(_TITLE, b"")
            code_page = int(properties.get(_CODE_PAGE, 0)) & 0xFFFF
            encoding = _ENCODINGS.get(code_page, f"cp{code_page}")
            text = title.decode(encoding, "replace") if isinstance(title, bytes) else str(title)
        except (*_DAMAGE, LookupError):
            return ""
        return one_line(text.replace("\0", ""))

    def names(self) -> list[tuple[str, ...]]:
        """The paths of all streams."""
        return [tuple(path) for path in self._file.listdir()]


def root_names(data: bytes) -> set[str]:
    """The names at the top of the container; empty if it is damaged."""
    try:
        return {path[0] for path in _open(data).listdir(streams=True, storages=True)}
    except _DAMAGE:
        return set()


def _open(data: bytes) -> "OleFileIO":
    from olefile import OleFileIO

    return OleFileIO(io.BytesIO(data))
