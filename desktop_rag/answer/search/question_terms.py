"""What is searched for: the words of a question that carry it, with typos mended. Any thread."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from desktop_rag.answer.search.spelling_correction import SpellingCorrector
from desktop_rag.core.function_words import function_words
from desktop_rag.core.query import Query
from desktop_rag.core.terms import terms, word_groups
from desktop_rag.core.text import words
from desktop_rag.store.contract.search import LexicalStore, Weights


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The words of a question that carry it.

    `words` leave out what only asks and joins; `repaired` has pairs of a word as written and as it
    is among `words`.
    """

    words: Weights
    repaired: tuple[tuple[str, str], ...] = ()


class Wanted:
    """A question for both searches.

    `text` is what is embedded, as it was written: models see through typos. The words are read
    when they are first asked for, which may be while the text is embedded.
    """

    def __init__(self, text: str, read: Callable[[], QuestionReading]) -> None:
        self.text = text
        self._read = read

    @cached_property
    def reading(self) -> QuestionReading:
        """Its words. Asked for on one thread at a time."""
        return self._read()


class QuestionReader:
    """Prepares questions for an index: its languages, its vocabulary."""

    def __init__(self, lexical: LexicalStore) -> None:
        self._lexical = lexical
        self._typos = SpellingCorrector(lexical)

    def read(self, query: Query) -> QuestionReading:
        """The words to look for. A word the index does not hold is mended when one is close."""
        languages = self._lexical.languages()
        text = query.text
        groups = word_groups(text, languages)
        weights = self._lexical.weigh(groups)
        repaired = self._typos.mend(query, languages, weights)
        if repaired:
            mended = {
                group: used_group
                for written, used in repaired
                for group in word_groups(written, languages)
                for used_group in word_groups(used, languages)
            }
            weights = self._lexical.weigh([mended.get(group, group) for group in groups])
        idle = word_groups(" ".join(function_words(words(text))), languages)
        kept = weights.only([word for word in weights.words if word not in idle])
        return QuestionReading(kept if kept.words else weights, repaired)

    def alternatives(self, text: str) -> tuple[tuple[str, ...], ...]:
        """The terms of a text, none left out, each as the languages of the library stem it."""
        if not text:
            return ()
        ways = [terms(text, language) for language in self._lexical.languages() or [""]]
        # No word has more terms in one language than in another.
        words_in = [tuple(dict.fromkeys(word)) for word in zip(*ways, strict=True)]
        return tuple(dict.fromkeys(words_in))
