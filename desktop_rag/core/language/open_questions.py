"""Recognises open questions, which ask for a reason, a way or an explanation. Any thread.

"Who", "when" and "how many" ask for something that a passage names; "why" and "how" for something
that passages explain in words of their own.
"""

import re
import tomllib
from functools import cache

from desktop_rag.core.paths import resources_dir


def is_open_question(text: str) -> bool:
    """True when the text begins like an open question, or asks why anywhere.

    The words of all languages are tried, since few belong to another kind of question elsewhere.
    """
    return _pattern().search(text.casefold()) is not None


@cache
def _pattern() -> re.Pattern[str]:
    path = resources_dir() / "retrieval" / "open_questions.toml"
    languages = tomllib.loads(path.read_text(encoding="utf-8")).values()
    first = [word for table in languages for word in table.get("first", ())]
    anywhere = [word for table in languages for word in table.get("anywhere", ())]
    amounts = [word for table in languages for word in table.get("amounts", ())]
    apart = [word for table in languages for word in table.get("unspaced", ())]
    return re.compile(
        rf"^\W*(?:{_any(first)})\b(?!\W+(?:{_any(amounts)})\b)"
        rf"|\b(?:{_any(anywhere)})\b|{_any(apart)}"
    )


def _any(found: list[str]) -> str:
    return "|".join(map(re.escape, found))
