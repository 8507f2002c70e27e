"""The old Office container (OLE): its streams and its title. Runs in the parser process."""

import io
import struct
from typing import TYPE_CHECKING, Any

from desktop_rag.ingest.read.foundation.document_draft import one_line
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable

if TYPE_CHECKING:
    from olefile import OleFileIO

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# Properties of a document, and code pages whose codec has another name.
_CODE_PAGE, _TITLE = 1, 2
_ENCODINGS = {
    708: "iso8859-6", 936: "gb18030", 1200: "utf-16-le", 1361: "johab", 10000: "mac-roman",
    10006: "mac-greek", 10007: "mac-cyrillic", 20127: "cp1252", 20866: "koi8-r", 21866: "koi8-u",
    50220: "iso-2022-jp", 50221: "iso-2022-jp", 50222: "iso-2022-jp", 51932: "euc-jp",
    51949: "euc-kr", 52936: "hz", 54936: "gb18030", 65000: "utf-7", 65001: "utf-8",
    **{28590 + n: f"iso-8859-{n}" for n in range(1, 16)},
}  # fmt: skip
_FIRST_SET = 44
_MAX_PROPERTIES = 100
_TITLE_BYTES = 1000
# olefile raises these for damaged files, beside its own errors, which are OSErrors.
_DAMAGE = (OSError, struct.error, IndexError, ValueError, TypeError, AttributeError, RecursionError)


def encoding_of(code_page: int) -> str:
    """The name of the codec for a code page of Windows, "" for none."""
    return _ENCODINGS.get(code_page, f"cp{code_page}") if code_page else ""


class Container:
    """An opened container. Raises Unreadable when it can't be opened."""

    def __init__(self, source: SourceFile) -> None:
        try:
            self._file = _open(source.data)
        except _DAMAGE as exc:
            hint = "It is cut short or altered."
            raise Unreadable("damaged", "The file is damaged", hint) from exc

    def stream(self, *path: str) -> bytes | None:
        """The bytes of a stream, None if missing or unreadable. Names ignore letter case."""
        try:
            with self._file.openstream(list(path)) as stream:
                return stream.read()
        except _DAMAGE:
            return None

    def title(self) -> str:
        """The title in the properties of the document, "" without one."""
        # Read here: olefile goes through a list as long as the file says it is.
        stream = self.stream("\x05SummaryInformation") or b""
        try:
            code_page = _property(stream, _CODE_PAGE)
            number = int.from_bytes(code_page[:2], "little")
            encoding = encoding_of(number) or "cp1252"
            text = _property(stream, _TITLE)[4:][:_TITLE_BYTES].decode(encoding, "replace")
        except (struct.error, LookupError):
            return ""
        return one_line(text.partition("\0")[0])

    def names(self) -> list[tuple[str, ...]]:
        """The paths of all streams."""
        return [tuple(path) for path in self._file.listdir()]


def _property(stream: bytes, wanted: int) -> bytes:
    """The value of the property with this number, without its type; b"" if there is none."""
    (start,) = struct.unpack_from("<I", stream, _FIRST_SET)
    _, count = struct.unpack_from("<II", stream, start)
    for index in range(min(count, _MAX_PROPERTIES)):
        number, offset = struct.unpack_from("<II", stream, start + 8 + 8 * index)
        if number == wanted:
            return stream[start + offset + 4 :][: _TITLE_BYTES + 4]
    return b""


def root_names(data: bytes) -> set[str]:
    """The names at the top of the container; empty if it is damaged."""
    try:
        return {path[0] for path in _open(data).listdir(streams=True, storages=True)}
    except _DAMAGE:
        return set()


def _open(data: bytes) -> "OleFileIO[Any]":
    from olefile import OleFileIO

    return OleFileIO(io.BytesIO(data))
