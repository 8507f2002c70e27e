"""R-17: the embedding model is gone, cut, or another than before. Words are found all the same."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import IndexSettings, Settings
from tests.indexed import index_texts
from tests.model_folders import make_folder

_TEXTS = {"a.md": "lamp lamp harbour", "b.md": "harbour harbour lamp"}
Build = Callable[[], Services]


@pytest.fixture
def model(home: Home, tmp_path: Path) -> Path:
    """A model of our own, set as that of the library."""
    folder = make_folder(tmp_path / "model")
    home.create()
    save_settings(home.settings, replace(Settings(), index=IndexSettings(model_folder=str(folder))))
    return folder


def answering(services: Services) -> set[str]:
    return {model.name for model in services.engine.models.answering().values()}


def assert_words_are_found(services: Services) -> None:
    found = services.chat.search("lamp harbour", mode="hybrid")
    assert {Path(passage.path).name for passage in found} == set(_TEXTS)
    assert services.chat.search("lamp", mode="lexical")


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        shutil.rmtree,
        lambda folder: os.truncate(folder / "onnx" / "model.onnx", 60),
        lambda folder: os.truncate(folder / "onnx" / "model.onnx", 0),
        lambda folder: (folder / "tokenizer.json").write_text("{"),
        lambda folder: (folder / "onnx" / "model.onnx").write_bytes(bytes(500)),
    ],
    ids=["gone", "cut", "empty", "tokenizer", "zeros"],
)
def test_r17_without_its_model_the_library_finds_words(
    build_services: Build,
    model: Path,
    tmp_path: Path,
    damage: Callable[[Path], object],
    caplog: pytest.LogCaptureFixture,
) -> None:
    index_texts(build_services(), tmp_path / "docs", _TEXTS).close()
    kept = tmp_path / "kept"
    shutil.copytree(model, kept)
    damage(model)
    services = build_services()
    assert [notice.title for notice in services.notices] == [
        f"The embedding model in {model} cannot be used."
    ]
    assert all("no embedder" in text for text in caplog.messages)
    caplog.clear()
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    assert_words_are_found(services)
    services.close()
    shutil.rmtree(model, ignore_errors=True)
    kept.rename(model)
    again = build_services()
    again.library.start(watch=False)
    assert again.library.indexing.wait_until_idle(30)
    # The vectors from before are those of this model.
    assert again.library.indexing.embedded_chunks == 0
    assert_words_are_found(again)


@pytest.mark.everyday
def test_r17_vectors_of_a_changed_model_are_made_anew_and_never_compared(
    build_services: Build, model: Path, tmp_path: Path
) -> None:
    first = index_texts(build_services(), tmp_path / "docs", _TEXTS)
    before = answering(first)
    first.close()
    shutil.rmtree(model)
    make_folder(model, seed=1)
    second = build_services()
    assert_words_are_found(second)
    second.library.start(watch=False)
    assert second.library.indexing.wait_until_idle(30)
    assert second.library.indexing.embedded_chunks == len(_TEXTS)
    assert len(answering(second)) == 1
    assert not before & answering(second)
    assert_words_are_found(second)
