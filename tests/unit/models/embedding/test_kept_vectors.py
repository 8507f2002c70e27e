"""Vectors kept on the disk: embedded once, bounded, and made again where the file is damaged."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from desktop_rag.models.embedding.joined_embedding import KeptVectors
from desktop_rag.models.ports import Vectors


class _Counting:
    """An embedding that is told by the length of a text, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), hash(text) % 7, 1] for text in texts], np.float32)


def _kept(
    path: Path, embed: _Counting, *, model: str = "first", most_rows: int = 100
) -> KeptVectors:
    return KeptVectors(path, lambda: model, embed, most_rows)


def test_a_new_start_embeds_only_what_is_new(tmp_path: Path) -> None:
    path, embed = tmp_path / "kept.bin", _Counting()
    first = _kept(path, embed)(["one", "three", "one"])
    assert embed.asked == ["one", "three"]
    again = _Counting()
    found = _kept(path, again)(["three", "four", "one"])
    assert again.asked == ["four"]
    assert np.array_equal(found[[2, 0, 2]], first)
    assert b"three" not in path.read_bytes()


def test_another_model_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "kept.bin"
    _kept(path, _Counting())(["one", "two"])
    other = _Counting()
    _kept(path, other, model="second")(["one"])
    assert other.asked == ["one"]
    assert path.stat().st_size < 44 + 2 * (36 + 12)


@pytest.mark.slow
def test_whatever_is_damaged_is_embedded_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.bin"
    texts = ["one", "three", "sixteen"]
    right = _kept(path, _Counting())(texts)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + b"\x5a\xa5" + whole[place + 2 :]):
            path.write_bytes(damaged)
            embed = _Counting()
            assert np.array_equal(_kept(path, embed)(texts), right)
            # It is whole again afterwards, or what is left of it is right.
            assert np.array_equal(_kept(path, embed)(texts), right)
    path.unlink()
    path.mkdir()
    assert np.array_equal(_kept(path, _Counting())(texts), right)


def test_the_file_stays_bounded_and_keeps_what_is_in_use(tmp_path: Path) -> None:
    path, used = tmp_path / "kept.bin", ["a", "bb"]
    for number in range(40):
        _kept(path, _Counting(), most_rows=10)([*used, f"other {number}"])
        assert path.stat().st_size <= 44 + 10 * (36 + 12)
    embed = _Counting()
    _kept(path, embed, most_rows=10)([*used, "other 39"])
    assert not embed.asked
    many = [f"many {number}" for number in range(30)]
    assert len(_kept(path, embed, most_rows=10)(many)) == len(many)
    assert path.stat().st_size <= 44 + 10 * (36 + 12)
