import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.quotes import locate

TEXT = (
    "The members met in May. The fee for members was raised from ten to twelve pounds by a clear "
    "majority. Nobody spoke against it. The fee for guests stays as it was, for now."
)


def found(quote: str, text: str = TEXT) -> str | None:
    span = locate(quote, text)
    return text[slice(*span)] if span else None


def test_a_quote_is_found_as_it_is_written() -> None:
    assert locate("Nobody spoke against it.", TEXT) == (
        TEXT.index("Nobody"),
        TEXT.index(" The fee for guests"),
    )


def test_a_word_is_not_found_inside_another_one_when_it_also_stands_alone() -> None:
    assert locate("fee", "coffee is free of fee") == (18, 21)


@pytest.mark.parametrize(
    ("quote", "text", "place"),
    [
        ("THE FEE  FOR\nmembers", "the fee for members rose", "the fee for members"),
        ("“clear” – it's", 'So "clear" - it’s said', '"clear" - it’s'),
        ("efficient office", "An eﬃcient oﬃce.", "eﬃcient oﬃce"),
        (
            "information on everything",
            "Infor-\n  mation on every\u00adthing",
            "Infor-\n  mation on every\u00adthing",
        ),
        ("well known case", "a well-\nknown case", "well-\nknown case"),
        ("naïve café", "A nai\u0308ve cafe, he said", "nai\u0308ve cafe"),
        ("1,200 members.", "All 1 200 members. And", "1 200 members."),
        ("東京は晴れ", "今日、 東京 は 晴れ です", "東京 は 晴れ"),
    ],
)
def test_writing_does_not_matter(quote: str, text: str, place: str) -> None:
    assert found(quote, text) == place


def test_a_few_words_may_be_missing_or_changed() -> None:
    quote = "The fee of members was increased from ten to twelve pounds by a majority."
    expected = "The fee for members was raised from ten to twelve pounds by a clear majority."
    assert found(quote) == expected


def test_a_quote_with_too_little_in_common_is_not_found() -> None:
    assert found("The fee for members was abolished last year by the new committee.") is None
    assert found("Whales are the largest animals that have ever lived.") is None


def test_a_stray_word_far_off_does_not_stretch_the_place() -> None:
    text = "The committee sat. " + "Rain fell over the hills. " * 3 + TEXT
    quote = "The committee said nobody spoke against it. The fee for guests stays as it was."
    assert found(quote, text) == "Nobody spoke against it. The fee for guests stays as it was,"


def test_of_two_similar_places_the_closer_one_is_found() -> None:
    filler = " Something else was said about the weather of the week before." * 20
    text = (
        "The board approved the new budget for roads on Monday." + filler + " "
        "The board approved the old budget for schools on Friday." + filler
    )
    quote = "The board then approved the old budget for schools on Friday"
    assert found(quote, text) == "The board approved the old budget for schools on Friday"


def test_words_without_spaces_may_differ_too() -> None:
    text = "昨日は雨でした。今日は天気が良いですね。明日は"
    assert found("今日は天気がとても良いです", text) == "今日は天気が良いです"


@pytest.mark.parametrize("quote", ["", "  ", "→ ?", "a + b = c", "fee pounds"])
def test_what_says_too_little_is_not_found(quote: str) -> None:
    assert locate(quote, TEXT + " ABC company") is None


def test_signs_alone_are_found_as_they_are_written() -> None:
    assert locate("→ ✓", "yes → ✓ done") == (4, 7)


@given(st.text(max_size=80), st.text(max_size=300))
def test_any_text_is_looked_through(quote: str, text: str) -> None:
    span = locate(quote, text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)


@given(st.lists(st.sampled_from(["one", "two", "three", "four", "Five"]), min_size=1), st.data())
def test_any_run_of_words_is_found_however_it_is_spaced(
    words: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    place = locate("\n".join(words[start:end]).upper(), " ".join(words))
    assert place is not None
    assert " ".join(words)[slice(*place)].split() == words[start:end]


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_a_long_quote_with_every_tenth_word_changed_is_found(seed: int) -> None:
    chance = random.Random(seed)
    words = [f"w{chance.randrange(4000)}x" for _ in range(3000)]
    start = chance.randrange(2800)
    changed = [w if n % 10 != 5 else "other" for n, w in enumerate(words[start : start + 100])]
    place = locate(" ".join(changed), " ".join(words))
    assert place is not None
    assert " ".join(words)[slice(*place)].split() == words[start : start + 100]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("word " * 4998 + "end", "word " * 400_000),
        ("word other " * 2499 + "end", "word " * 400_000),
        ("ab ba ba ab " * 1249 + "end", "ab ba ba " * 220_000),
        ("a" * 5000 + "b", "a" * 2_000_000),
        ("a a", "a" * 2_000_000),
        ("é " * 5000, "é" * 1_000_000),
    ],
)
def test_hostile_texts_are_searched_in_linear_time(quote: str, text: str) -> None:
    locate(quote, text)
