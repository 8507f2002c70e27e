"""Rich text as Outlook packs it into messages, after [MS-OXRTFCP]. Pure.

Runs in the parser process.
"""

import struct

_HEADER = struct.Struct("<IIII")
_COMPRESSED, _PLAIN = 0x75465A4C, 0x414C454D
# The initial content of the window.
_FIRST = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_WINDOW = 4096
_LENGTH_BITS, _LENGTH_MASK, _MIN_LENGTH = 4, 0xF, 2
_RUNS = 8


class NotCompressedRtfError(ValueError):
    """The bytes are something else."""


def decompressed(data: bytes) -> bytes:
    """The rich text, as far as it goes. At most nine times as long as the data."""
    if len(data) < _HEADER.size:
        raise NotCompressedRtfError
    _, size_bytes, kind, _ = _HEADER.unpack_from(data)
    content = data[_HEADER.size :]
    if kind == _PLAIN:
        return content[:size_bytes]
    if kind != _COMPRESSED:
        raise NotCompressedRtfError
    return _inflated(content)[len(_FIRST) :][:size_bytes]


def _inflated(content: bytes) -> bytes:
    """The beginning of the window with all that follows it."""
    output = bytearray(_FIRST)
    position = 0
    while position < len(content):
        flags = content[position]
        position += 1
        for run in range(_RUNS):
            if not flags >> run & 1:
                output += content[position : position + 1]
                position += 1
                continue
            if position + 1 >= len(content):
                return bytes(output)
            reference = content[position] << 8 | content[position + 1]
            position += 2
            offset = reference >> _LENGTH_BITS
            distance = (len(output) - offset) % _WINDOW
            if not distance:
                # Where the window would be written next: the end.
                return bytes(output)
            start = len(output) - distance
            for index in range((reference & _LENGTH_MASK) + _MIN_LENGTH):
                # Before the beginning the window holds nothing.
                output.append(output[start + index] if start + index >= 0 else 0)
    return bytes(output)
