"""The app's own sentences in answers, and in place of them. Pure; any thread.

Their texts are in resources/questions/answer_texts.toml and refusals.toml, by language.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from desktop_rag.core.language.languages import language_named, likely_language
from desktop_rag.core.paths import resources_dir

_ENGLISH = "en"


class Refusal(StrEnum):
    """Why there is no answer, and what is said before the nearest passage; the values are the keys
    of resources/questions/refusals.toml.
    """

    NOTHING_FOUND = "nothing_found"
    NOTHING_RELEVANT = "nothing_relevant"
    NOTHING_RELEVANT_HERE = "nothing_relevant_here"
    NOTHING_RELEVANT_AMONG = "nothing_relevant_among"
    NOTHING_THERE = "nothing_there"
    NEAREST = "nearest"


def refusal(why: Refusal, question: str = "", preferred: str = "") -> str:
    """The sentences, in the `preferred` language by its name, else the question's, else English."""
    return _texts(question, preferred)[why.value]


def not_there(names: Sequence[str], question: str = "", preferred: str = "") -> str:
    """The sentence about names of a question that no document has."""
    texts = _texts(question, preferred)
    key = "one_not_there" if len(names) == 1 else "many_not_there"
    return texts[key].format(names=", ".join(f"**{name}**" for name in names))


def unread_files(count: int, question: str = "", preferred: str = "") -> str:
    """The sentence about so many files that are still to be read."""
    texts = _texts(question, preferred)
    return texts["one_unread"] if count == 1 else texts["many_unread"].format(count=f"{count:,}")


def language_to_write(question: str, preferred: str) -> str:
    """The code of the language `preferred` by its name, else of that of the question."""
    return language_named(preferred) if preferred.strip() else likely_language(question)


def _texts(question: str, preferred: str) -> dict[str, str]:
    known = _unanswered_by_language()
    return known.get(language_to_write(question, preferred), known[_ENGLISH])


@cache
def _unanswered_by_language() -> dict[str, dict[str, str]]:
    path = resources_dir() / "questions" / "refusals.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class AnswerTexts:
    """The sentences of one language; see the file."""

    texts: Mapping[str, str]
    forms: Mapping[str, Sequence[str]]
    formats: Mapping[str, str]

    def said(self, name: str, /, **values: object) -> str:
        """The sentence of this name with its values; numbers as the language writes them."""
        written = {k: self.number(v) if isinstance(v, int) else v for k, v in values.items()}
        return self.texts[name].format(**written)

    def counted(self, name: str, count: int, /, **values: object) -> str:
        """The sentence about so many: that of `one_…` or `many_…`."""
        return self.said(f"{'one' if count == 1 else 'many'}_{name}", count=count, **values)

    def number(self, number: int) -> str:
        """`1,998`, as the language writes it."""
        return f"{number:,}".replace(",", self.texts["separator"])

    def joined(self, names: Iterable[str]) -> str:
        """The names, with "and" between them."""
        return f" {self.texts['and']} ".join(names)

    def first_of(self, names: Sequence[str], most: int, separator: str = ", ") -> str:
        """The first of the names, and how many more there are."""
        shown, more = separator.join(names[:most]), len(names) - most
        return self.said("and_more", names=shown, count=more) if more > 0 else shown

    def form(self, form: str, count: int) -> str:
        """What such entries are called after a number: `rows of tables`."""
        one, many, _ = self.forms[form]
        return one if count == 1 else many

    def each(self, form: str) -> str:
        """All of them, one by one: `each row of a table`."""
        return self.forms[form][2]

    def format_name(self, name: str) -> str:
        """The name of a format of files."""
        return self.formats.get(name, name)


def answer_texts(language: str) -> AnswerTexts:
    """The sentences of a language by its code; English where there are none."""
    known = _by_language()
    return known.get(language, known[_ENGLISH])


def texts_for(question: str, preferred: str = "", known: str = "") -> AnswerTexts:
    """The sentences in the language `preferred`, else `known` by its code, else the question's."""
    is_known = known and not preferred.strip()
    return answer_texts(known if is_known else language_to_write(question, preferred))


@cache
def _by_language() -> dict[str, AnswerTexts]:
    path = resources_dir() / "questions" / "answer_texts.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: _texts_of(table) for code, table in tables.items()}


def _texts_of(table: dict[str, Any]) -> AnswerTexts:
    forms, formats = table.pop("forms"), table.pop("formats")
    return AnswerTexts(table, forms, formats)
