"""Intents measured on a set of our own, with the bundled model."""

from pathlib import Path

import pytest

from benchmarks.intents_asked import evaluate, load_sentences
from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.intent.intent_recognition import IntentExample
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


@pytest.mark.slow
def test_a_model_is_asked_about_what_examples_do_not_settle() -> None:
    prompts: list[str] = []

    def complete(prompt: str) -> str:
        prompts.append(prompt)
        return "order a cake"

    embed = bundled_embedder().embed_passages
    figures = evaluate(_examples(), _TESTS, embed, print, complete=complete)
    row = figures[-1].figures()
    assert (row["examples"], row["settled_right"], row["with_model"]) == ("all", 1.0, 1.0)
    assert len(prompts) == round(row["calls_a_turn"] * len(_TESTS)) == 1
    assert prompts[0].endswith('user "Fetch the moon"')
    assert prompts[0].index("I want to order a birthday cake") > prompts[0].index("Hello there!")


@pytest.mark.everyday
def test_sentences_out_of_scope_are_counted() -> None:
    embed = bundled_embedder().embed_passages
    asked = ["What is the capital of France?", "When do you open"]
    figures = evaluate(_examples(), _TESTS, embed, print, out_of_scope=asked)
    assert figures[-1].figures()["out_of_scope_settled"] == 0.5


@pytest.mark.everyday
def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a", "intent": "b"}\n{"text": "c"}\n', encoding="utf-8")
    assert [row.text for row in load_sentences(path, needs_intent=False)] == ["a", "c"]
    with pytest.raises(AppError, match="Line 2"):
        load_sentences(path)


@pytest.mark.slow
def test_examples_are_drawn_and_all_of_them_are_asked() -> None:
    embed = bundled_embedder().embed_passages
    rows = [row.figures() for row in evaluate(_examples(), _TESTS, embed, print)]
    assert [row["examples"] for row in rows] == [1, 3, 5, "all"]
    assert rows[-1]["out_of_scope_settled"] is None
