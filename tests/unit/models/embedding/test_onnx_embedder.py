import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.models.embedding import joined_embedding
from desktop_rag.models.embedding.joined_embedding import (
    BUNDLED,
    BUNDLED_MULTILINGUAL,
    NAMES,
    EmbedderOpener,
    OnnxEmbedder,
    bundled_folders,
)

FOLDER = bundled_folders()[BUNDLED]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(FOLDER)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "model"))


def test_vectors_are_of_unit_length_and_mean_something(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_passages(
        ["A cat sits on the mat.", "A kitten rests on a rug.", "Interest rates rose in May."]
    )
    assert vectors.shape == (3, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    similar = vectors @ vectors.T
    assert similar[0, 1] > 0.5 > similar[0, 2]


def test_a_question_is_embedded_as_a_passage_is_by_this_model(embedder: OnnxEmbedder) -> None:
    text = "When is the lamp lit?"
    assert embedder.embed_query(text) @ embedder.embed_passages([text])[0] > 0.999


def test_neighbours_in_a_batch_hardly_change_a_vector(embedder: OnnxEmbedder) -> None:
    texts = ["short", "a much longer sentence about the lighthouse and its keeper " * 4]
    together = embedder.embed_passages(texts)
    for text, vector in zip(texts, together, strict=True):
        # Dynamic quantisation scales by the batch, so they are close, not equal.
        assert embedder.embed_passages([text])[0] @ vector > 0.98


@pytest.mark.slow
def test_no_text_no_vectors_and_long_text_is_cut(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)
    assert embedder.embed_passages(["word " * 5000]).shape == (1, 384)
    assert embedder.embed_passages([""]).shape == (1, 384)


def test_tokens_are_counted_without_special_ones_and_without_limit(embedder: OnnxEmbedder) -> None:
    assert embedder.count_tokens(["", "lamp", "lamp " * 1000]) == [0, 1, 1000]


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def truncate(folder: Path) -> None:
    path = folder / "model.onnx"
    path.write_bytes(path.read_bytes()[:1000])


def alter(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_bytes(path.read_bytes().replace(b"lamp", b"lump"))


def leave_the_folder(folder: Path) -> None:
    path = folder / "model.toml"
    path.write_text(path.read_text().replace('"tokenizer.json"', '"../tokenizer.json"'))


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (remove("model.onnx"), "model.onnx is missing"),
        (remove("tokenizer.json"), "tokenizer.json is missing"),
        (remove("model.toml"), "model.toml is missing or incomplete"),
        (lambda folder: (folder / "model.toml").write_text("name ="), "missing or incomplete"),
        (lambda folder: (folder / "model.toml").write_text('name = "x"'), "missing or incomplete"),
        (truncate, "bytes instead of"),
        (alter, "tokenizer.json was altered"),
        (leave_the_folder, "tokenizer.json"),
    ],
)
def test_a_damaged_folder_is_a_clear_error(
    copy: Path, damage: Callable[[Path], object], what: str
) -> None:
    damage(copy)
    with pytest.raises(AppError, match="cannot be used") as caught:
        OnnxEmbedder(copy)
    assert what in caught.value.hint
    assert "Words are still searched" in caught.value.hint


def test_a_released_model_comes_back_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions: list[object] = []
    load = joined_embedding.ort.InferenceSession

    def counted(*settings: Any, **more: Any) -> object:
        sessions.append(load(*settings, **more))
        return sessions[-1]

    monkeypatch.setattr(joined_embedding.ort, "InferenceSession", counted)
    tokenizers: list[Path] = []
    read = joined_embedding.Tokenizer.from_file

    def counted_tokenizer(file: str) -> object:
        tokenizers.append(Path(file))
        return read(file)

    monkeypatch.setattr(joined_embedding, "Tokenizer", SimpleNamespace(from_file=counted_tokenizer))
    embedder = OnnxEmbedder(FOLDER, threads=1)
    before = embedder.embed_query("the lamp")
    embedder.release()
    assert embedder.count_tokens(["the lamp"]) == [2]
    assert (len(sessions), len(tokenizers)) == (1, 2)
    np.testing.assert_array_equal(embedder.embed_query("the lamp"), before)
    assert len(sessions) == 2
    embedder.release()
    embedder.prepare()
    embedder.prepare()
    assert (len(sessions), len(tokenizers)) == (3, 3)
    embedder.set_threads(2)
    assert embedder.count_tokens(["the lamp"]) == [2]
    assert len(tokenizers) == 3


@pytest.mark.slow
def test_the_model_for_many_languages_waits_for_the_first_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reading its tokenizer stops all threads for a third of a second."""
    read_files: list[str] = []
    read = joined_embedding.Tokenizer.from_file

    def counted(file: str) -> object:
        read_files.append(Path(file).parent.name)
        return read(file)

    monkeypatch.setattr(joined_embedding, "Tokenizer", SimpleNamespace(from_file=counted))
    # Not those that the tests share.
    monkeypatch.setattr(joined_embedding, "OnnxEmbedder", OnnxEmbedder)
    opener = EmbedderOpener(bundled_folders(), str)
    english, multilingual = (opener.open(spec, 1) for spec in (BUNDLED, BUNDLED_MULTILINGUAL))
    opener.prepare()
    assert read_files == [NAMES[BUNDLED]]
    assert multilingual.dimensions > 0
    vector = multilingual.embed_query("die Lampe")
    assert len(vector) == multilingual.dimensions
    assert read_files == [NAMES[BUNDLED], NAMES[BUNDLED_MULTILINGUAL]]
    opener.release()
    opener.prepare()
    assert len(read_files) == 4
    assert english.embed_query("the lamp").any()
    assert len(read_files) == 4
