"""Tiny model folders in sentence-transformers' layout, made by code: a table of token vectors.

    folder = make_folder(tmp_path / "tiny", pooling="mean")
    OnnxEmbedder(folder).embed_query("lamp harbour")

Each word of WORDS has the vector that VECTORS says; a text is [CLS], its words, [SEP].
"""

import json
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "lamp", "harbour", "query:", "passage:")
_FLOAT, _INT64 = 1, 7
_EXTERNAL = 1


def vectors_of_words(seed: int = 0) -> NDArray[np.float32]:
    """One row per word of WORDS, 4 wide; the row of [PAD] would distort any pooling."""
    made = np.random.default_rng(seed).normal(size=(len(WORDS), 4)).astype(np.float32)
    made[0] = 1000.0
    return made


def make_folder(
    folder: Path,
    *,
    pooling: str = "mean",
    modules: Sequence[str] = ("Transformer", "Pooling", "Normalize"),
    weights: str = "onnx/model.onnx",
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    output: str = "last_hidden_state",
    has_external_data: bool = False,
    seed: int = 0,
) -> Path:
    """The folder with its ONNX file, tokenizer and descriptions.

    The `output` sentence_embedding is the mean of the tokens, any other the tokens themselves.
    """
    path = folder / weights
    path.parent.mkdir(parents=True)
    external = path.with_name(path.name + "_data") if has_external_data else None
    table = vectors_of_words(seed)
    path.write_bytes(_model(table, inputs, output, external))
    _tokenizer().save(str(folder / "tokenizer.json"))
    listed = [
        {"idx": n, "path": f"{n}_{kind}" if n else "", "type": f"some.package.{kind}"}
        for n, kind in enumerate(modules)
    ]
    write_json(folder / "modules.json", listed)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 6})
    keys = {"mean": "mean_tokens", "cls": "cls_token", "max": "max_tokens"}
    config = {f"pooling_mode_{key}": name == pooling for name, key in keys.items()}
    config |= {} if pooling in keys else {f"pooling_mode_{pooling}": True}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 4} | config)
    return folder


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.post_processor = TemplateProcessing(  # pyright: ignore[reportAttributeAccessIssue]
        single="[CLS] $A [SEP]", pair=None, special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer


# --- ONNX written by hand: protobuf fields by number ------------------------------------------


def _model(
    table: NDArray[np.float32], inputs: Sequence[str], output: str, external: Path | None
) -> bytes:
    is_pooled = output == "sentence_embedding"
    tokens = "tokens" if is_pooled else output
    nodes = [_node("Gather", ["table", "input_ids"], tokens)]
    if is_pooled:
        axes = _bytes(1, b"axes") + _int(20, 7) + _int(8, 1)
        keep = _bytes(1, b"keepdims") + _int(20, 2) + _int(3, 0)
        nodes.append(_node("ReduceMean", [tokens], output, (axes, keep)))
    values = [_bytes(11, _value(name, _INT64, 2)) for name in inputs]
    values.append(_bytes(12, _value(output, _FLOAT, 2 if is_pooled else 3)))
    graph = b"".join(_bytes(1, node) for node in nodes)
    graph += _bytes(2, b"tiny") + _bytes(5, _tensor(table, external)) + b"".join(values)
    return _int(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _int(2, 13))


def _node(kind: str, inputs: Iterable[str], output: str, attributes: Iterable[bytes] = ()) -> bytes:
    made = b"".join(_bytes(1, name.encode()) for name in inputs) + _bytes(2, output.encode())
    return made + _bytes(4, kind.encode()) + b"".join(_bytes(5, a) for a in attributes)


def _value(name: str, kind: int, rank: int) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, f"{name}_{n}".encode())) for n in range(rank))
    tensor = _int(1, kind) + _bytes(2, shape)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))


def _tensor(table: NDArray[np.float32], external: Path | None) -> bytes:
    made = b"".join(_int(1, size) for size in table.shape) + _int(2, _FLOAT) + _bytes(8, b"table")
    raw = table.astype("<f4").tobytes()
    if external is None:
        return made + _bytes(9, raw)
    external.write_bytes(raw)
    entry = _bytes(1, b"location") + _bytes(2, external.name.encode())
    return made + _bytes(13, entry) + _int(14, _EXTERNAL)


def _int(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    made = b""
    while value > 0x7F:
        made += struct.pack("B", value & 0x7F | 0x80)
        value >>= 7
    return made + struct.pack("B", value)
