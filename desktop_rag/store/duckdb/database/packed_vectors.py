"""Vectors as they are stored, in few bits, so that what a search compares stays in memory.

Passages take a byte a dimension, scaled so that the greatest part fills it, and a bit for the sign
apart. What is rounded away changes a similarity of the bundled model's vectors by .0005 on average
and by less than .003; the ten nearest stay the same ten but for one in two hundred. Windows, which
are many, take half a byte a dimension and are off by .005 on average. Any thread.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Of a column that holds them: they have no pattern to compress, and looking for one made each slow
# to read.
COLUMN = "BLOB USING COMPRESSION uncompressed"

_BITS_A_WORD = 64
_BYTE = 127
# Half a byte holds -7 to 7. Parts beyond so many times the mean square's root are cut down to it:
# near what is best for numbers that are normally distributed (Max, 1960, "Quantizing for Minimum
# Distortion").
_HALF_BYTE = 7
_REACH = 2.6
_TINY = 1e-6


def packed(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each vector in a byte a dimension, with a scale of its own."""
    peaks = np.abs(vectors).max(axis=1, keepdims=True, initial=_TINY)
    return [row.tobytes() for row in np.rint(vectors * (_BYTE / peaks)).astype(np.int8)]


def unpacked(rows: Sequence[bytes | bytearray], dimensions: int) -> NDArray[np.float32]:
    """The unit vectors of packed ones, one after the other; shape (vectors, dimensions)."""
    return _unit(np.frombuffer(b"".join(rows), np.int8).reshape(-1, dimensions))


def packed_windows(windows: NDArray[np.float32]) -> bytes:
    """All windows of a passage, half a byte a dimension, each a whole number of bytes."""
    reach = np.maximum(_REACH * np.sqrt(np.square(windows).mean(axis=1, keepdims=True)), _TINY)
    halves = np.clip(np.rint(windows * (_HALF_BYTE / reach)), -_HALF_BYTE, _HALF_BYTE)
    # From 1 to 15, which leaves 0 for what fills the last byte of an odd number.
    padded = np.zeros((len(windows), 2 * window_bytes(windows.shape[1])), np.uint8)
    padded[:, : windows.shape[1]] = halves + _HALF_BYTE + 1
    return (padded[:, ::2] << 4 | padded[:, 1::2]).tobytes()


def unpacked_windows(rows: Sequence[bytes | bytearray], dimensions: int) -> NDArray[np.float32]:
    """The unit vectors of packed windows, one after the other; shape (windows, dimensions)."""
    packed_rows = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, window_bytes(dimensions))
    halves = np.stack([packed_rows >> 4, packed_rows & 15], axis=2).reshape(len(packed_rows), -1)
    return _unit(halves[:, :dimensions].astype(np.int8) - (_HALF_BYTE + 1))


def window_bytes(dimensions: int) -> int:
    """How many bytes a packed window takes."""
    return -(-dimensions // 2)


def _unit(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    floats = vectors.astype(np.float32)
    return floats / np.maximum(np.linalg.norm(floats, axis=1, keepdims=True), _TINY)


def words_of(dimensions: int) -> int:
    """How many words of 64 bits the signs take."""
    return -(-dimensions // _BITS_A_WORD)


def sign_bits(vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """One bit a dimension, 64 to a word, the last word filled with zeros; shape (n, words)."""
    bits = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(vectors), words_of(vectors.shape[1]) * _BITS_A_WORD // 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.int64)


def signs(bits: NDArray[np.int64], dimensions: int) -> NDArray[np.float32]:
    """The signs that `sign_bits` made bits of: 1 or -1, shape (n, dimensions)."""
    ones = np.unpackbits(bits.view(np.uint8), axis=1, count=dimensions)
    return ones.astype(np.float32) * 2 - 1
