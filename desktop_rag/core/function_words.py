"""Words that ask and join but say nothing of what is asked for. Any thread.

They mislead a search by words: "why" and "does" are rare in what people write down, and count as
much as the subject.
"""

import tomllib
from collections.abc import Sequence
from functools import cache

from desktop_rag.core.paths import resources_dir

# What tells a language: so many of its words, and such a share of all.
_LEAST_WORDS = 3
_LEAST_SHARE = 0.2
_AHEAD = 1.5


def function_words(words: Sequence[str]) -> frozenset[str]:
    """Those of a question's words that only ask and join; never all of them.

    `words` as written. The language is the one whose list holds most of them, the first of equals,
    so that "die" is an article beside other German words only.
    """
    folded = {word: word.casefold().replace("’", "'") for word in words}
    best = max(
        _lists().values(), key=lambda known: sum(plain in known for plain in folded.values())
    )
    found = frozenset(word for word, plain in folded.items() if plain in best)
    return found if len(found) < len(folded) else frozenset()


def language_of(words: Sequence[str]) -> str:
    """The code of the language that most of the words only join and point in; "" when not clear.

    It is clear when no other language has any of them, or when there are three, a fifth of the
    words, and half as many again as of any other language.
    """
    folded = [word.casefold().replace("’", "'") for word in words]
    hits = {code: sum(word in known for word in folded) for code, known in _lists().items()}
    best, second = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    is_many = hits[best] >= max(_LEAST_WORDS, _LEAST_SHARE * len(folded), _AHEAD * hits[second])
    return best if is_many or (hits[best] and not hits[second]) else ""


@cache
def _lists() -> dict[str, frozenset[str]]:
    path = resources_dir() / "retrieval" / "function_words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: frozenset(words.split()) for code, words in tables.items()}
