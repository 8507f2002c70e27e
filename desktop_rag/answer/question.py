"""What is searched for: the words of a question that carry it, with typos mended. Any thread."""

from dataclasses import dataclass

from desktop_rag.core.function_words import function_words
from desktop_rag.core.query import Query
from desktop_rag.core.terms import terms, word_groups
from desktop_rag.core.text import words
from desktop_rag.store.contract.search import LexicalStore, Weights

# A shorter word has too many neighbours; a long one may have two letters wrong.
_LEAST_LETTERS = 5
_TWO_ERRORS_FROM = 9


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question ready for both searches.

    `text` is what is embedded; `words` leave out what only asks and joins; `repaired` has pairs of
    a word as written and as it is searched for.
    """

    text: str
    words: Weights
    repaired: tuple[tuple[str, str], ...] = ()


class QuestionReader:
    """Prepares questions for an index: its languages, its vocabulary."""

    def __init__(self, lexical: LexicalStore) -> None:
        self._lexical = lexical

    def read(self, query: Query) -> Wanted:
        """The words to look for. A word the index does not hold is mended when one is close."""
        languages = self._lexical.languages()
        text = query.text
        weights = self._lexical.weigh(word_groups(text, languages))
        repaired = tuple(self._repairs(query, languages, weights))
        for written, used in repaired:
            text = text.replace(written, used)
        if repaired:
            weights = self._lexical.weigh(word_groups(text, languages))
        idle = word_groups(" ".join(function_words(words(text))), languages)
        kept = weights.only([word for word in weights.words if word not in idle])
        return Wanted(text, kept if kept.words else weights, repaired)

    def alternatives(self, texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Every word of these texts, none left out."""
        return tuple(word_groups(" ".join(texts), self._lexical.languages())) if texts else ()

    def _repairs(
        self, query: Query, languages: list[str], weights: Weights
    ) -> list[tuple[str, str]]:
        quoted = {word for phrase in query.phrases for word in words(phrase)}
        candidates = [
            word
            for word in dict.fromkeys(words(query.text))
            if len(word) >= _LEAST_LETTERS and word.isalpha() and word not in quoted
        ]
        groups = {word: word_groups(word, languages) for word in candidates}
        single = {word: found[0] for word, found in groups.items() if len(found) == 1}
        known = {word for word, n in zip(weights.words, weights.counts, strict=True) if n}
        repairs: list[tuple[str, str]] = []
        for word, group in single.items():
            if group not in known and (near := self._nearest(word, group)):
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
