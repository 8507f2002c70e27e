"""Quantises vectors for storage, so that what a search compares stays in memory. Any thread.

Passages take one byte per dimension, scaled so that the largest component fills it, and a sign bit
in a separate column. Rounding changes a similarity of the bundled model's vectors by .0005 on
average and by less than .003, and one in two hundred of the ten nearest. Windows, of which there
are many, take half a byte per dimension and are off by .005 on average.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# The SQL type of packed vectors: they do not compress, and compressed columns are slow to read.
COLUMN = "BLOB USING COMPRESSION uncompressed"

_BITS_PER_WORD = 64
_BYTE = 127
# Half a byte holds -7 to 7. Components are clipped at this many root mean squares, near the optimum
# for a normal distribution (Max, 1960, "Quantizing for Minimum Distortion").
_HALF_BYTE = 7
_CLIP = 2.6
_TINY = 1e-6


def packed(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each vector in one byte per dimension, scaled on its own."""
    peaks = np.abs(vectors).max(axis=1, keepdims=True, initial=_TINY)
    return [row.tobytes() for row in np.rint(vectors * (_BYTE / peaks)).astype(np.int8)]


def unpacked(rows: Sequence[bytes | bytearray], dimensions: int) -> NDArray[np.float32]:
    """The unit vectors of packed rows; shape (vectors, dimensions)."""
    return _unit(np.frombuffer(b"".join(rows), np.int8).reshape(-1, dimensions))


def packed_windows(windows: NDArray[np.float32]) -> bytes:
    """All windows of a passage, half a byte per dimension, each padded to whole bytes."""
    clip = np.maximum(_CLIP * np.sqrt(np.square(windows).mean(axis=1, keepdims=True)), _TINY)
    halves = np.clip(np.rint(windows * (_HALF_BYTE / clip)), -_HALF_BYTE, _HALF_BYTE)
    # Values from 1 to 15; 0 pads the last byte of an odd number of dimensions.
    padded = np.zeros((len(windows), 2 * window_bytes(windows.shape[1])), np.uint8)
    padded[:, : windows.shape[1]] = halves + _HALF_BYTE + 1
    return (padded[:, ::2] << 4 | padded[:, 1::2]).tobytes()


def unpacked_windows(rows: Sequence[bytes | bytearray], dimensions: int) -> NDArray[np.float32]:
    """The unit vectors of packed windows; shape (windows, dimensions)."""
    packed_rows = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, window_bytes(dimensions))
    width = 2 * window_bytes(dimensions)  # named, since there may be no rows
    halves = np.stack([packed_rows >> 4, packed_rows & 15], axis=2).reshape(-1, width)
    return _unit(halves[:, :dimensions].astype(np.int8) - (_HALF_BYTE + 1))


def best_windows(
    query: NDArray[np.float32], rows: Sequence[bytes | bytearray | None]
) -> NDArray[np.float64]:
    """The similarity of the best window in each row, NaN for rows without windows."""
    best = np.full(len(rows), np.nan)
    filled = [(n, windows) for n, windows in enumerate(rows) if windows]
    if filled:
        vectors = unpacked_windows([windows for _, windows in filled], len(query))
        similarities = np.vecdot(vectors, query)
        sizes = [len(windows) // window_bytes(len(query)) for _, windows in filled]
        begins = np.cumsum([0, *sizes[:-1]])
        best[[n for n, _ in filled]] = np.maximum.reduceat(similarities, begins)
    return best


def window_bytes(dimensions: int) -> int:
    """The size of a packed window in bytes."""
    return -(-dimensions // 2)


def _unit(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    floats = vectors.astype(np.float32)
    return floats / np.maximum(np.linalg.norm(floats, axis=1, keepdims=True), _TINY)


def words_of(dimensions: int) -> int:
    """The number of 64-bit words that the sign bits take."""
    return -(-dimensions // _BITS_PER_WORD)


def sign_bits(vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """One bit per dimension, 64 to a word, padded with zeros; shape (n, words)."""
    bits = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(vectors), words_of(vectors.shape[1]) * _BITS_PER_WORD // 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.int64)


def signs(bits: NDArray[np.int64], dimensions: int) -> NDArray[np.float32]:
    """The inverse of `sign_bits`: 1 or -1, shape (n, dimensions)."""
    ones = np.unpackbits(bits.view(np.uint8), axis=1, count=dimensions)
    return ones.astype(np.float32) * 2 - 1
