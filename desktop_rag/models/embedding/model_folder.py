"""Reads and checks a model folder in our own layout, or that of sentence-transformers.

Any worker thread; only hashing takes long.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, cast

from desktop_rag.core.errors import AppError

_HINT = "Words are still searched. Install the app again, or choose another model folder."
POOLINGS = ("mean", "cls", "lasttoken", "max")
# Full precision first; the others are quantised for speed.
_WEIGHTS = (
    "onnx/model.onnx",
    "model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
    "onnx/model_q*int8*.onnx",
    "model_quantized.onnx",
)
_POOLING_KEYS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_max_tokens": "max",
}
_QUERY_PROMPTS = ("query",)
_PASSAGE_PROMPTS = ("passage", "document", "corpus")
_USUAL_TOKENS = 512
# A tokenizer without a limit states a number like 10^30.
_MOST_TOKENS = 1_000_000
_DIGEST_CHARS = 12
# The bundled model's tokenizer, prefix, pooling, limit and case. Its name contains a hash of the
# weights alone and must stay so: with another name every library would be embedded again. For any
# other combination the hash covers all of this, so that no two share a name.
_TOKENIZER = "3ad857958ba886d154a5a852119fb31a0dd549d03d8a3fc20e33f2336272cc19"
_FIRST_USE: list[object] = [_TOKENIZER, "", "mean", 256, False]


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """The parameters of a model. `files` maps the files to check to (sha256, size in bytes).

    `further_module` is an unsupported module after pooling: only a graph that contains it can be
    used.
    """

    name: str
    max_tokens: int
    pooling: str
    dimensions: int = 0  # 0 when only a run of the model can tell
    query_prefix: str = ""
    passage_prefix: str = ""
    weights: str = "model.onnx"
    tokenizer: str = "tokenizer.json"
    is_lower_case: bool = False
    further_module: str = ""
    files: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])


def read_description(folder: Path) -> ModelDescription:
    """Read model.toml with its hashes, or a folder as sentence-transformers saves it.

    The name, max_tokens, pooling, weights and prefixes of a model.toml beside the latter take
    precedence. AppError when something is missing or can't be used.
    """
    try:
        is_there = folder.is_dir()
    except OSError:
        is_there = False  # too long to be a path
    if not is_there:
        raise broken(folder, "There is no such folder")
    table = _read_toml(folder / "model.toml")
    if "files" in table or not ("pooling" in table or (folder / "modules.json").is_file()):
        return _own_layout(folder, table)
    try:
        return _transformers_layout(folder, table)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise broken(folder, f"One of its description files cannot be read ({exc})") from exc


def check_files(folder: Path, description: ModelDescription) -> None:
    """AppError when a file is missing, truncated or altered."""
    for required in () if not description.files else ("model.onnx", "tokenizer.json"):
        if required not in description.files:
            raise broken(folder, f"model.toml does not list {required}")
    for required in (description.weights, description.tokenizer):
        if not (folder / required).is_file():
            raise broken(folder, f"{required} is missing")
    for name, (sha256, size_bytes) in description.files.items():
        path = folder / name
        if Path(name).name != name:
            raise broken(folder, f"{name} points outside the folder")
        if not path.is_file():
            raise broken(folder, f"{name} is missing")
        found_bytes = path.stat().st_size
        if found_bytes != size_bytes:
            raise broken(folder, f"{name} has {found_bytes:,} bytes instead of {size_bytes:,}")
        if _digest(path) != sha256:
            raise broken(folder, f"{name} was altered")


def identity(folder: Path, description: ModelDescription) -> str:
    """The model's name with the first digits of a hash of all that passage vectors depend on.

    Takes about a second per gigabyte of weights unless `files` lists them.
    """
    weights, *others = parts = _parts(folder, description)
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    if description.files and others == _FIRST_USE:
        digest = str(weights)
    return f"{description.name}@{digest[:_DIGEST_CHARS]}"


def broken(folder: Path, what: str) -> AppError:
    """The error for a folder that can't be used."""
    return AppError(f"The embedding model in {folder} cannot be used.", f"{what}. {_HINT}")


def _parts(folder: Path, description: ModelDescription) -> list[object]:
    """The hash of the weights, and everything else that affects the vector of a passage."""
    weights = folder / description.weights
    # Weights above 2 GB are in separate files beside the graph.
    beside = sorted(weights.parent.glob(f"{weights.name}[._]data*"))
    paths = [weights, *beside, folder / description.tokenizer]
    paths += [path for name in sorted(description.files) if (path := folder / name) not in paths]
    listed = {folder / name: sha256 for name, (sha256, _) in description.files.items()}
    try:
        digests = [listed.get(path) or _digest(path) for path in paths]
    except OSError as exc:
        raise broken(folder, f"Its files cannot be read ({exc.strerror})") from exc
    settings = [description.passage_prefix, description.pooling, description.max_tokens]
    return [*digests, *settings, description.is_lower_case]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- our own layout ------------------------------------------------------------------------------


