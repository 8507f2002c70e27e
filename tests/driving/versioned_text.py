"""Texts whose every sentence has a word that no other version of any text has. Pure."""

import random
import re

_MARKER = re.compile(r"\bzq[a-z]{14}qz\b")
_WORDS = (
    "harbour", "lamp", "keeper", "ledger", "morning", "tide", "council", "report", "figure",
    "season", "vessel", "cargo", "price", "measure", "weather", "engine", "summer", "winter",
)  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def new_marker(chance: random.Random) -> str:
    """A word that is in no text yet, and too far from any other to be taken for its misspelling."""
    return f"zq{''.join(chance.choices(_LETTERS, k=14))}qz"


def markers_in(text: str) -> set[str]:
    """The versions that a text holds something of."""
    return set(_MARKER.findall(text))


def versioned_text(chance: random.Random, marker: str, sentences: int) -> str:
    """A text of so many sentences, five to a paragraph, each with the marker."""
    made = [f"The {' '.join(chance.choices(_WORDS, k=9))} of {marker}." for _ in range(sentences)]
    paragraphs = [" ".join(made[at : at + 5]) for at in range(0, len(made), 5)]
    return "\n\n".join(paragraphs) + "\n"
