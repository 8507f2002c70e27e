"""No key reaches a message, however a server writes it."""

import json
from urllib.parse import quote

import pytest

from desktop_rag.models.endpoints.client.endpoint_errors import without_key

KEY = "sk-Canary/9d41c7e0+b2=f8Qz"


@pytest.mark.parametrize(
    "shown",
    [
        KEY,
        quote(KEY, safe=""),
        KEY.replace("/", "\\/"),
        "".join(f"\\u{ord(char):04x}" for char in KEY),
        KEY.replace("+", "&#43;"),
        json.dumps({"key": KEY}),
        KEY[:12],
        KEY[-9:],
        f"{KEY[:6]}**********{KEY[-4:]}",
        f"{KEY[:6]}...{KEY[-4:]}",
        f"{KEY[:4]}•••••{KEY[-4:]}",
        "gsk_of_somebody_else_0123456789",
    ],
)
def test_what_is_left_is_no_part_of_the_key(shown: str) -> None:
    said = without_key(f"Incorrect API key provided: {shown}. Check it.", KEY)
    assert said.startswith("Incorrect API key provided: ")
    assert said.endswith("Check it.")
    parts = {KEY[at : at + 4] for at in range(3, len(KEY) - 4)}
    assert not [part for part in parts if part in said]
    assert "…" in said


@pytest.mark.parametrize(
    "said",
    ["The model gpt-4o...mini is not here.", "Use * or ** for all.", "Wait for 10s.", "50 % off"],
)
def test_other_words_stay(said: str) -> None:
    assert without_key(said, KEY) == said
    assert without_key(said, "") == said


def test_a_word_that_is_no_secret_stays() -> None:
    assert without_key("The key abc is wrong.", "abc") == "The key abc is wrong."