def _read_toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise broken(path.parent, f"Its model.toml is missing or incomplete ({exc})") from exc


def _own_layout(folder: Path, table: Mapping[str, Any]) -> ModelDescription:
    try:
        files = {name: (f["sha256"], f["size_bytes"]) for name, f in table["files"].items()}
        return ModelDescription(
            name=str(table["name"]),
            dimensions=int(table["dimensions"]),
            max_tokens=int(table["max_tokens"]),
            pooling=_known_pooling(folder, str(table.get("pooling", "mean"))),
            query_prefix=str(table.get("query_prefix", "")),
            passage_prefix=str(table.get("passage_prefix", "")),
            files=files,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise broken(folder, f"Its model.toml is missing or incomplete ({exc})") from exc


# --- the layout of sentence-transformers ---------------------------------------------------------


def _transformers_layout(folder: Path, table: Mapping[str, Any]) -> ModelDescription:
    modules = _modules(folder)
    # Older versions keep the transformer in a subfolder.
    inner = next((path for kind, path in modules if kind == "Transformer"), "")
    further = [k for k, _ in modules if k not in ("Transformer", "Pooling", "Normalize")]
    prompts = _json(folder / "config_sentence_transformers.json")
    config = _json(folder / inner / "sentence_bert_config.json")
    return ModelDescription(
        name=str(table.get("name") or folder.resolve().name),
        max_tokens=int(table.get("max_tokens") or _max_tokens(folder / inner, config)),
        pooling=_pooling(folder, modules, table),
        query_prefix=str(table.get("query_prefix", _prompt(prompts, _QUERY_PROMPTS))),
        passage_prefix=str(table.get("passage_prefix", _prompt(prompts, _PASSAGE_PROMPTS))),
        weights=_weights(folder, inner, str(table.get("weights", ""))),
        tokenizer=f"{inner}/tokenizer.json" if inner else "tokenizer.json",
        is_lower_case=bool(config.get("do_lower_case", False)),
        further_module=", ".join(further),
    )


def _modules(folder: Path) -> list[tuple[str, str]]:
    """(kind, folder) of each module, in order; empty without a list."""
    path = folder / "modules.json"
    if not path.is_file():
        return []
    entries = cast("list[dict[str, Any]]", json.loads(path.read_text(encoding="utf-8")))
    # The kind is the last part of the class name; the packages were renamed several times.
    modules = [(str(e["type"]).rpartition(".")[2], str(e["path"])) for e in entries]
    for _, inner in modules:
        _refuse_outside(folder, inner)
    return modules


def _pooling(folder: Path, modules: list[tuple[str, str]], table: Mapping[str, Any]) -> str:
    if "pooling" in table:
        return _known_pooling(folder, str(table["pooling"]))
    inner = next((path for kind, path in modules if kind == "Pooling"), None)
    if inner is None:
        raise broken(folder, "Nothing says how its token vectors are pooled: add model.toml")
    config = _json(folder / inner / "config.json")
    named = config.get("pooling_mode")
    chosen = [named] if isinstance(named, str) else [k for k in config if config[k] is True]
    modes = [_POOLING_KEYS.get(k, k) for k in chosen if "pooling_mode" in k or k == named]
    if config.get("include_prompt") is False:
        raise broken(folder, "It excludes the prompt from pooling, which is not supported")
    return _known_pooling(folder, " and ".join(modes) or "none")


def _known_pooling(folder: Path, pooling: str) -> str:
    if pooling not in POOLINGS:
        known = ", ".join(POOLINGS)
        raise broken(folder, f"Its pooling “{pooling}” is not supported, only one of {known}")
    return pooling


def _max_tokens(folder: Path, config: Mapping[str, Any]) -> int:
    if config.get("max_seq_length"):
        return int(config["max_seq_length"])
    limits = (
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        _json(folder / "config.json").get("max_position_embeddings"),
    )
    known = [int(limit) for limit in limits if limit and int(limit) < _MOST_TOKENS]
    return min(known, default=_USUAL_TOKENS)


def _prompt(config: Mapping[str, Any], names: tuple[str, ...]) -> str:
    prompts = config.get("prompts") or {}
    for name in (*names, config.get("default_prompt_name")):
        if prompts.get(name):
            return str(prompts[name])
    return ""


def _weights(folder: Path, inner: str, named: str) -> str:
    if named:
        _refuse_outside(folder, named)
        return named
    for place in dict.fromkeys((inner, "")):
        for pattern in _WEIGHTS:
            if found := sorted((folder / place).glob(pattern)):
                return found[0].relative_to(folder).as_posix()
    raise broken(folder, "It contains no ONNX weights, such as onnx/model.onnx")


def _refuse_outside(folder: Path, inner: str) -> None:
    path = PurePosixPath(inner.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in inner:
        raise broken(folder, f"{inner} points outside the folder")


def _json(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty when there is no file."""
    if not path.is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
