"""The header of a model file: what it says, and files that are not what they claim to be."""

import random
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.local_model.gguf_header import is_later_part, read_header
from tests.servers.tiny_llama import CONTEXT, DIMENSIONS, write_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    write_model(path)
    return path


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def field(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def written(path: Path, *fields: bytes, tensors: bytes = b"", count: int = 0) -> Path:
    """A file with these fields beside its architecture, and this list of tensors."""
    said = [field("general.architecture", 8, text("llama")), *fields]
    head = b"GGUF" + struct.pack("<IQQ", 3, count, len(said))
    path.write_bytes(head + b"".join(said) + tensors + b"\0" * 64)
    return path


def test_a_model_says_what_it_is(model: Path) -> None:
    found = read_header(model)
    assert (found.name, found.architecture, found.context_tokens) == ("tiny", "llama", CONTEXT)
    assert (found.has_template, found.writes_text) == (True, True)
    assert found.size_bytes == model.stat().st_size
    assert 30_000 < found.parameters < 50_000
    assert found.kept_numbers == 2 * 2 * DIMENSIONS  # keys and values of two layers


def test_what_it_does_not_say_is_unknown(tmp_path: Path) -> None:
    found = read_header(written(tmp_path / "bare.gguf"))
    assert (found.name, found.licence, found.quantisation) == ("", "", "")
    assert (found.context_tokens, found.kept_numbers, found.has_template) == (0, 0, False)


def test_a_licence_and_heads_by_layer_are_read(tmp_path: Path) -> None:
    heads = struct.pack("<IQ", 4, 3) + struct.pack("<III", 8, 0, 2)
    found = read_header(
        written(
            tmp_path / "some.gguf",
            field("general.license", 8, text("apache-2.0\n\x1b[31m")),
            field("general.file_type", 4, struct.pack("<I", 15)),
            field("llama.attention.head_count_kv", 9, heads),
            field("llama.attention.key_length", 4, struct.pack("<I", 128)),
            field("llama.attention.value_length", 4, struct.pack("<I", 64)),
            field("tokenizer.ggml.scores", 9, struct.pack("<IQf", 6, 1, float("nan"))),
        )
    )
    assert (found.licence, found.quantisation) == ("apache-2.0[31m", "Q4_K_M")
    assert found.kept_numbers == 10 * (128 + 64)


def test_models_for_vectors_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "vectors.gguf"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
    path.write_bytes(head + field("general.architecture", 8, text("nomic-bert")) + b"\0" * 64)
    assert not read_header(path).writes_text


def test_parts_of_a_model_belong_together(model: Path) -> None:
    first, second = (model.with_name(f"big-0000{n}-of-00002.gguf") for n in (1, 2))
    model.rename(first)
    with pytest.raises(AppError, match="is not whole"):
        read_header(first)
    second.write_bytes(b"x" * 1000)
    assert read_header(first).size_bytes == first.stat().st_size + 1000
    assert (is_later_part(first), is_later_part(second)) == (False, True)


def endless_list(path: Path) -> None:
    written(path, field("tokens", 9, struct.pack("<IQ", 8, 1 << 60)))


def long_list(path: Path) -> None:
    written(path, field("scores", 9, struct.pack("<IQ", 6, 1 << 62)))


def long_text(path: Path) -> None:
    written(path, field("general.name", 8, struct.pack("<Q", 1 << 63)))


def list_in_list(path: Path) -> None:
    written(path, field("lists", 9, struct.pack("<IQ", 9, 4)))


def unknown_kind(path: Path) -> None:
    written(path, field("odd", 99, b"\0" * 8))


def many_fields(path: Path) -> None:
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 40))


def many_dimensions(path: Path) -> None:
    written(path, tensors=text("big") + struct.pack("<I", 1 << 30), count=1)


def huge_tensor(path: Path) -> None:
    about = text("big") + struct.pack("<IQQIQ", 2, 1 << 20, 200_000, 0, 0)
    written(path, tensors=about, count=1)


def no_architecture(path: Path) -> None:
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0) + b"\0" * 64)


NO_MODEL, NOT_WHOLE = "is no model that this app can run", "is not whole"


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (endless_list, NO_MODEL),
        (long_list, NOT_WHOLE),
        (long_text, NO_MODEL),
        (list_in_list, NO_MODEL),
        (unknown_kind, NO_MODEL),
        (many_fields, NO_MODEL),
        (many_dimensions, NO_MODEL),
        (huge_tensor, NOT_WHOLE),
        (no_architecture, NO_MODEL),
        (lambda path: path.write_bytes(b"%PDF-1.7\n" + b"a lamp " * 100), NO_MODEL),
        (lambda path: path.write_bytes(b""), NOT_WHOLE),
        (lambda path: path.write_bytes(b"GGUF" + struct.pack("<IQQ", 99, 0, 0)), NO_MODEL),
    ],
)
def test_a_misleading_file_is_refused(
    tmp_path: Path, write: Callable[[Path], None], said: str
) -> None:
    path = tmp_path / "odd.gguf"
    write(path)
    with pytest.raises(AppError, match=said) as caught:
        read_header(path)
    assert caught.value.hint


def test_a_file_cut_off_anywhere_is_refused(model: Path) -> None:
    whole = model.read_bytes()
    for length in random.Random(4).sample(range(len(whole) - 40), 100):
        model.write_bytes(whole[:length])
        with pytest.raises(AppError):
            read_header(model)


def test_a_file_with_changed_bytes_is_read_or_refused(model: Path) -> None:
    chance, whole = random.Random(8), model.read_bytes()
    for _ in range(200):
        changed = bytearray(whole)
        for _ in range(6):
            changed[chance.randrange(6_000)] = chance.randrange(256)
        model.write_bytes(changed)
        with suppress(AppError):
            read_header(model)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.gguf"):
        with pytest.raises(AppError, match="can't be read"):
            read_header(path)
