"""Intents recognised by examples, with the bundled model."""

from desktop_rag.rails.intent.intent_recognition import IntentExample, IntentRecogniser
from tests.conftest import bundled_embedder

_BAKERY = {
    "ask opening hours": ["When do you open?", "Until when is the bakery open today?"],
    "order a cake": ["I want to order a birthday cake", "Please bake a cake for Saturday"],
    "ask about allergens": ["Is there gluten in this bread?", "Do the rolls contain nuts?"],
}
_EXAMPLES = [IntentExample(text, intent) for intent, texts in _BAKERY.items() for text in texts]


def _recogniser(examples: list[IntentExample]) -> IntentRecogniser:
    return IntentRecogniser(examples, bundled_embedder().embed_passages)


def test_a_sentence_in_other_words_has_the_intent_of_its_examples() -> None:
    recogniser = _recogniser(_EXAMPLES)
    assert recogniser.recognise("At what time does the shop open?").intent == "ask opening hours"
    assert recogniser.recognise("I'm allergic to nuts, can I eat it?").intent == (
        "ask about allergens"
    )


def test_the_order_of_the_examples_does_not_matter() -> None:
    text = "Can I get a cake with nuts on Saturday?"
    assert _recogniser(_EXAMPLES).recognise(text) == _recogniser(_EXAMPLES[::-1]).recognise(text)


def test_an_empty_sentence_and_no_examples_have_no_intent() -> None:
    assert not _recogniser(_EXAMPLES).recognise(" \n").is_accepted
    nothing = _recogniser([]).recognise("When do you open?")
    assert (nothing.intent, nothing.score, nothing.nearest) == ("", 0.0, ())
