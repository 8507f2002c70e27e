"""The words of a note in each language, and the language that a note is written in. Any thread.

They are listed in resources/questions/note_words.toml.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from desktop_rag.core.language.function_words import language_of
from desktop_rag.core.language.language_names import language_named
from desktop_rag.core.language.model_languages import likely_language
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words

ENGLISH = "en"
# The part of a note that is made of excerpts, without a model; it has no question.
EXCERPTS = "excerpts"
_LEAST_WORDS = 5
# A topic in one of these scripts leaves no doubt.
_BY_SCRIPT = frozenset({"ru", "ar", "ko", "ja"})


@dataclass(frozen=True, slots=True)
class NoteWords:
    """The words of one language; see the file. `headings` and `questions` are by part."""

    your_note: str
    sources: str
    partly: str
    not_found: str
    headings: Mapping[str, str]
    questions: Mapping[str, str]


def note_words(language: str) -> NoteWords:
    """The words of a language by its code; English where there are none."""
    known = _by_language()
    return known.get(language, known[ENGLISH])


def part_of(heading: str) -> str:
    """The part of a note that this is the heading of, in any language; "" for none."""
    return _parts().get(heading, "")


def heads_sources(heading: str) -> bool:
    """True for the heading above a list of sources, in any language."""
    return any(heading == known.sources for known in _by_language().values())


def language_of_topic(topic: str, preferred: str, of_documents: Sequence[str]) -> str:
    """The code of the language of a new note.

    The language that the person prefers by its name; else that of the topic where it is sure, or
    where documents about it have it; else the one that most of these documents have.
    `of_documents` has the code of each, the best first, and "" for one that is not known.
    """
    if preferred.strip():
        return language_named(preferred) or ENGLISH
    asked = likely_language(topic)
    known = [language for language in of_documents if language]
    most = Counter(known).most_common(1)[0][0] if known else ""
    spoken = words(topic)
    is_sure = asked in _BY_SCRIPT or (len(spoken) >= _LEAST_WORDS and language_of(spoken) == asked)
    if asked and (is_sure or asked in known):
        return asked
    # A topic in Chinese characters alone may be Japanese.
    if asked == "zh" and most != "ja":
        return asked
    return most or asked or ENGLISH


@cache
def _by_language() -> dict[str, NoteWords]:
    path = resources_dir() / "questions" / "note_words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: NoteWords(**table) for code, table in tables.items()}


@cache
def _parts() -> dict[str, str]:
    every = _by_language().values()
    return {heading: part for known in every for part, heading in known.headings.items()}
