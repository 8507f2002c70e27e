"""The search terms of a question: its content words, spelling corrected. Any thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from desktop_rag.answer.search.spelling_correction import SpellingCorrector
from desktop_rag.core.language.function_words import function_words
from desktop_rag.core.query import Query
from desktop_rag.core.question import Readable
from desktop_rag.core.terms import terms, word_groups
from desktop_rag.core.text import words
from desktop_rag.store.contract.search import LexicalStore, Weights

# A beginning of few letters has many endings, the most frequent of which are enough while typing.
_MOST_COMPLETED = 8


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The content words of a question.

    `words` leaves out function words; `repaired` pairs a word as written with its correction.
    """

    words: Weights
    repaired: tuple[tuple[str, str], ...] = ()


class SearchQuestion:
    """A question for both rankings.

    `text` is embedded as written, since models tolerate typos. The words are read on first use,
    which may be while the text is embedded.
    """

    def __init__(self, text: str, read: Callable[[], QuestionReading]) -> None:
        self.text = text
        self._read = read

    @cached_property
    def reading(self) -> QuestionReading:
        """The content words. Used by one thread at a time."""
        return self._read()


class QuestionReader:
    """Reads questions by the languages and the vocabulary of an index."""

    def __init__(
        self, lexical: LexicalStore, is_known: Callable[[str], bool] = lambda _: False
    ) -> None:
        """`is_known` says whether something is a word of any language, and so no typo."""
        self._lexical = lexical
        self._spelling = SpellingCorrector(lexical, is_known)

    def read(self, query: Query, readable: Readable | None = None) -> QuestionReading:
        """The content words. A word that the index lacks is corrected when a close one exists.

        With `readable` the index is what that covers.
        """
        languages = list(self._lexical.languages(readable))
        text = query.text
        groups = word_groups(text, languages)
        weights = self._lexical.weigh(groups, readable)
        half = self._completed(text, languages, weights, readable) if query.is_half_typed else None
        if half:
            groups = [half[1] if group == half[0] else group for group in groups]
            weights = self._lexical.weigh(groups, readable)
            repaired = ()
        else:
            repaired = self._spelling.correct(query, languages, weights, readable)
        if repaired:
            corrected = {
                group: used_group
                for written, used in repaired
                for group in word_groups(written, languages)
                for used_group in word_groups(used, languages)
            }
            whole = [corrected.get(group, group) for group in groups]
            weights = self._lexical.weigh(whole, readable)
        idle = word_groups(" ".join(function_words(words(text))), languages)
        kept = weights.only([word for word in weights.words if word not in idle])
        return QuestionReading(kept if kept.words else weights, repaired)

    def _completed(
        self, text: str, languages: Sequence[str], weights: Weights, readable: Readable | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The last word, which the index lacks, and the terms it may be the beginning of."""
        held = {group for group, n in zip(weights.words, weights.counts, strict=True) if n}
        last = (words(text) or [""])[-1]
        groups = word_groups(last, languages)
        if not text.endswith(last) or len(groups) != 1 or groups[0] in held:
            return None
        terms_found = self._lexical.terms_completing(terms(last)[0], _MOST_COMPLETED, readable)
        return (groups[0], terms_found) if terms_found else None

    def alternatives(
        self, text: str, readable: Readable | None = None
    ) -> tuple[tuple[str, ...], ...]:
        """All terms of a text, each in the stems of every language of the library."""
        if not text:
            return ()
        ways = [terms(text, language) for language in self._lexical.languages(readable) or {"": 0}]
        # Every language splits a text into the same number of terms.
        words_in = [tuple(dict.fromkeys(word)) for word in zip(*ways, strict=True)]
        return tuple(dict.fromkeys(words_in))
