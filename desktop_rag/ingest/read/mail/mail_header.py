"""The fields of a mail header, however they were encoded. Runs in the parser process."""

import binascii
from collections.abc import Sequence
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32

from desktop_rag.ingest.read.foundation.document_draft import one_line
from desktop_rag.ingest.read.foundation.encoding import NotTextError, decode, usual_name

_REPAIRED = {"from", "to", "cc", "subject", "content-type", "content-disposition"}
_MAX_FIELD_CHARS = 4000
_MAX_WESTERN_SHARE = 0.25
_WESTERN = "cp1252"
_SURROGATES = range(0xDC80, 0xDD00)


class BoundedHeaders(Compat32):
    """Cuts long fields, since parsing one takes time by the square of its length.

    It is the old policy, under which fields are parsed when they are asked for.
    """

    def header_source_parse(self, sourcelines: Sequence[str]) -> tuple[str, str]:
        """The name and the value of a field from its lines."""
        name, value = super().header_source_parse(list(sourcelines))
        return name, value[:_MAX_FIELD_CHARS]


def repair(message: Message) -> None:
    """Decode raw bytes of other encodings in the header, which the library does not."""
    damaged = [
        (name, value)
        for name, value in message.raw_items()
        if name.lower() in _REPAIRED and not value.isascii()
    ]
    seen: set[str] = set()
    for name, value in damaged:
        # Only the first of a name is ever looked at, and that is the one that is replaced.
        if name.lower() not in seen:
            seen.add(name.lower())
            message.replace_header(name, _repaired(value, message))


def field(message: Message, name: str) -> str:
    """A field decoded, "" if it is missing, as it stands if its encoding is unknown."""
    value = str(message.get(name, ""))
    if "=?" not in value:
        return value
    try:
        pieces = decode_header(value)
    except (HeaderParseError, binascii.Error, ValueError):
        return value
    return "".join(
        piece if isinstance(piece, str) else _decoded(piece, charset or "raw-unicode-escape")
        for piece, charset in pieces
    )


def file_name(written: str) -> str:
    """The name of an attached file without the path that it had on another computer."""
    return one_line(written).replace("\\", "/").rpartition("/")[2]


def _decoded(data: bytes, charset: str) -> str:
    try:
        return data.decode(usual_name(charset))
    except (LookupError, ValueError):
        return _readable(data, charset)


def _repaired(value: str, message: Message) -> str:
    strays = sum(ord(char) in _SURROGATES for char in value)
    if not strays:
        return value
    try:
        declared = message.get_content_charset()
    except (LookupError, ValueError, TypeError, AttributeError):
        declared = None
    # Of a few words only, no guess is as good as that they are Western.
    is_western = strays < _MAX_WESTERN_SHARE * len(value)
    charset = declared or (_WESTERN if is_western else "")
    return _readable(value.encode("utf-8", "surrogateescape"), charset)


def _readable(data: bytes, charset: str) -> str:
    try:
        return decode(data, usual_name(charset))[0]
    except NotTextError:
        return data.decode("utf-8", "replace")
