"""The app's own sentences in answers, and in place of them. Pure; any thread.

Their texts are in resources/questions/answer_texts.toml and refusals.toml, by language.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop_rag.core.language.languages import language_named, likely_language
from desktop_rag.core.paths import resources_dir

_ENGLISH = "en"


def language_to_write(question: str, preferred: str) -> str:
    """The code of the language `preferred` by its name, else of that of the question."""
    return language_named(preferred) if preferred.strip() else likely_language(question)


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
        return f"{number:,}".replace(",", self.texts.get("separator", ","))

    def decimal(self, digits: str) -> str:
        """Digits with a point, `1998.50`, as the language writes them."""
        whole, point, rest = digits.partition(".")
        mark = point and ("," if self.texts.get("separator") == "." else point)
        return f"{self.number(int(whole))}{mark}{rest}"

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
    return _in("answer_texts", language)


def texts_for(question: str, preferred: str = "", known: str = "") -> AnswerTexts:
    """The sentences in the language `preferred`, else `known` by its code, else the question's."""
    is_known = known and not preferred.strip()
    return answer_texts(known if is_known else language_to_write(question, preferred))


def refusals(question: str = "", preferred: str = "") -> AnswerTexts:
    """What is said instead of an answer, in the language `preferred`, else the question's."""
    return _in("refusals", language_to_write(question, preferred))


def _in(file: str, language: str) -> AnswerTexts:
    known = _by_language(file)
    return known.get(language, known[_ENGLISH])


@cache
def _by_language(file: str) -> dict[str, AnswerTexts]:
    path = resources_dir() / "questions" / f"{file}.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: _texts_of(table) for code, table in tables.items()}


def _texts_of(table: dict[str, Any]) -> AnswerTexts:
    forms, formats = table.pop("forms", {}), table.pop("formats", {})
    return AnswerTexts(table, forms, formats)
