"""Rebuilds the bundled embedding model, resources/models/all-MiniLM-L6-v2, from published weights.

Usage, with the tools of the [model] extra installed (pip install -e '.[model]'):

    python packaging/build_model.py                       build aside and compare with the committed
    python packaging/build_model.py --write               build and replace the committed files
    python packaging/build_model.py --verify [--bench D]  ranking quality of int8 against fp32

Exit codes: 0 identical, written or within the bar; 1 different, below the bar or not possible here;
2 wrong use. The build takes about half a minute, the verification some minutes.
"""

import argparse
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import model_graph
from built_models import (
    MODELS,
    ROOT,
    compare,
    file_rows,
    installed_tools,
    replace_committed,
    say,
    tool_rows,
    warn_of_other_tools,
)
from model_graph import BuildError
from verify_model import verify

NAME = "all-MiniLM-L6-v2"
FOLDER = MODELS / NAME
BENCH = ROOT.parent / "shared" / "bench" / "retrieval"
# The tools that determine the bytes of the result: numpy rounds the weights, protobuf writes the
# file.
TOOLS = ("torch", "transformers", "safetensors", "onnx", "onnxruntime", "numpy", "protobuf")

MANIFEST = """\
# The embedding model that ships with the app. Written by packaging/build_model.py; don't edit.
name = "{name}"
dimensions = {dimensions}
# Special tokens included. Longer passages are cut by the caller.
max_tokens = 256
# Both happen inside model.onnx: its output is the mean over unmasked tokens, divided by its length.
pooling = "mean"
normalised = true
query_prefix = ""
passage_prefix = ""

# tokenizer.json carries no truncation and no padding: the caller truncates to max_tokens and pads
# on the RIGHT with token 0, mask 0. The fused attention counts the mask's ones, it doesn't look
# where they are: padding on the left gives wrong vectors.
[graph]
inputs = [{inputs}]
output = "{output}"

[source]
model = "sentence-transformers/all-MiniLM-L6-v2"
licence = "Apache-2.0"
package = "{package}"
version = "{version}"
weights_sha256 = "{weights_sha256}"

# Another version of a tool may give other bytes.
[build]
{tools}

[files]
{files}
"""


def build(target: Path, fp32: Path, tools: dict[str, str]) -> None:
    """Fills the empty folder `target` with the four files; the unfused model goes to `fp32`."""
    source = model_graph.find_source()
    say("exporting at full precision …")
    model_graph.export_fp32(source, fp32)
    say("fusing and quantising …")
    fused = fp32.with_name("fused.onnx")
    model_graph.fuse(fp32, fused)
    model_graph.quantise(fused, target / "model.onnx")
    model_graph.write_tokenizer(source, target / "tokenizer.json")
    shutil.copyfile(ROOT / "LICENSE", target / "LICENSE")  # the model's licence is the project's
    manifest = manifest_text(target, tools)
    (target / "model.toml").write_bytes(manifest.encode("utf-8"))


def manifest_text(folder: Path, tools: dict[str, str]) -> str:
    """The text of model.toml for the model in `folder`."""
    return MANIFEST.format(
        name=NAME,
        dimensions=model_graph.DIMENSIONS,
        inputs=", ".join(f'"{name}"' for name in model_graph.INPUTS),
        output=model_graph.OUTPUT,
        package=model_graph.PACKAGE,
        version=metadata.version(model_graph.PACKAGE),
        weights_sha256=model_graph.SOURCE_SHA256["model.safetensors"],
        tools=tool_rows(tools),
        files=file_rows(folder),
    )


def run_verification(bench: Path) -> int:
    """Compares the committed model with a freshly built fp32 model; the exit code."""
    if not (FOLDER / "model.onnx").is_file():
        msg = f"no model in {FOLDER}: build it first (--write)"
        raise BuildError(msg)
    with tempfile.TemporaryDirectory() as scratch:
        fp32 = Path(scratch) / "fp32.onnx"
        say("exporting at full precision …")
        model_graph.export_fp32(model_graph.find_source(), fp32)
        return 0 if verify(FOLDER, fp32, bench) else 1


def parse_arguments() -> argparse.Namespace:
    """The command line; wrong use ends with exit code 2."""
    parser = argparse.ArgumentParser(description="Rebuild the bundled embedding model.")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="replace the committed files")
    action.add_argument("--verify", action="store_true", help="print nDCG@10 of int8 and of fp32")
    parser.add_argument("--bench", type=Path, default=BENCH, help="folder of the retrieval sets")
    return parser.parse_args()


def main() -> int:
    """Runs one of the three jobs; the exit code."""
    arguments = parse_arguments()
    try:
        tools = installed_tools(TOOLS)
        warn_of_other_tools(tools, FOLDER)
        if arguments.verify:
            return run_verification(arguments.bench)
        with tempfile.TemporaryDirectory() as scratch:
            target = Path(scratch) / NAME
            target.mkdir()
            build(target, Path(scratch) / "fp32.onnx", tools)
            return (replace_committed if arguments.write else compare)(target, FOLDER)
    except BuildError as exc:
        say(f"error: {exc}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
