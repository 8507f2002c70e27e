"""Reads the header of a model file in llama.cpp's format GGUF. Any thread; reads at most 64 MB.

The file may be anything: cut off, of another format, or written to mislead. The format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import BinaryIO, cast

from desktop_rag.core.errors import AppError, os_error_as

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_BYTES = 64 << 20
_STEP_BYTES = 1 << 20
_MOST_FIELDS = 4_096
_MOST_TENSORS = 65_536
_MOST_DIMENSIONS = 4
_LONGEST_NAME = 4_096
# Longer lists, such as the vocabulary, are passed over; one number for each layer is kept.
_LONGEST_LIST = 1_024
_MOST_TEXTS = 1 << 21
_LONGEST_SHOWN = 100
_ALIGNMENT = 32
_STRING, _ARRAY = 8, 9
# struct's letters for the types of numbers.
_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_FRACTIONS = (6, 12)
# The numbers in a block of a tensor, and its bytes, by the tensor's type.
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110),
    22: (256, 82), 23: (256, 136), 29: (256, 56), 30: (1, 2), 39: (32, 17),
}  # fmt: skip
_QUANTISATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M",
    30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 38: "MXFP4",
}  # fmt: skip
# Models that write no text.
_SILENT = re.compile(r"clip|.*bert.*|t5encoder|wavtokenizer.*|.*embedding.*")
_PART = re.compile(r"-(\d{5})-of-(\d{5})$")
_NOT_LOADABLE = "It can't be loaded: choose another file, or fetch it again."

Value = int | float | bool | str | list[int]


@dataclass(frozen=True, slots=True)
class ModelHeader:
    """What a model file says about itself; 0 and "" where it doesn't.

    `size_bytes` is that of all its parts. A token in the cache takes `kept_numbers` numbers.
    `writes_text` is False for models that make vectors or see pictures only.
    """

    name: str
    architecture: str
    parameters: int
    quantisation: str
    context_tokens: int
    licence: str
    has_template: bool
    writes_text: bool
    kept_numbers: int
    size_bytes: int


def read_header(path: Path) -> ModelHeader:
    """The header of the file, kept in memory until the file changes.

    AppError when it can't be read, is no model, or is not whole.
    """
    try:
        with os_error_as(f"“{path.name}” can't be read."):
            about = path.stat()
            return _read_header(path, about.st_size, about.st_mtime_ns)
    except _NotWholeError as exc:
        hint = "It was not fetched or copied to its end. Fetch it again, or choose another file."
        raise AppError(f"“{path.name}” is not whole.", hint) from exc
    except (_OtherFormatError, struct.error, OverflowError) as exc:
        raise AppError(f"“{path.name}” is no model that this app can run.", _NOT_LOADABLE) from exc


class _NotWholeError(Exception):
    """The file ends too early."""


class _OtherFormatError(Exception):
    """The file says what no model would."""


@lru_cache(maxsize=256)
def _read_header(path: Path, size: int, _changed_at: int) -> ModelHeader:
    with path.open("rb") as file:
        reader = _Reader(file, size)
        if reader.take(len(_MAGIC)) != _MAGIC or reader.number(4) not in _VERSIONS:
            raise _OtherFormatError
        tensors, count = reader.number(10), reader.number(10)
        if count > _MOST_FIELDS or tensors > _MOST_TENSORS:
            raise _OtherFormatError
        fields: dict[str, Value] = {}
        for _ in range(int(count)):
            name = reader.text(_LONGEST_NAME)
            if (value := reader.value(int(reader.number(4)))) is not None:
                fields[name] = value
        parameters = _check_tensors(reader, int(tensors), fields, size)
    return _header(path, fields, parameters, size)


class _Reader:
    """The beginning of a file, read as far as it is needed."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._read = bytearray()
        self.at = 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        self.skip(count)
        return bytes(self._read[self.at - count : self.at])

    def skip(self, count: int) -> None:
        """Pass over the next bytes."""
        self.at += count
        if self.at > self._size:
            raise _NotWholeError
        if self.at > _MOST_BYTES:
            raise _OtherFormatError
        while len(self._read) < self.at:
            if not (more := self._file.read(max(_STEP_BYTES, self.at - len(self._read)))):
                raise _NotWholeError
            self._read += more

    def number(self, kind: int) -> int | float:
        """The next number of this type."""
        if not (letter := _NUMBERS.get(kind)):
            raise _OtherFormatError
        size = struct.calcsize(f"<{letter}")
        self.skip(size)
        return struct.unpack_from(f"<{letter}", self._read, self.at - size)[0]

    def text(self, longest: int) -> str:
        """The next text."""
        if (length := int(self.number(10))) > longest:
            raise _OtherFormatError
        return self.take(length).decode("utf-8", "replace")

    def value(self, kind: int) -> Value | None:
        """The next value; None for a list that is not kept."""
        if kind == _STRING:
            return self.text(_MOST_BYTES)
        return self._list() if kind == _ARRAY else self.number(kind)

    def _list(self) -> list[int] | None:
        kind, count = int(self.number(4)), int(self.number(10))
        if kind == _STRING and count <= _MOST_TEXTS:
            for _ in range(count):
                self.skip(int(self.number(10)))
            return None
        if kind not in _NUMBERS:
            raise _OtherFormatError
        if count > _LONGEST_LIST or kind in _FRACTIONS:
            self.skip(count * struct.calcsize(f"<{_NUMBERS[kind]}"))
            return None
        return [int(self.number(kind)) for _ in range(count)]


