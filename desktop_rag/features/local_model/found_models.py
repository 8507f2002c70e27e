"""Finds model files of other programs on this computer, used in place. Worker threads; reads only.

Folders of others may hold anything: a search goes a few folders deep and ends after many files.
"""

import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import object_in
from desktop_rag.core.records import readable_rows
from desktop_rag.features.local_model.gguf_header import ModelHeader, is_later_part, read_header

log = logging.getLogger(__name__)

_DEEPEST = 6
_MOST_FILES = 20_000
_MOST_MODELS = 200
_LONGEST_MANIFEST_BYTES = 1 << 20
_MODEL_LAYER = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
OLLAMA = "Ollama"


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model file of another program, by the name that it has there."""

    name: str
    path: Path
    program: str
    header: ModelHeader


def found_models(
    home: Path | None = None, environment: Mapping[str, str] = os.environ
) -> list[FoundModel]:
    """The whole models that write text, each file once, in the order of the programs."""
    found: dict[Path, FoundModel] = {}
    for name, path, program in _files(home or Path.home(), environment):
        if len(found) == _MOST_MODELS:
            break
        try:
            real = Path(os.path.realpath(path))  # unlike `resolve`, it bears circles
            header = read_header(real)
        except (AppError, OSError) as error:
            log.info("a file of %s is passed over: %s", program, type(error).__name__)
            continue
        if header.writes_text:
            found.setdefault(real, FoundModel(name, real, program, header))
    return list(found.values())


def _files(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Path, str]]:
    """The name, file and program of all that may be a model."""
    for program, folders in _folders(home, environment).items():
        for folder in folders:
            if program == OLLAMA:
                yield from _of_ollama(folder)
                continue
            for path in _below(folder):
                if path.suffix.casefold() == ".gguf" and not is_later_part(path):
                    yield path.stem, path, program


def _folders(home: Path, environment: Mapping[str, str]) -> dict[str, list[Path]]:
    data, cache, config = _system_folders(home, environment)

    def named(variable: str, *below: str) -> list[Path]:
        value = environment.get(variable)
        return [Path(value, *below)] if value else []

    return {
        "LM Studio": [home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"],
        OLLAMA: named("OLLAMA_MODELS")
        or [home / ".ollama" / "models", Path("/usr/share/ollama/.ollama/models")],
        "Jan": [
            data / "Jan" / "data" / "llamacpp" / "models", data / "Jan" / "data" / "models",
            config / "Jan" / "data" / "llamacpp" / "models", home / "jan" / "models",
        ],
        "GPT4All": [data / "nomic.ai" / "GPT4All"],
        "llama.cpp": named("LLAMA_CACHE") or [cache / "llama.cpp"],
        "Hugging Face": named("HF_HUB_CACHE")
        or named("HF_HOME", "hub")
        or [home / ".cache" / "huggingface" / "hub"],
    }  # fmt: skip


def _system_folders(home: Path, environment: Mapping[str, str]) -> tuple[Path, Path, Path]:
    """The folders for data, caches and settings of programs."""
    if sys.platform == "darwin":
        support = home / "Library" / "Application Support"
        return support, home / "Library" / "Caches", support
    if sys.platform == "win32":
        roaming = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
        local = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
        return local, local, roaming
    return (
        Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share"),
        Path(environment.get("XDG_CACHE_HOME") or home / ".cache"),
        Path(environment.get("XDG_CONFIG_HOME") or home / ".config"),
    )


def _of_ollama(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """The models in Ollama's manifests: registry, owner, model and tag are folders and a file."""
    manifests = folder / "manifests"
    for path in _below(manifests):
        parts = path.relative_to(manifests).parts
        if len(parts) < 2 or not (digest := _model_digest(path)):  # noqa: PLR2004
            continue
        owned = parts[-3:-1] if len(parts) > 3 and parts[-3] != "library" else parts[-2:-1]  # noqa: PLR2004
        yield f"{'/'.join(owned)}:{parts[-1]}", folder / "blobs" / f"sha256-{digest}", OLLAMA


def _model_digest(manifest: Path) -> str:
    try:
        with manifest.open("rb") as file:
            content = object_in(file.read(_LONGEST_MANIFEST_BYTES))
    except (OSError, ValueError):
        return ""
    rows = readable_rows(dict[str, object], content.get("layers"))
    layers = [row for row in rows if row.get("mediaType") == _MODEL_LAYER]
    named = _DIGEST.fullmatch(str(layers[0].get("digest"))) if layers else None
    return named[1] if named else ""


def _below(folder: Path) -> Iterator[Path]:
    """The files below a folder, sorted within each; none where it is missing or closed."""
    left, depth = _MOST_FILES, len(folder.parts)
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(folders) if len(Path(place).parts) - depth < _DEEPEST else []
        for name in sorted(files):
            if not (left := left - 1):
                return
            yield Path(place, name)
