"""Function words of a question, which carry no subject. Any thread.

They mislead lexical search: "why" and "does" are rare in documents, so BM25 would weigh them like
the subject.
"""

import tomllib
from collections.abc import Sequence
from functools import cache

from desktop_rag.core.paths import resources_dir

# A language is recognised by this many of its function words and this share of all words.
_MIN_WORDS = 3
_MIN_SHARE = 0.2
_MIN_LEAD = 1.5


def function_words(words: Sequence[str]) -> frozenset[str]:
    """The function words among a question's words; never all of them.

    `words` are as written. The language is the one whose list matches most words, the first on a
    tie, so that "die" is an article only beside other German words.
    """
    folded = {word: word.casefold().replace("’", "'") for word in words}
    best = max(
        _words_by_language().values(),
        key=lambda known: sum(plain in known for plain in folded.values()),
    )
    found = frozenset(word for word, plain in folded.items() if plain in best)
    return found if len(found) < len(folded) else frozenset()


def language_of(words: Sequence[str]) -> str:
    """The code of the language with the most function words; "" when it is unclear.

    The result is clear when no other language matches at all, or with three matches that make up a
    fifth of the words and exceed the second-best language by half.
    """
    hits = _hits(words)
    best, second = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    is_many = hits[best] >= max(_MIN_WORDS, _MIN_SHARE * len(words), _MIN_LEAD * hits[second])
    return best if is_many or (hits[best] and not hits[second]) else ""


def most_likely(words: Sequence[str]) -> str:
    """The code of the language with more function words than any other; "" when there is none."""
    hits = _hits(words)
    best, second = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    return best if hits[best] > hits[second] else ""


def is_likely_english(words: Sequence[str]) -> bool:
    """True when English has more function words among these than any other, at least two."""
    return _hits(words)["en"] > 1 and most_likely(words) == "en"


def is_hardly_english(words: Sequence[str]) -> bool:
    """True when another language has more function words among these, at least two."""
    hits = _hits(words)
    return max(hits.values()) > max(hits["en"], 1)


def english_share(words: Sequence[str]) -> float:
    """The share of English function words, 0 to 1; in texts it is seldom below .2."""
    english = _words_by_language()["en"]
    return sum(word.casefold() in english for word in words) / max(len(words), 1)


def _hits(words: Sequence[str]) -> dict[str, int]:
    """The number of function words of each language among these."""
    folded = [word.casefold().replace("’", "'") for word in words]
    return {
        code: sum(word in known for word in folded) for code, known in _words_by_language().items()
    }


@cache
def _words_by_language() -> dict[str, frozenset[str]]:
    path = resources_dir() / "retrieval" / "function_words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: frozenset(words.split()) for code, words in tables.items()}
