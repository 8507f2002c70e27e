import pytest

from desktop_rag.answer.checking.claims.tokens import is_rounded, whole_number


@pytest.mark.parametrize(
    ("written", "used", "value"),
    [
        ("five thousand pounds", 2, "5000"),
        ("2.5 million people", 2, "2500000"),
        ("four thousand eight hundred and sixty boats", 6, "4860"),
        ("twenty five", 2, "25"),
        ("one hundred and the rest", 2, "100"),
        ("two three", 1, "2"),
        ("ten and five", 1, "10"),
        ("2010 four", 1, "2010"),
        ("hundred boats", 0, ""),
        ("boats", 0, ""),
        ("", 0, ""),
    ],
)
def test_the_words_of_one_number(written: str, used: int, value: str) -> None:
    assert whole_number(written.split()) == (used, value)


@pytest.mark.parametrize(
    ("number", "other", "rounded"),
    [
        ("5000", "4860", True),
        ("47", "46.5", True),
        ("30", "46", False),
        ("1985", "1958", False),
        ("4860", "4860", False),
        ("0", "4", False),
        ("7.12.2025", "7", False),
    ],
)
def test_rounded_numbers(number: str, other: str, rounded: bool) -> None:
    assert is_rounded(number, other) is rounded
