"""What is said instead of an answer, in the language of the question. Pure; any thread."""

import tomllib
from enum import StrEnum
from functools import cache

from desktop_rag.core.language.language_names import language_named
from desktop_rag.core.language.model_languages import likely_language
from desktop_rag.core.paths import resources_dir

_ENGLISH = "en"


class Refusal(StrEnum):
    """Why there is no answer; the values are the keys of resources/questions/refusals.toml."""

    NOTHING_FOUND = "nothing_found"
    NOTHING_RELEVANT = "nothing_relevant"
    NOTHING_RELEVANT_HERE = "nothing_relevant_here"
    NOTHING_RELEVANT_AMONG = "nothing_relevant_among"
    NOTHING_THERE = "nothing_there"


def refusal(why: Refusal, question: str = "", preferred: str = "") -> str:
    """The sentences, in the language `preferred` by its name, else in that of the question.

    English where there are none in that language.
    """
    return _texts(question, preferred)[why.value]


def unread_files(count: int, question: str = "", preferred: str = "") -> str:
    """The sentence about so many files that are still to be read."""
    texts = _texts(question, preferred)
    return texts["one_unread"] if count == 1 else texts["many_unread"].format(count=f"{count:,}")


def language_to_write(question: str, preferred: str) -> str:
    """The code of the language `preferred` by its name, else of that of the question."""
    return language_named(preferred) if preferred.strip() else likely_language(question)


def _texts(question: str, preferred: str) -> dict[str, str]:
    known = _by_language()
    return known.get(language_to_write(question, preferred), known[_ENGLISH])


@cache
def _by_language() -> dict[str, dict[str, str]]:
    path = resources_dir() / "questions" / "refusals.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
