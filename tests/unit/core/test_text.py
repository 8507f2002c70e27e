from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.text import ends_sentence, rough_token_counts, sentences, words


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("No end", ["No end"]),
        ("It rained. We left.", ["It rained.", "We left."]),
        ("Dr. Moss paid 3.50 to Acme Inc. in May.", ["Dr. Moss paid 3.50 to Acme Inc. in May."]),
        ("See Fig. 3 now. Then stop.", ["See Fig. 3 now.", "Then stop."]),
        ('"Is it lit?" They nodded.', ['"Is it lit?"', "They nodded."]),
        (
            "Das Fest ist am 18. Juli im Hof. Es regnet.",
            ["Das Fest ist am 18. Juli im Hof.", "Es regnet."],
        ),
        (
            "Wartung: 4. März 2026. Vorher: 3. Mrz. 25 und 2. 1. 2024. Nie am 5. Es ist 3. Alt.",
            [
                "Wartung: 4. März 2026.",
                "Vorher: 3. Mrz. 25 und 2. 1. 2024.",
                "Nie am 5. Es ist 3.",
                "Alt.",
            ],
        ),
        ("Wartung: 4. April 2026.", ["Wartung: 4. April 2026."]),
        ("Der Verein Sonne e. V. lädt ein. Kommt!", ["Der Verein Sonne e. V. lädt ein.", "Kommt!"]),
        ("I am 18. July is my month.", ["I am 18.", "July is my month."]),
        ("They came in 18. July was hot.", ["They came in 18.", "July was hot."]),
        ("Sie wohnt Hafenstr. 12 im Ort.", ["Sie wohnt Hafenstr. 12 im Ort."]),
        ("Do:\n1. Eat. Drink.\n2. Sleep", ["Do:", "1. Eat.", "Drink.", "2. Sleep"]),
        ("2. Charges\nRent: £284", ["2. Charges\nRent: £284"]),
        ("First\n\nSecond", ["First", "Second"]),
        ("Bring:\n- rope\n- lamp", ["Bring:", "- rope", "- lamp"]),
        ("Name | Fee\nAdult | 8", ["Name | Fee", "Adult | 8"]),
        ("灯台です。閉館です。", ["灯台です。", "閉館です。"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@given(st.text(max_size=400))
def test_sentences_lose_nothing_but_space(text: str) -> None:
    spans = sentences(text)
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert "".join("".join(part.split()) for part in split(text)) == "".join(text.split())


def test_words_are_as_written_and_keep_their_vowel_signs() -> None:
    assert words("The keeper's “Lamp”, 3_4") == ["The", "keeper's", "Lamp", "3", "4"]
    assert words("हिन्दी में") == ["हिन्दी", "में"]


def test_rough_token_counts_never_say_zero_for_text() -> None:
    assert rough_token_counts(["", "a", "four words of text"]) == [0, 1, 5]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("The lamp is lit at dusk by the keeper, who trims the wick.", 14, 20),
        ("灯塔的灯在黄昏时点亮。", 11, 14),
        ("Лампа зажигается в сумерках.", 15, 20),
        ("1,234.50 | 2024-01-31", 11, 16),
    ],
)
def test_rough_token_counts_heed_the_script(text: str, least: int, most: int) -> None:
    assert least <= rough_token_counts([text])[0] <= most


def test_the_end_of_a_sentence_is_its_stop_and_what_closes_it() -> None:
    ended = [
        "It is lit.",
        "Is it lit?”",
        "It is lit (at dusk.)",
        "It is lit.[25]",
        "灯亮了。",
        "Lit… ",
    ]
    assert all(map(ends_sentence, ended))
    assert not any(map(ends_sentence, ["", "It is lit", "What is lit:", "lit;", "No. 5"]))
