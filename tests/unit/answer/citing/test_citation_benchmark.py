"""A small run of the benchmark of citation forms, the same each time."""

import importlib.util
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[4] / "benchmarks" / "answers" / "citation_forms.py"


@pytest.mark.everyday
def test_forms_and_languages_are_read() -> None:
    spec = importlib.util.spec_from_file_location("citation_forms_benchmark", _SCRIPT)
    assert spec
    assert spec.loader
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = benchmark  # its dataclasses look for their module
    try:
        spec.loader.exec_module(benchmark)
        counts = benchmark.measure(200, 7)
        total = benchmark.total_of(counts, benchmark.FORMS + benchmark.LATER)
    finally:
        del sys.modules[spec.name]
    assert total.answers == 200
    assert (total.unknown, total.false) == (0, 0), total.missed
    assert total.read >= 0.99 * total.right, total.missed
