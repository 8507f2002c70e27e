"""Rebuilds the bundled multilingual model, use-multilingual-3, from published weights.

Usage, with the tools of the [model] extra installed (pip install -e '.[model]'):

    python packaging/build_multilingual_model.py            build aside, compare with the committed
    python packaging/build_multilingual_model.py --write    build and replace the committed files

Exit codes: 0 identical or written; 1 different or not possible here; 2 wrong use. It takes seconds.
"""

import argparse
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import multilingual_graph
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

NAME = "use-multilingual-3"
FOLDER = MODELS / NAME
TOOLS = ("onnx", "onnxruntime", "sentencepiece", "tokenizers", "numpy", "protobuf")

MANIFEST = """\
# For many languages. Written by packaging/build_multilingual_model.py; don't edit.
name = "{name}"
dimensions = {dimensions}
# Special tokens included. The model has no limit; a longer text becomes the mean of its parts.
max_tokens = 256
# The sum over the tokens, further layers and the division by the length are inside model.onnx.
pooling = "mean"
normalised = true
query_prefix = ""
passage_prefix = ""

[graph]
inputs = [{inputs}]
output = "{output}"

[source]
model = "google/universal-sentence-encoder-multilingual, version 3"
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


def build(target: Path, tools: dict[str, str]) -> None:
    """Fills the empty folder `target` with the four files."""
    source = multilingual_graph.find_source()
    say("drawing the graph …")
    multilingual_graph.write_graph(multilingual_graph.read_weights(source), target / "model.onnx")
    multilingual_graph.write_tokenizer(source, target / "tokenizer.json")
    shutil.copyfile(ROOT / "LICENSE", target / "LICENSE")  # the model's licence is the project's
    manifest = MANIFEST.format(
        name=NAME,
        dimensions=multilingual_graph.DIMENSIONS,
        inputs=", ".join(f'"{name}"' for name in multilingual_graph.INPUTS),
        output=multilingual_graph.OUTPUT,
        package=multilingual_graph.PACKAGE,
        version=metadata.version(multilingual_graph.PACKAGE),
        weights_sha256=multilingual_graph.SOURCE_SHA256["weights.npz"],
        tools=tool_rows(tools),
        files=file_rows(target),
    )
    (target / "model.toml").write_bytes(manifest.encode("utf-8"))


def main() -> int:
    """Builds and compares or writes; the exit code."""
    parser = argparse.ArgumentParser(description="Rebuild the bundled multilingual model.")
    parser.add_argument("--write", action="store_true", help="replace the committed files")
    arguments = parser.parse_args()
    try:
        tools = installed_tools(TOOLS)
        warn_of_other_tools(tools, FOLDER)
        with tempfile.TemporaryDirectory() as scratch:
            target = Path(scratch) / NAME
            target.mkdir()
            build(target, tools)
            return (replace_committed if arguments.write else compare)(target, FOLDER)
    except BuildError as exc:
        say(f"error: {exc}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
