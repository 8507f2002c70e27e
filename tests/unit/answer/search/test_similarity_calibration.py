"""The similarity of unrelated texts, by which similarities are rescaled."""

from collections.abc import Sequence

import numpy as np
import pytest

from desktop_rag.answer.search.meaning import SimilarityCalibration, rescaled
from desktop_rag.core.paths import resources_dir
from desktop_rag.models.embedding.joined_embedding import OnnxEmbedder
from desktop_rag.models.ports import Vectors

FOLDER = resources_dir() / "models" / "all-MiniLM-L6-v2"


class Orthogonal:
    """An embedder for which no two texts have anything in common."""

    name, dimensions, max_tokens = "orthogonal", 64, 100

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.eye(len(texts), self.dimensions, dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self.embed_passages([text])[0]

    def set_threads(self, threads: int) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_text_is_not_compared_with_itself() -> None:
    assert SimilarityCalibration().unrelated(Orthogonal()) == 0.0


@pytest.mark.slow
def test_the_bundled_model_finds_little_in_unrelated_texts() -> None:
    scale, embedder = SimilarityCalibration(), OnnxEmbedder(FOLDER)
    assert 0.0 < scale.unrelated(embedder) < 0.15


def test_a_model_that_finds_everything_alike_tells_the_same_on_its_own_scale() -> None:
    similar = np.array([0.1, 0.5, 1.0])
    crowded = 0.7 + 0.3 * similar
    assert rescaled(crowded, 0.7 + 0.3 * 0.1) == pytest.approx(rescaled(similar, 0.1))
    assert rescaled(similar, 0.1).tolist() == pytest.approx([0.0, 4 / 9, 1.0])
