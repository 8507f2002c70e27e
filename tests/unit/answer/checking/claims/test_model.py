from pathlib import Path

import pytest

from desktop_rag.answer.checking.claims.support import FEATURES, CheckerModel
from desktop_rag.core.paths import resources_dir

COMMITTED = resources_dir() / "claims" / "checker.toml"


@pytest.fixture(scope="module")
def model() -> CheckerModel:
    return CheckerModel.load(COMMITTED)


def test_the_committed_model_knows_the_features_and_its_bounds(model: CheckerModel) -> None:
    assert tuple(model.weights) == tuple(FEATURES)
    assert model.unsupported_below <= model.threshold <= model.supported_from


def test_no_weight_goes_against_the_direction_of_its_feature(model: CheckerModel) -> None:
    """More of a feature that may only lower the support never raises it."""
    for name, direction in FEATURES.items():
        assert model.weights[name] * direction >= 0, name


def test_a_support_is_a_probability(tmp_path: Path) -> None:
    text = (
        "threshold = 0.5\nsupported_from = 0.6\nunsupported_below = 0.4\n"
        "intercept = 400.0\n[weights]\nmissing = -900.0\n"
    )
    (tmp_path / "model.toml").write_text(text, encoding="utf-8")
    model = CheckerModel.load(tmp_path / "model.toml")
    assert 0 < model.support({"missing": 1.0}) < 0.01
    assert 0.99 < model.support({"missing": 0.0}) <= 1