def _check_tensors(reader: _Reader, count: int, fields: Mapping[str, Value], size: int) -> int:
    """The number of parameters; checks that the file holds all the tensors that it lists."""
    parameters, end = 0, 0
    for _ in range(count):
        reader.text(_LONGEST_NAME)
        if (dimensions := int(reader.number(4))) > _MOST_DIMENSIONS:
            raise _OtherFormatError
        numbers = prod(int(reader.number(10)) for _ in range(dimensions))
        block, block_bytes = _BLOCKS.get(int(reader.number(4)), (1, 0))
        end = max(end, int(reader.number(10)) + numbers // block * block_bytes)
        parameters += numbers
    alignment = fields.get("general.alignment")
    step = alignment if isinstance(alignment, int) and alignment > 0 else _ALIGNMENT
    if -(-reader.at // step) * step + end > size:
        raise _NotWholeError
    return parameters


def _header(path: Path, fields: Mapping[str, Value], parameters: int, size: int) -> ModelHeader:
    architecture = _text(fields.get("general.architecture"))
    if not architecture:
        raise _OtherFormatError
    template = fields.get("tokenizer.chat_template")
    return ModelHeader(
        name=_text(fields.get("general.name")),
        architecture=architecture,
        parameters=parameters,
        quantisation=_QUANTISATIONS.get(_count(fields.get("general.file_type"), -1), ""),
        context_tokens=_count(fields.get(f"{architecture}.context_length")),
        licence=_text(fields.get("general.license")),
        has_template=isinstance(template, str) and bool(template),
        writes_text=not _SILENT.fullmatch(architecture),
        kept_numbers=_kept_numbers(architecture, fields),
        size_bytes=_whole_size(path, size),
    )


def _kept_numbers(architecture: str, fields: Mapping[str, Value]) -> int:
    """The numbers that the cache keeps for each token: keys and values of all layers."""

    def field(name: str) -> Value | None:
        return fields.get(f"{architecture}.{name}")

    layers, heads = _count(field("block_count")), field("attention.head_count")
    most_heads = max([0, *heads]) if isinstance(heads, list) else _count(heads)
    kept_heads = field("attention.head_count_kv")
    all_heads = (
        sum(kept_heads) if isinstance(kept_heads, list)
        else layers * _count(kept_heads, most_heads)
    )  # fmt: skip
    usual = _count(field("embedding_length")) // max(1, most_heads)
    lengths = (_count(field(f"attention.{each}_length"), usual) for each in ("key", "value"))
    return all_heads * sum(lengths)


def _whole_size(path: Path, size: int) -> int:
    """The size of the file with its further parts."""
    part = _PART.search(path.stem)
    if not part:
        return size
    stem = path.stem[: part.start()]
    names = (f"{stem}-{n:05d}-of-{part[2]}{path.suffix}" for n in range(2, int(part[2]) + 1))
    try:
        return size + sum(path.with_name(name).stat().st_size for name in names)
    except FileNotFoundError as exc:
        raise _NotWholeError from exc


def is_later_part(path: Path) -> bool:
    """True for a file that is only the continuation of another one."""
    part = _PART.search(path.stem)
    return part is not None and int(part[1]) > 1


def _text(value: Value | None) -> str:
    shown = value if isinstance(value, str) else ""
    return "".join(c for c in shown if c.isprintable())[:_LONGEST_SHOWN].strip()


def _count(value: Value | None, unknown: int = 0) -> int:
    number = cast("object", value)
    return number if type(number) is int and 0 <= number < 1 << 40 else unknown
