"""Words that ask and join but say nothing of what is asked for. Any thread.

They mislead a search by words: "why" and "does" are rare in what people write down, and count as
much as the subject.
"""

import tomllib
from collections.abc import Sequence
from functools import cache

from desktop_rag.core.paths import resources_dir


def function_words(words: Sequence[str]) -> frozenset[str]:
    """Those of a question's words that only ask and join; never all of them.

    `words` as written. The language is the one whose list holds most of them, the first of equals,
    so that "die" is an article beside other German words only.
    """
    folded = {word: word.casefold().replace("’", "'") for word in words}
    best = max(_lists(), key=lambda known: sum(plain in known for plain in folded.values()))
    found = frozenset(word for word, plain in folded.items() if plain in best)
    return found if len(found) < len(folded) else frozenset()


@cache
def _lists() -> tuple[frozenset[str], ...]:
    path = resources_dir() / "retrieval" / "function_words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(frozenset(words.split()) for words in tables.values())
