"""What the scripts that build the bundled models share: versions of tools, comparing, replacing."""

import difflib
import shutil
import sys
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from model_graph import BuildError, sha256_of
from model_manifest import write_manifest

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "resources" / "models"
LOADED_FILES = ("model.onnx", "tokenizer.json")


def installed_tools(needed: Sequence[str]) -> dict[str, str]:
    """Versions of the tools that determine the bytes, without local parts such as `+cpu`.

    Raises BuildError when one is missing.
    """
    versions: dict[str, str] = {}
    for tool in needed:
        try:
            versions[tool] = metadata.version(tool).partition("+")[0]
        except metadata.PackageNotFoundError as exc:
            msg = f"{tool} is not installed: pip install -e '.[model]'"
            raise BuildError(msg) from exc
    return versions


def warn_of_other_tools(tools: dict[str, str], folder: Path) -> None:
    """Reports on stderr which installed tools differ from those that built the committed files."""
    manifest = folder / "model.toml"
    if not manifest.is_file():
        return
    recorded = tomllib.loads(manifest.read_text(encoding="utf-8")).get("build", {})
    for tool, version in tools.items():
        if recorded.get(tool) != version:
            say(f"{tool} is {version}, the committed model was built with {recorded.get(tool)}")


def say(text: str) -> None:
    """Progress and warnings go to stderr, results to stdout."""
    print(text, file=sys.stderr, flush=True)


def file_rows(folder: Path) -> str:
    """The rows of model.toml that state the hash and the size of each file that is loaded."""
    return "\n".join(
        f'"{name}" = {{ sha256 = "{sha256_of(folder / name)}", '
        f"size_bytes = {(folder / name).stat().st_size} }}"
        for name in LOADED_FILES
    )


def tool_rows(tools: dict[str, str]) -> str:
    """The rows of model.toml that state the versions of the tools."""
    return "\n".join(f'{tool} = "{version}"' for tool, version in tools.items())


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


def compare(built: Path, folder: Path) -> int:
    """Prints the result of the comparison with the committed folder; the exit code."""
    lines = differences(built, folder)
    print("\n".join(lines) if lines else f"identical: {folder.relative_to(ROOT)}")
    return 1 if lines else 0


def replace_committed(built: Path, folder: Path) -> int:
    """Makes the committed folder equal to the built one; the exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for path in sorted(built.iterdir()):
        shutil.copyfile(path, folder / path.name)
        print(f"{folder.relative_to(ROOT) / path.name}  {path.stat().st_size} bytes")
    write_manifest()
    return 0
