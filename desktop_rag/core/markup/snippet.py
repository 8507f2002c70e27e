"""The part of a passage with the words of a query, and these words' places. Pure; any thread."""

import re

from desktop_rag.core.language.languages import function_words

_LENGTH = 240
_LEAD = 50
_MIN_WORD = 2
_ENDING = 3
_WORD = re.compile(r"\w+")


def snippet(text: str, query: str, length: int = _LENGTH) -> tuple[str, list[tuple[int, int]]]:
    """A one-line piece of the passage, and the [start, end) spans of the query's words in it.

    It has at most `length` characters, not counting the ellipses, and begins where most different
    words of the query are near each other. The query's last word may be half typed and marks all
    words that begin with it; the others mark themselves and their longer forms.
    """
    line = " ".join(text.split())
    found = _found(line, query)
    start = _best_start(line, found, length)
    piece = line[start : start + length]
    spans = [(a - start, b - start) for a, b, _ in found if start <= a and b <= start + len(piece)]
    if start:
        piece, spans = f"…{piece}", [(a + 1, b + 1) for a, b in spans]
    return piece + ("…" if start + length < len(line) else ""), spans


def marked_words(text: str, query: str) -> list[tuple[int, int]]:
    """The [start, end) spans of all words of the query in a text, as in `snippet`."""
    return [(start, end) for start, end, _ in _found(text, query)]


def _found(line: str, query: str) -> list[tuple[int, int, str]]:
    """Start and end of each marked word, and the word of the query it matches."""
    typed = [word.casefold() for word in _WORD.findall(query)]
    words = {word for word in typed if len(word) >= _MIN_WORD} - function_words(typed)
    half = typed[-1] if typed and query[-1:].isalnum() and len(typed[-1]) >= _MIN_WORD else ""
    return [
        (match.start(), match.end(), meant)
        for match in _WORD.finditer(line)
        if (meant := _meant(match[0].casefold(), words, half))
    ]


def _meant(word: str, words: set[str], half: str) -> str:
    """The word of the query that a word matches; "" for none."""
    if half and half in words and word.startswith(half):
        return half
    return next((w for w in words if word.startswith(w) and len(word) <= len(w) + _ENDING), "")


def _best_start(line: str, found: list[tuple[int, int, str]], length: int) -> int:
    """Where the piece begins: at a word, shortly before the best run of marked words."""
    if not found or found[-1][1] <= length:
        return 0
    best, most = found[0][0], 0
    for place, _, _ in found:
        near = {word for start, end, word in found if place <= start and end <= place + length // 2}
        if len(near) > most:
            best, most = place, len(near)
    lead = max(0, best - _LEAD)
    return line.find(" ", lead, best) + 1 if lead else 0
