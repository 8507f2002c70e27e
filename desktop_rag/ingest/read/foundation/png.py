"""Writes pictures as PNG: enough of it for a page on its way to the window, and no library.

Pure; runs in the parser process.
"""

import zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS_RGB = bytes([8, 2, 0, 0, 0])
# Pages are mostly white; more effort makes them hardly smaller.
_EFFORT = 2


def encode_png(rgb: bytes, width_px: int, height_px: int, stride_bytes: int) -> bytes:
    """Rows of red, green and blue bytes, from the top, each row `stride_bytes` after the last."""
    row_bytes = 3 * width_px
    # Each row begins with the number of its filter: none.
    rows = b"".join(
        b"\0" + rgb[start : start + row_bytes]
        for start in range(0, stride_bytes * height_px, stride_bytes)
    )
    header = width_px.to_bytes(4, "big") + height_px.to_bytes(4, "big") + _EIGHT_BITS_RGB
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, _EFFORT)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return len(content).to_bytes(4, "big") + kind + content + checksum.to_bytes(4, "big")
