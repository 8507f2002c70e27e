from pathlib import Path

import pytest

from desktop_rag.answer.checking.claims.features import FEATURES
from desktop_rag.answer.checking.claims.model import CheckerModel, Tree
from desktop_rag.core.paths import resources_dir

COMMITTED = resources_dir() / "claims" / "checker.toml"


@pytest.fixture(scope="module")
def model() -> CheckerModel:
    return CheckerModel.load(COMMITTED)


def test_a_tree_goes_right_above_its_cuts() -> None:
    tree = Tree((0, 1, 1), (0.5, 0.2, 0.8), (1.0, 2.0, 3.0, 4.0))
    rows = [(0.5, 0.2), (0.5, 0.3), (0.6, 0.8), (0.6, 0.9)]
    assert [tree(row) for row in rows] == [1.0, 2.0, 3.0, 4.0]


def test_the_committed_model_knows_the_features_and_its_bounds(model: CheckerModel) -> None:
    assert tuple(model.features) == tuple(FEATURES)
    assert model.unsupported_below <= model.threshold <= model.supported_from


def test_no_tree_goes_against_a_direction(model: CheckerModel) -> None:
    """More of a feature that may only lower the support never raises it, from any other values."""
    cuts = sorted({cut for tree in model.trees for cut in tree.cuts if cut < 1e8})
    steps = [cuts[0] - 1, *cuts[:: max(1, len(cuts) // 25)], cuts[-1] + 1]
    rows = [dict.fromkeys(FEATURES, value) for value in steps[::5]]
    for name, direction in FEATURES.items():
        for row in rows if direction else ():
            supports = [model.support(row | {name: value}) for value in steps]
            assert supports == sorted(supports, reverse=direction < 0), name


def test_a_support_is_a_probability(tmp_path: Path) -> None:
    text = (
        "threshold = 0.5\nsupported_from = 0.6\nunsupported_below = 0.4\nfeatures = ['missing']\n"
    )
    tree = "[[trees]]\nfeatures = [0]\ncuts = [0.5]\nvalues = [900.0, -900.0]\n"
    (tmp_path / "model.toml").write_text(text + tree, encoding="utf-8")
    model = CheckerModel.load(tmp_path / "model.toml")
    assert 0 < model.support({"missing": 1.0}) < 0.01
    assert 0.99 < model.support({"missing": 0.0}) < 1
