"""The part of a passage that holds the words of a query, with these words. Pure; any thread."""

import re

from desktop_rag.core.language.languages import function_words

_LENGTH = 240
_LEAD = 50
_MIN_WORD = 2
_ENDING = 3
_WORD = re.compile(r"\w+")


def snippet(text: str, query: str, length: int = _LENGTH) -> tuple[str, list[tuple[int, int]]]:
    """A piece of the passage on one line, and the [start, end) spans of words of the query in it.

    It has at most `length` characters, without the marks of what is left out.
    The last word of the query may be half typed and marks all words that begin with it; the others
    mark themselves and their longer forms. The piece begins where most different words of the query
    are near each other.
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
    """Start and end of each word that is marked, and the word of the query that it stands for."""
    typed = [word.casefold() for word in _WORD.findall(query)]
    words = {word for word in typed if len(word) >= _MIN_WORD} - function_words(typed)
    half = typed[-1] if typed and query[-1:].isalnum() and len(typed[-1]) >= _MIN_WORD else ""
    return [
        (match.start(), match.end(), meant)
        for match in _WORD.finditer(line)
        if (meant := _meant(match[0].casefold(), words, half))
    ]


def _meant(word: str, words: set[str], half: str) -> str:
    """The word of the query that this one is or begins with; "" for none."""
    if half and half in words and word.startswith(half):
        return half
    return next((w for w in words if word.startswith(w) and len(word) <= len(w) + _ENDING), "")


def _best_start(line: str, found: list[tuple[int, int, str]], length: int) -> int:
    """Where the piece begins: at a word, a little before the best run of marked words."""
    if not found or found[-1][1] <= length:
        return 0
    best, most = found[0][0], 0
    for place, _, _ in found:
        near = {word for start, end, word in found if place <= start and end <= place + length // 2}
        if len(near) > most:
            best, most = place, len(near)
    lead = max(0, best - _LEAD)
    return line.find(" ", lead, best) + 1 if lead else 0
