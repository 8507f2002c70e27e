"""Intents measured on a set of our own, with the bundled model."""

import json
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.features.evaluation.measures.intents import evaluate, measured
from desktop_rag.features.evaluation.measures.query_sets import load_sentences
from desktop_rag.features.rails.intent.intent_recognition import IntentExample
from tests.command_line import run_json
from tests.conftest import bundled_embedder

_EXAMPLES = {
    "ask opening hours": ["When do you open?", "Until when is the bakery open today?"],
    "order a cake": ["I want to order a birthday cake", "Please bake a cake for Saturday"],
}
_TESTS = [
    IntentExample("At what time does the shop open?", "ask opening hours"),
    IntentExample("Can I order a wedding cake?", "order a cake"),
    IntentExample("Fetch the moon", "order a cake"),
]


def _examples() -> list[IntentExample]:
    return [IntentExample(text, intent) for intent, texts in _EXAMPLES.items() for text in texts]


def _write(path: Path, rows: list[IntentExample]) -> Path:
    lines = [json.dumps({"text": row.text, "intent": row.intent}) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_model_is_asked_about_what_examples_do_not_settle() -> None:
    prompts: list[str] = []

    def complete(prompt: str) -> str:
        prompts.append(prompt)
        return "order a cake"

    embed = bundled_embedder().embed_passages
    figures = evaluate(_examples(), _TESTS, embed, print, complete=complete)
    row = measured(figures).results[-1]
    assert (row["examples"], row["settled_right"], row["with_model"]) == ("all", 1.0, 1.0)
    assert len(prompts) == round(row["calls_a_turn"] * len(_TESTS)) == 1
    assert prompts[0].endswith('user "Fetch the moon"')
    assert prompts[0].index("I want to order a birthday cake") > prompts[0].index("Hello there!")


@pytest.mark.everyday
def test_sentences_out_of_scope_are_counted() -> None:
    embed = bundled_embedder().embed_passages
    asked = ["What is the capital of France?", "When do you open"]
    figures = evaluate(_examples(), _TESTS, embed, print, out_of_scope=asked)
    assert measured(figures).results[-1]["out_of_scope_settled"] == 0.5


@pytest.mark.everyday
def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a", "intent": "b"}\n{"text": "c"}\n', encoding="utf-8")
    assert [row.text for row in load_sentences(path, needs_intent=False)] == ["a", "c"]
    with pytest.raises(AppError, match="Line 2"):
        load_sentences(path)


@pytest.mark.slow
def test_the_verb_prints_a_row_for_each_number_of_examples(home: Home, tmp_path: Path) -> None:
    _write(tmp_path / "examples.jsonl", _examples())
    _write(tmp_path / "tests.jsonl", _TESTS)
    foreign = _write(tmp_path / "foreign.jsonl", [IntentExample("What is the moon made of?", "")])
    rows = run_json("eval", "rails", str(tmp_path), "--out-of-scope", str(foreign))
    assert [row["examples"] for row in rows] == [1, 3, 5, "all"]
    assert rows[-1]["out_of_scope_settled"] == 0.0
