"""What is searched for: the words of a question that carry it, with typos mended. Any thread."""

from dataclasses import dataclass

from desktop_rag.core.function_words import function_words
from desktop_rag.core.query import Query
from desktop_rag.core.terms import terms, word_groups
from desktop_rag.core.text import words
from desktop_rag.store.lexical import LexicalStore

# A shorter word has too many neighbours; a long one may have two letters wrong.
_LEAST_LETTERS = 5
_TWO_ERRORS_FROM = 9


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question ready for both searches.

    `text` is what is embedded; `words` are alternatives a word, without what only asks and joins;
    `repaired` has pairs of a word as written and as it is searched for.
    """

    text: str
    words: tuple[tuple[str, ...], ...]
    repaired: tuple[tuple[str, str], ...] = ()


class QuestionReader:
    """Prepares questions for an index: its languages, its vocabulary."""

    def __init__(self, lexical: LexicalStore) -> None:
        self._lexical = lexical

    def read(self, query: Query) -> Wanted:
        """The words to look for. A word the index does not hold is mended when one is close."""
        languages = self._lexical.languages()
        repaired = tuple(self._repairs(query, languages))
        text = query.text
        for written, used in repaired:
            text = text.replace(written, used)
        return Wanted(text, self._words(text, languages), repaired)

    def alternatives(self, texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Every word of these texts, none left out."""
        return tuple(word_groups(" ".join(texts), self._lexical.languages()))

    def _words(self, text: str, languages: list[str]) -> tuple[tuple[str, ...], ...]:
        every = word_groups(text, languages)
        idle = set(word_groups(" ".join(function_words(words(text))), languages))
        kept = tuple(word for word in every if word not in idle)
        return kept or tuple(every)

    def _repairs(self, query: Query, languages: list[str]) -> list[tuple[str, str]]:
        quoted = {word for phrase in query.phrases for word in words(phrase)}
        candidates = [
            word
            for word in dict.fromkeys(words(query.text))
            if len(word) >= _LEAST_LETTERS and word.isalpha() and word not in quoted
        ]
        groups = {word: word_groups(word, languages) for word in candidates}
        single = {word: found[0] for word, found in groups.items() if len(found) == 1}
        unknown = self._lexical.unknown(list(single.values()))
        repairs: list[tuple[str, str]] = []
        for word, group in single.items():
            if group in unknown and (near := self._nearest(word, group)):
                repairs.append((word, near))
        return repairs

    def _nearest(self, word: str, group: tuple[str, ...]) -> str:
        errors = 2 if len(word) >= _TWO_ERRORS_FROM else 1
        for term in group:
            if found := self._lexical.nearest_term(term, errors):
                return self._spelled(found)
        return ""

    def _spelled(self, term: str) -> str:
        """A term as a document writes it: terms are stems, people read words."""
        text, language = self._lexical.example(term)
        return next((word for word in words(text) if term in terms(word, language)), term)
