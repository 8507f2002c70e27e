"""A language model of a few kilobytes with random weights, in the file format of llama.cpp.

Its output is meaningless, but a real server loads it, generates and embeds with it. Format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import math
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

WORDS = ("the", "lamp", "is", "lit", "at", "dusk", "by", "its", "keeper", "who", "cleans", "it")
CONTEXT = 8192
DIMENSIONS = 32
_HIDDEN, _HEADS, _LAYERS = 64, 4, 2
_ALIGNMENT = 32
_END = 2  # the token that ends an answer
_U32, _F32, _STRING, _ARRAY, _I32 = 4, 6, 8, 9, 5
_UNKNOWN, _CONTROL, _NORMAL, _BYTE = 2, 3, 1, 6
_TEMPLATE = "{% for m in messages %}{{ m['content'] }} {% endfor %}"


def write_model(path: Path, *, ends: bool = True) -> None:
    """Write the model. It generates WORDS in order up to the last; with `ends` False it never
    stops.
    """
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256))]
    kinds = [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256, *[_NORMAL] * len(WORDS)]
    tokens += [f"\u2581{word}" for word in WORDS]
    tensors = _weights(len(tokens), ends=ends)
    fields: dict[str, object] = {
        "general.architecture": "llama",
        "general.name": "tiny",
        "llama.context_length": CONTEXT,
        "llama.embedding_length": DIMENSIONS,
        "llama.block_count": _LAYERS,
        "llama.feed_forward_length": _HIDDEN,
        "llama.attention.head_count": _HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": DIMENSIONS // _HEADS,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [float(-n) for n in range(len(tokens))],
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": _END,
        "tokenizer.chat_template": _TEMPLATE,
    }
    path.write_bytes(_file(fields, tensors))


def _weights(vocabulary: int, *, ends: bool) -> dict[str, Array]:
    """Random except the first dimension, which nothing changes, so that it acts as a bias."""
    random = np.random.default_rng(7)

    def some(rows: int, columns: int) -> Array:
        return (random.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32)

    def faint(matrix: Array) -> Array:
        """A layer's contribution: small, so that each token keeps its identity, and no bias."""
        matrix[0] = 0
        return matrix * np.float32(0.3)

    size = DIMENSIONS
    words = some(vocabulary, size) * math.sqrt(size)
    words[:, 0] = 10
    output = np.zeros((vocabulary, size), np.float32)
    output[-len(WORDS) :] = some(len(WORDS), size)
    output[-len(WORDS) :, 0] = 2
    # The end token follows the last word, so that it never comes first.
    output[_END] = words[-1] * 0.8
    output[_END, 0] = 1 if ends else -20
    ones = np.ones(size, np.float32)
    tensors = {"token_embd.weight": words, "output_norm.weight": ones, "output.weight": output}
    for n in range(_LAYERS):
        layer = {
            "attn_q": some(size, size),
            "attn_k": some(size, size),
            "attn_v": some(size, size),
            "attn_output": faint(some(size, size)),
            "ffn_gate": some(_HIDDEN, size),
            "ffn_up": some(_HIDDEN, size),
            "ffn_down": faint(some(size, _HIDDEN)),
            "attn_norm": ones,
            "ffn_norm": ones,
        }
        tensors |= {f"blk.{n}.{name}.weight": weights for name, weights in layer.items()}
    return tensors


def _file(fields: dict[str, object], tensors: dict[str, Array]) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields))
    head += b"".join(_string(name) + _typed(value) for name, value in fields.items())
    data = b""
    for name, tensor in tensors.items():
        # Dimensions are in reverse order; type 0 is float32.
        shape = tensor.shape[::-1]
        head += _string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += _padded(tensor.tobytes())
    return _padded(head) + data


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % _ALIGNMENT)


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _typed(value: object) -> bytes:
    match value:
        case str():
            return struct.pack("<I", _STRING) + _string(value)
        case int():
            return struct.pack("<II", _U32, value)
        case float():
            return struct.pack("<If", _F32, value)
        case [str(), *_]:
            return _list(_STRING, [_string(item) for item in value])
        case [float(), *_]:
            return _list(_F32, [struct.pack("<f", item) for item in value])
        case [int(), *_]:
            return _list(_I32, [struct.pack("<i", item) for item in value])
        case _:
            raise TypeError(type(value).__name__)


def _list(kind: int, items: list[bytes]) -> bytes:
    return struct.pack("<IIQ", _ARRAY, kind, len(items)) + b"".join(items)
