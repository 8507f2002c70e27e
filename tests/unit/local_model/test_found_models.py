"""Model files of other programs, in homes as these programs leave them."""

import json
import sys
from pathlib import Path

import pytest

from desktop_rag.features.local_model.local_models import found_models
from tests.servers.tiny_llama import write_model

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the folders are those of Linux")


def placed(home: Path, *parts: str) -> Path:
    path = home.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_model(path)
    return path


def manifest(home: Path, digest: str, *parts: str, kind: str = "model") -> None:
    path = home.joinpath(".ollama", "models", "manifests", *parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    layers = [
        {"mediaType": "application/vnd.ollama.image.license", "digest": f"sha256:{'0' * 64}"},
        {"mediaType": f"application/vnd.ollama.image.{kind}", "digest": digest},
    ]
    path.write_text(json.dumps({"layers": layers}), "utf-8")


def names(home: Path, **environment: str) -> list[tuple[str, str]]:
    return [(found.program, found.name) for found in found_models(home, environment)]


def test_nothing_is_found_in_an_empty_home(tmp_path: Path) -> None:
    assert names(tmp_path) == []


def test_the_models_of_each_program_are_found(tmp_path: Path) -> None:
    placed(tmp_path, ".lmstudio", "models", "maker", "repo", "lamp.gguf")
    blob = placed(tmp_path, ".ollama", "models", "blobs", f"sha256-{'a' * 64}")
    manifest(tmp_path, f"sha256:{'a' * 64}", "registry.ollama.ai", "library", "lamp", "4b")
    placed(tmp_path, ".local", "share", "Jan", "data", "llamacpp", "models", "m", "model.gguf")
    placed(tmp_path, ".local", "share", "nomic.ai", "GPT4All", "keeper.Q4_0.gguf")
    placed(tmp_path, ".cache", "llama.cpp", "ggml-org_lamp.gguf")
    kept = placed(tmp_path, ".cache", "huggingface", "hub", "models--a--b", "blobs", "f" * 64)
    shown = kept.parents[1] / "snapshots" / "1" / "hub.gguf"
    shown.parent.mkdir(parents=True)
    shown.symlink_to(kept)
    assert names(tmp_path) == [
        ("LM Studio", "lamp"), ("Ollama", "lamp:4b"), ("Jan", "model"),
        ("GPT4All", "keeper.Q4_0"), ("llama.cpp", "ggml-org_lamp"), ("Hugging Face", "hub"),
    ]  # fmt: skip
    found = {each.name: each for each in found_models(tmp_path, {})}
    assert found["lamp:4b"].path == blob
    assert found["hub"].path == kept
    assert found["hub"].header.architecture == "llama"


def test_folders_that_were_moved_are_found(tmp_path: Path) -> None:
    placed(tmp_path, "hub", "models--a--b", "snapshots", "1", "moved.gguf")
    assert names(tmp_path, HF_HOME=str(tmp_path)) == [("Hugging Face", "moved")]
    placed(tmp_path, "cache", "cached.gguf")
    assert names(tmp_path, LLAMA_CACHE=str(tmp_path / "cache")) == [("llama.cpp", "cached")]


def test_models_of_other_owners_are_told_apart(tmp_path: Path) -> None:
    for letter, owner in (("a", "library"), ("b", "ann")):
        placed(tmp_path, ".ollama", "models", "blobs", f"sha256-{letter * 64}")
        manifest(tmp_path, f"sha256:{letter * 64}", "registry.ollama.ai", owner, "lamp", "latest")
    assert {name for _, name in names(tmp_path)} == {"lamp:latest", "ann/lamp:latest"}


def test_a_file_is_found_once_and_only_its_first_part(tmp_path: Path) -> None:
    folder = tmp_path / ".lmstudio" / "models"
    path = placed(folder, "a", "lamp.gguf")
    (folder / "b.gguf").symlink_to(path)
    placed(folder, "big-00001-of-00002.gguf")
    placed(folder, "big-00002-of-00002.gguf")
    assert [name for _, name in names(tmp_path)] == ["b", "big-00001-of-00002"]


def test_broken_files_and_manifests_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / ".lmstudio" / "models"
    whole = placed(folder, "whole.gguf").read_bytes()
    (folder / "cut.gguf").write_bytes(whole[:9_000])
    (folder / "paper.gguf").write_bytes(b"%PDF-1.7")
    (folder / "folder.gguf").mkdir()
    (folder / "gone.gguf").symlink_to(folder / "missing")
    (folder / "circle.gguf").symlink_to(folder / "circle.gguf")
    secret = placed(tmp_path, "secret")
    library = "registry.ollama.ai", "library", "lamp"
    manifest(tmp_path, f"sha256:../../../{secret.name}", *library, "outside")
    manifest(tmp_path, f"sha256:{'c' * 64}", *library, "missing")
    manifest(tmp_path, f"sha256:{'c' * 64}", *library, "adapter", kind="adapter")
    broken = tmp_path / ".ollama" / "models" / "manifests" / "x" / "y" / "z"
    broken.mkdir(parents=True)
    (broken / "list").write_text("[" * 100_000, "utf-8")
    (broken / "odd").write_text('{"layers": [1, {"mediaType": 2}]}', "utf-8")
    assert [name for _, name in names(tmp_path)] == ["whole"]
