"""N-12: a model folder names weights outside of itself. They are not read."""

from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.models.embedding.joined_embedding import OnnxEmbedder
from tests.model_folders import make_folder

_BESIDE = b"model.onnx_data"


def elsewhere(folder: Path, location: bytes) -> Path:
    """A folder whose graph finds its weights at another place, of a name as long."""
    made = make_folder(folder, has_external_data=True)
    graph = made / "onnx" / "model.onnx"
    assert len(location) == len(_BESIDE)
    graph.write_bytes(graph.read_bytes().replace(_BESIDE, location))
    return made


def test_n12_weights_inside_the_folder_are_read(tmp_path: Path) -> None:
    make_folder(tmp_path / "model", has_external_data=True)
    assert OnnxEmbedder(tmp_path / "model").dimensions == 4


@pytest.mark.parametrize("location", [b"../../other.bin", b"./../../otherbn"])
def test_n12_weights_outside_the_folder_are_refused(tmp_path: Path, location: bytes) -> None:
    made = elsewhere(tmp_path / "model", location)
    beside = made / "onnx" / _BESIDE.decode()
    beside.rename((made / "onnx" / location.decode()).resolve())
    with pytest.raises(AppError, match="cannot be used"):
        OnnxEmbedder(made)


def test_n12_an_absolute_place_is_refused(tmp_path: Path) -> None:
    made = elsewhere(tmp_path / "model", b"/dev/./././zero")
    with pytest.raises(AppError, match="cannot be used"):
        OnnxEmbedder(made)
