"""Rebuilds the bundled embedding model, resources/models/all-MiniLM-L6-v2, from published weights.

Usage, with the tools of the [model] extra installed (pip install -e '.[model]'):

    python packaging/build_model.py                       build aside and compare with the committed
    python packaging/build_model.py --write               build and replace the committed files
    python packaging/build_model.py --verify [--bench D]  ranking quality of int8 against fp32

Exit codes: 0 identical, written or within the bar; 1 different, below the bar or not possible here;
2 wrong use. The build takes about half a minute, the verification some minutes.
"""

import argparse
import difflib
import shutil
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

import model_graph
from model_graph import BuildError
from model_manifest import write_manifest
from verify_model import verify

ROOT = Path(__file__).resolve().parent.parent
NAME = "all-MiniLM-L6-v2"
FOLDER = ROOT / "resources" / "models" / NAME
BENCH = ROOT.parent / "shared" / "bench" / "retrieval"
# The tools that determine the bytes of the result: numpy rounds the weights, protobuf writes the
# file.
TOOLS = ("torch", "transformers", "safetensors", "onnx", "onnxruntime", "numpy", "protobuf")
LOADED_FILES = ("model.onnx", "tokenizer.json")

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


def installed_tools() -> dict[str, str]:
    """Versions of the tools that determine the bytes, without local parts such as `+cpu`.

    Raises BuildError when one is missing.
    """
    versions: dict[str, str] = {}
    for tool in TOOLS:
        try:
            versions[tool] = metadata.version(tool).partition("+")[0]
        except metadata.PackageNotFoundError as exc:
            msg = f"{tool} is not installed: pip install -e '.[model]'"
            raise BuildError(msg) from exc
    return versions


def warn_of_other_tools(tools: dict[str, str]) -> None:
    """Reports on stderr which installed tools differ from those that built the committed files."""
    manifest = FOLDER / "model.toml"
    if not manifest.is_file():
        return
    recorded = tomllib.loads(manifest.read_text(encoding="utf-8")).get("build", {})
    for tool, version in tools.items():
        if recorded.get(tool) != version:
            say(f"{tool} is {version}, the committed model was built with {recorded.get(tool)}")


def say(text: str) -> None:
    """Progress and warnings go to stderr, results to stdout."""
    print(text, file=sys.stderr, flush=True)


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
    files = (
        f'"{name}" = {{ sha256 = "{model_graph.sha256_of(folder / name)}", '
        f"size_bytes = {(folder / name).stat().st_size} }}"
        for name in LOADED_FILES
    )
    return MANIFEST.format(
        name=NAME,
        dimensions=model_graph.DIMENSIONS,
        inputs=", ".join(f'"{name}"' for name in model_graph.INPUTS),
        output=model_graph.OUTPUT,
        package=model_graph.PACKAGE,
        version=metadata.version(model_graph.PACKAGE),
        weights_sha256=model_graph.SOURCE_SHA256["model.safetensors"],
        tools="\n".join(f'{tool} = "{version}"' for tool, version in tools.items()),
        files="\n".join(files),
    )


def differences(built: Path, committed: Path) -> list[str]:
    """One line per difference between two folders; none when they are identical byte for byte."""
    names = {path.name for folder in (built, committed) for path in folder.glob("*")}
    lines: list[str] = []
    for name in sorted(names):
        new, old = built / name, committed / name
        if not old.is_file():
            lines.append(f"{name}: not committed")
        elif not new.is_file():
            lines.append(f"{name}: committed, but the build makes no such file")
        elif new.read_bytes() != old.read_bytes():
            lines.extend(f"{name}: {detail}" for detail in _details(new, old))
    return lines


def _details(new: Path, old: Path) -> list[str]:
    """The differences inside one file, built against committed."""
    if new.suffix == ".toml":
        before, after = (path.read_text(encoding="utf-8").splitlines() for path in (old, new))
        changes = difflib.unified_diff(before, after, n=0, lineterm="")
        return [line for line in changes if not line.startswith(("---", "+++", "@@"))]
    first, second = new.read_bytes(), old.read_bytes()
    pairs = enumerate(zip(first, second, strict=False))
    shortest = min(len(first), len(second))
    offset = next((at for at, (one, other) in pairs if one != other), shortest)
    detail = f"built {len(first)} bytes, committed {len(second)}, first difference at byte {offset}"
    return [detail, *(_graph_details(new, old) if new.suffix == ".onnx" else [])]


def _graph_details(new: Path, old: Path) -> list[str]:
    """The nodes and weights that differ between two ONNX files."""
    import onnx
    from google.protobuf.message import DecodeError

    try:
        graphs = [onnx.load(path).graph for path in (new, old)]
    except DecodeError:
        return ["the committed file is not a readable ONNX model"]
    details: list[str] = []
    for kind, field in (("node", "node"), ("weight", "initializer")):
        built, committed = (
            {item.name: item.SerializeToString() for item in getattr(graph, field)}
            for graph in graphs
        )
        names = [name for name in built | committed if built.get(name) != committed.get(name)]
        if names:
            some = ", ".join(names[:5])
            details.append(f"{kind}s that differ: {len(names)} of {len(built)}: {some}")
    return details


def compare(built: Path) -> int:
    """Prints the result of the comparison with the committed folder; the exit code."""
    lines = differences(built, FOLDER)
    print("\n".join(lines) if lines else f"identical: {FOLDER.relative_to(ROOT)}")
    return 1 if lines else 0


def replace_committed(built: Path) -> int:
    """Makes the committed folder equal to the built one; the exit code."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for path in sorted(built.iterdir()):
        shutil.copyfile(path, FOLDER / path.name)
        print(f"{FOLDER.relative_to(ROOT) / path.name}  {path.stat().st_size} bytes")
    write_manifest()
    return 0


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
        tools = installed_tools()
        warn_of_other_tools(tools)
        if arguments.verify:
            return run_verification(arguments.bench)
        with tempfile.TemporaryDirectory() as scratch:
            target = Path(scratch) / NAME
            target.mkdir()
            build(target, Path(scratch) / "fp32.onnx", tools)
            return replace_committed(target) if arguments.write else compare(target)
    except BuildError as exc:
        say(f"error: {exc}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
