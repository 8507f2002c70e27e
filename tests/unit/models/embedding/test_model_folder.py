"""Folders as sentence-transformers saves them, with and without a model.toml beside."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.core.errors import AppError
from desktop_rag.models.embedding.joined_embedding import (
    BUNDLED,
    NAMES,
    OnnxEmbedder,
    bundled_folders,
)
from desktop_rag.models.embedding.model_folder import identity, read_description
from tests.model_folders import WORDS, make_folder, vectors_of_words, write_json

TABLE = vectors_of_words()


def rows(*words: str) -> NDArray[np.float32]:
    return TABLE[[WORDS.index(word) for word in words]]


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ("mean", lambda tokens: tokens.mean(axis=0)),
        ("cls", lambda tokens: tokens[0]),
        ("lasttoken", lambda tokens: tokens[-1]),
        ("max", lambda tokens: tokens.max(axis=0)),
    ],
)
def test_token_vectors_are_pooled_as_the_folder_says_without_padding(
    tmp_path: Path, pooling: str, pool: Callable[[NDArray[np.float32]], NDArray[np.float32]]
) -> None:
    embedder = OnnxEmbedder(make_folder(tmp_path / "tiny", pooling=pooling))
    short, long = embedder.embed_passages(["lamp", "lamp harbour lamp"])
    assert embedder.dimensions == 4
    np.testing.assert_allclose(short, unit(pool(rows("[CLS]", "lamp", "[SEP]"))), atol=1e-6)
    wanted = unit(pool(rows("[CLS]", "lamp", "harbour", "lamp", "[SEP]")))
    np.testing.assert_allclose(long, wanted, atol=1e-6)


def test_a_long_text_gets_the_mean_of_its_parts_each_between_special_tokens(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(make_folder(tmp_path / "tiny"))
    assert embedder.max_tokens == 6
    short, long = embedder.embed_passages(["lamp", "lamp lamp lamp lamp harbour"])
    first = unit(rows("[CLS]", "lamp", "lamp", "lamp", "lamp", "[SEP]").mean(axis=0))
    second = unit(rows("[CLS]", "harbour", "[SEP]").mean(axis=0))
    np.testing.assert_allclose(long, unit(6 * first + 3 * second), atol=1e-6)
    np.testing.assert_allclose(short, embedder.embed_query("lamp"), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("lamp " * 4 + "harbour"), first, atol=1e-6)


def test_a_text_without_end_is_cut(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(make_folder(tmp_path / "tiny"))
    [vector, same] = embedder.embed_passages(["lamp " * 32 + "harbour " * 500, "lamp " * 32])
    np.testing.assert_allclose(vector, same, atol=1e-6)


def test_what_the_graph_pools_itself_is_taken_first(tmp_path: Path) -> None:
    folder = make_folder(
        tmp_path / "tiny", modules=("Transformer", "Pooling", "Dense"), output="sentence_embedding"
    )
    vector = OnnxEmbedder(folder).embed_query("lamp")
    np.testing.assert_allclose(vector, unit(rows("[CLS]", "lamp", "[SEP]").mean(0)), atol=1e-6)


@pytest.mark.parametrize("weights", ["model.onnx", "onnx/model_qint8_avx512.onnx"])
def test_weights_are_found_where_exports_put_them(tmp_path: Path, weights: str) -> None:
    assert OnnxEmbedder(make_folder(tmp_path / "tiny", weights=weights)).dimensions == 4


def test_the_full_weights_go_before_rounded_ones_unless_another_file_is_named(
    tmp_path: Path,
) -> None:
    folder = make_folder(tmp_path / "tiny")
    (folder / "onnx" / "model_quantized.onnx").write_bytes(b"")
    assert read_description(folder).weights == "onnx/model.onnx"
    (folder / "model.toml").write_text('weights = "onnx/model_quantized.onnx"')
    assert read_description(folder).weights == "onnx/model_quantized.onnx"


def test_prefixes_and_name_come_from_model_toml_or_from_the_prompts(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "tiny")
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    write_json(folder / "config_sentence_transformers.json", prompts)
    told = read_description(folder)
    assert (told.name, told.query_prefix, told.passage_prefix) == ("tiny", "query: ", "passage: ")
    embedder = OnnxEmbedder(folder)
    wanted = unit(rows("[CLS]", "query:", "lamp", "[SEP]").mean(0))
    np.testing.assert_allclose(embedder.embed_query("lamp"), wanted, atol=1e-6)
    toml = 'name = "e5"\nmax_tokens = 5\nquery_prefix = "lamp "\npassage_prefix = ""'
    (folder / "model.toml").write_text(toml)
    told = read_description(folder)
    assert (told.name, told.query_prefix, told.passage_prefix) == ("e5", "lamp ", "")
    assert told.max_tokens == 5


def test_a_name_stands_for_all_that_vectors_depend_on(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "tiny")
    names = {OnnxEmbedder(folder).name, OnnxEmbedder(folder).name}
    assert len(names) == 1
    (folder / "model.toml").write_text('passage_prefix = "passage: "')
    names.add(OnnxEmbedder(folder).name)
    (folder / "model.toml").unlink()
    other = make_folder(tmp_path / "other" / "tiny", seed=1)
    names.add(OnnxEmbedder(other).name)
    pooled = make_folder(tmp_path / "third" / "tiny", pooling="cls")
    names.add(OnnxEmbedder(pooled).name)
    assert len(names) == 4
    assert all(name.startswith("tiny@") for name in names)


def describe(folder: Path, **changes: object) -> Path:
    """Our own layout of a folder with `changes`: model.toml with the hashes of its files."""
    fields = {"name": "tiny", "dimensions": 4, "max_tokens": 6, "pooling": "mean"} | changes
    lines = [f"{key} = {value!r}" for key, value in fields.items()]
    for name in ("model.onnx", "tokenizer.json"):
        content = (folder / name).read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        lines.append(f"files.{name!r} = {{ sha256 = {sha256!r}, size_bytes = {len(content)} }}")
    (folder / "model.toml").write_text("\n".join(lines), "utf-8")
    return folder


@pytest.mark.parametrize(
    "changes", [{"pooling": "cls"}, {"max_tokens": 5}, {"passage_prefix": "passage: "}], ids=str
)
def test_in_our_own_layout_too_a_name_stands_for_how_a_model_is_used(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    folder = make_folder(tmp_path / "tiny", weights="model.onnx")
    names = {OnnxEmbedder(describe(folder)).name, OnnxEmbedder(describe(folder)).name}
    assert len(names) == 1
    names.add(OnnxEmbedder(describe(folder, **changes)).name)
    assert len(names) == 2
    assert all(name.startswith("tiny@") for name in names)


def test_in_our_own_layout_too_a_name_stands_for_tokenizer_and_weights(tmp_path: Path) -> None:
    first = describe(make_folder(tmp_path / "a", weights="model.onnx"))
    other = make_folder(tmp_path / "b", weights="model.onnx", seed=1)
    names = {OnnxEmbedder(first).name, OnnxEmbedder(describe(other)).name}
    tokenizer = first / "tokenizer.json"
    swapped = tokenizer.read_text("utf-8").replace('"lamp":4', '"lamp":5')
    swapped = swapped.replace('"lamp": 4', '"lamp": 5')
    assert swapped != tokenizer.read_text("utf-8")
    tokenizer.write_text(swapped, "utf-8")
    names.add(OnnxEmbedder(describe(first)).name)
    assert len(names) == 3


def test_in_our_own_layout_too_a_name_stands_for_weights_beside_the_graph(tmp_path: Path) -> None:
    options = {"weights": "model.onnx", "has_external_data": True}
    folders = [
        make_folder(tmp_path / str(seed), seed=seed, **options)  # pyright: ignore[reportArgumentType]
        for seed in (0, 1)
    ]
    first, other = (OnnxEmbedder(describe(folder)).name for folder in folders)
    assert first != other


def test_the_bundled_model_keeps_its_first_name_but_not_when_it_is_used_otherwise(
    tmp_path: Path,
) -> None:
    folder = bundled_folders()[BUNDLED]
    description = read_description(folder)
    weights = description.files["model.onnx"][0]
    assert identity(folder, description) == f"{NAMES[BUNDLED]}@{weights[:12]}"
    copy = Path(shutil.copytree(folder, tmp_path / "model"))
    toml = (copy / "model.toml").read_text("utf-8")
    for change in (('"mean"', '"cls"'), ("max_tokens = 256", "max_tokens = 64")):
        (copy / "model.toml").write_text(toml.replace(*change), "utf-8")
        assert identity(copy, read_description(copy)) != identity(folder, description)


def test_weights_beside_the_graph_are_read_and_are_part_of_the_name(tmp_path: Path) -> None:
    first = OnnxEmbedder(make_folder(tmp_path / "a" / "tiny", has_external_data=True))
    other = OnnxEmbedder(make_folder(tmp_path / "b" / "tiny", has_external_data=True, seed=1))
    wanted = unit(rows("[CLS]", "lamp", "[SEP]").mean(0))
    np.testing.assert_allclose(first.embed_query("lamp"), wanted, atol=1e-6)
    assert first.name != other.name


def test_a_described_folder_needs_no_list_of_modules(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "tiny")
    (folder / "modules.json").unlink()
    (folder / "model.toml").write_text('pooling = "cls"\nmax_tokens = 6')
    vector = OnnxEmbedder(folder).embed_query("lamp")
    np.testing.assert_allclose(vector, unit(rows("[CLS]")[0]), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"modules": ("Transformer", "Pooling", "Dense")}, "module Dense is not in the ONNX file"),
        ({"pooling": "weightedmean_tokens"}, "weightedmean_tokens” is not supported"),
        ({"inputs": ("input_ids", "attention_mask", "position_ids")}, "It needs position_ids"),
        ({"weights": "torch/model.onnx"}, "no ONNX weights"),
    ],
)
def test_what_is_not_supported_is_refused_with_the_reason(
    tmp_path: Path, options: dict[str, object], what: str
) -> None:
    folder = make_folder(tmp_path / "tiny", **options)  # pyright: ignore[reportArgumentType]
    with pytest.raises(AppError, match="cannot be used") as caught:
        OnnxEmbedder(folder)
    assert what in caught.value.hint


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("modules.json", '[{"type": "x.Transformer", "path": "../elsewhere"}]'),
        ("modules.json", '{"type": 1}'),
        ("modules.json", "not json"),
        ("sentence_bert_config.json", '{"max_seq_length": "many"}'),
        ("onnx/model.onnx", "not a graph"),
        ("tokenizer.json", "{}"),
        ("model.toml", "pooling = 3"),
        ("model.toml", 'weights = "/etc/model.onnx"'),
        ("model.toml", 'weights = "absent.onnx"'),
    ],
)
def test_a_broken_folder_is_a_clear_error(tmp_path: Path, name: str, content: str) -> None:
    folder = make_folder(tmp_path / "tiny")
    (folder / name).write_text(content, "utf-8")
    with pytest.raises(AppError, match="cannot be used"):
        OnnxEmbedder(folder)
