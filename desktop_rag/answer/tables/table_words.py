"""Word lists for tables and for questions about them. Any thread."""

import tomllib
from dataclasses import dataclass
from functools import cache

from desktop_rag.core.language.function_words import language_of
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words


@dataclass(frozen=True, slots=True)
class TableWords:
    """The lists of `resources/tables/words.toml`, which explains them."""

    missing: frozenset[str]
    totals: frozenset[str]
    asks: frozenset[str]
    phrases: tuple[str, ...]
    compares: frozenset[str]
    superlatives: frozenset[str]


@cache
def table_words() -> TableWords:
    """The words, read once."""
    path = resources_dir() / "tables" / "words.toml"
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    missing = frozenset(read.pop("missing").split())

    def all_of(kind: str) -> frozenset[str]:
        return frozenset(word for table in read.values() for word in table[kind].split())

    return TableWords(
        missing,
        frozenset(total for table in read.values() for total in table["totals"]),
        all_of("asks"),
        tuple(phrase for table in read.values() for phrase in table["asks_phrases"]),
        all_of("compares"),
        all_of("superlatives"),
    )


def may_want_a_query(question: str) -> bool:
    """True when a query over a table may answer a question better than passages.

    True as well for an unknown language: there the model decides.
    """
    written = words(question)
    plain = " ".join(word.casefold() for word in written)
    known = table_words()
    is_asked = any(word in known.asks for word in plain.split())
    return is_asked or any(phrase in plain for phrase in known.phrases) or not language_of(written)
