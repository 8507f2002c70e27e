"""The names of intents as words, which tell something about what they mean.

Pure; any thread.
"""

import re
from collections import Counter
from collections.abc import Sequence

_BEFORE_CAPITAL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_NO_LETTER = re.compile(r"[\W_]+")
_GROUP = re.compile(r"[.:/]")


def readable_names(intents: Sequence[str]) -> list[str]:
    """The words of each name: `user.wantsHelp` is “wants help”, as long as no other intent ends so.

    A name without letters gives "".
    """
    short = [_words(_GROUP.split(intent)[-1]) for intent in intents]
    counts = Counter(short)
    return [
        words if words and counts[words] == 1 else _words(intent)
        for words, intent in zip(short, intents, strict=True)
    ]


def _words(name: str) -> str:
    words = " ".join(_NO_LETTER.sub(" ", _BEFORE_CAPITAL.sub(" ", name)).lower().split())
    return words if any(letter.isalpha() for letter in words) else ""
