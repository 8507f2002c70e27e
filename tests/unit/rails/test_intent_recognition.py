"""Intents recognised by examples, with the bundled model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_rag.features.rails.intent.intent_recognition import (
    ACCEPTED_FROM,
    NEAREST,
    IntentExample,
    IntentRecogniser,
    readable_names,
)
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


def test_what_is_said_often_enough_is_accepted_and_the_rest_is_not() -> None:
    recogniser = _recogniser(_EXAMPLES)
    assert recogniser.recognise("Can I order a wedding cake?").is_accepted
    for foreign in ("What is the capital of France?", "you are stupid", "Wie spät ist es?"):
        assert not recogniser.recognise(foreign).is_accepted


def test_an_example_word_for_word_has_its_intent() -> None:
    found = _recogniser(_EXAMPLES).recognise("do the ROLLS contain nuts")
    assert (found.intent, found.is_accepted) == ("ask about allergens", True)
    assert found.nearest[0].similarity == pytest.approx(1, abs=0.05)
    assert len(found.nearest) == NEAREST


def test_a_text_under_two_intents_is_not_accepted() -> None:
    both = [*_EXAMPLES, IntentExample("hello", "greet"), IntentExample("Hello!", "call the bot")]
    assert not _recogniser(both).recognise("hello").is_accepted


def test_one_intent_takes_only_what_is_like_it() -> None:
    recogniser = _recogniser([IntentExample("hello", "greeting"), IntentExample("hi", "greeting")])
    assert recogniser.recognise("good morning").intent == "greeting"
    assert not recogniser.recognise("What is the price of oil?").is_accepted


def test_telling_names_help_and_numbers_do_not_count() -> None:
    told = [
        IntentExample("Where is my card?", "card.card_delivery"),
        IntentExample("Hi", "x.hello"),
    ]
    numbered = [IntentExample("Where is my card?", "b7"), IntentExample("Hi", "a7")]
    asked = "Track the delivery"
    by_name, by_number = (_recogniser(rows).recognise(asked).score for rows in (told, numbered))
    assert by_name > by_number


def test_names_are_read_as_words() -> None:
    assert readable_names(["user.wantsHelp", "card_arrival", "17", "a.good", "b.good"]) == [
        "wants help",
        "card arrival",
        "",
        "a good",
        "b good",
    ]


@pytest.mark.slow
def test_a_very_long_sentence_is_read() -> None:
    found = _recogniser(_EXAMPLES).recognise("When do you open? " * 2000)
    assert found.intent == "ask opening hours"


_RECOGNISER = _recogniser(_EXAMPLES)


@settings(max_examples=20)
@given(st.text(max_size=60))
def test_a_score_is_a_probability_and_the_same_each_time(text: str) -> None:
    found = _RECOGNISER.recognise(text)
    assert 0 <= found.score <= 1
    assert found.is_accepted == (found.score >= ACCEPTED_FROM)
    assert found == _RECOGNISER.recognise(text)


@settings(max_examples=8)
@given(st.lists(st.sampled_from(_EXAMPLES), max_size=8))
def test_any_selection_of_examples_can_be_used(examples: list[IntentExample]) -> None:
    found = _recogniser(examples).recognise("Do you sell cake on Saturday?")
    assert found.intent in {"", *(example.intent for example in examples)}
    assert 0 <= found.score <= 1
