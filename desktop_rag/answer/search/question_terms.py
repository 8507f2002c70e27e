"""The search terms of a question: its content words, spelling corrected. Any thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from desktop_rag.core.language.languages import function_words
from desktop_rag.core.query import Query
from desktop_rag.core.question import Readable
from desktop_rag.core.terms import terms, word_groups
from desktop_rag.core.text import sentences, words
from desktop_rag.store.contract.search import LexicalStore, Scope, Weights

# A shorter word has too many neighbours; a long one may have two letters wrong.
_LEAST_LETTERS = 5
_TWO_ERRORS_FROM = 10
# Each look-up reads a part of the vocabulary.
_MOST_LOOKED_UP = 4
# The number of passages whose spellings of a term are compared.
_PASSAGES_READ = 30
# A longer question is pasted text.
_LONGEST_QUESTION = 40
# Words of this length show whether the question is in a language of the library.
_TELLING_LETTERS = 4
# In this language a capital letter does not mark a name.
_CAPITAL_NOUNS = "de"


class SpellingCorrector:
    """Corrects words that the library lacks, by its vocabulary.

    Such a word may as well be a name, a word for something else, or another form of a known word:
    only a very close match counts as a typo, and never a word that a model knows.
    """

    def __init__(self, lexical: LexicalStore, is_known: Callable[[str], bool]) -> None:
        self._lexical = lexical
        self._is_known = is_known

    def correct(
        self,
        query: Query,
        languages: Sequence[str],
        weights: Weights,
        readable: Readable | None = None,
    ) -> tuple[tuple[str, str], ...]:
        """Pairs of a word as written and as a document spells it.

        `languages` are those of the library, `weights` those of all words of the question. Long
        questions are left alone, and so are those with mostly unknown words, which are in another
        language or about another subject. With `readable` the library is what that covers.
        """
        written = list(dict.fromkeys(words(query.text)))
        if len(written) > _LONGEST_QUESTION:
            return ()
        held = {group for group, n in zip(weights.words, weights.counts, strict=True) if n}
        groups = {word: word_groups(word, languages) for word in written}
        unknown = [word for word in written if not held.intersection(groups[word])]
        if not unknown or _is_foreign(written, unknown):
            return ()
        untouched = {word for phrase in query.phrases for word in words(phrase)}
        if _CAPITAL_NOUNS not in languages[:1]:
            untouched |= _names(query.text)
        candidates = [
            word
            for word in unknown
            if len(word) >= _LEAST_LETTERS
            and word.isalpha()
            and word not in untouched
            and len(groups[word]) == 1
        ]
        chosen = sorted(candidates, key=len, reverse=True)[:_MOST_LOOKED_UP]
        near = {word: self._nearest(word, groups[word][0], languages, readable) for word in chosen}
        return tuple(
            (word, near[word]) for word in candidates if near.get(word) and not self._is_known(word)
        )

    def _nearest(
        self, word: str, group: tuple[str, ...], languages: Sequence[str], readable: Readable | None
    ) -> str:
        """The intended word as a document spells it; "" when none is close enough."""
        plain = word.casefold()
        errors = 2 if len(plain) >= _TWO_ERRORS_FROM else 1
        for stem in group:
            if term := self._lexical.nearest_term(stem, errors, readable):
                every = self._forms(term, readable)
                forms = [f for f in every if _is_slip(plain, f.casefold(), errors)]
                # A similar word may have another stem.
                same = [f for f in forms if any(term in g for g in word_groups(f, languages))]
                if same:
                    return min(
                        same, key=lambda f: (errors_between(plain, f.casefold()), f.swapcase())
                    )
        return ""

    def _forms(self, term: str, readable: Readable | None) -> set[str]:
        """The words of some passages with the term: terms are stems, people read words."""
        scope = Scope(readable=readable)
        scores = dict(self._lexical.best([(term,)], _PASSAGES_READ, scope))
        return {word for p in self._lexical.passages(scores) for word in words(p.text)}


def errors_between(one: str, other: str) -> int:
    """The Damerau-Levenshtein distance: letters added, missing, changed or swapped."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, counterpart in enumerate(other, 1):
            changed = before[j - 1] + (letter != counterpart)
            least = min(changed, before[j] + 1, row[j - 1] + 1)
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == counterpart:
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]


def _is_slip(written: str, near: str, errors: int) -> bool:
    # First letters are seldom wrong; liver, lives and live differ only in their endings.
    is_same_beginning = written[:1] == near[:1]
    if not is_same_beginning or abs(len(written) - len(near)) > errors:
        return False
    is_other_form = written.startswith(near) or near.startswith(written)
    return not is_other_form and errors_between(written, near) <= errors


def _is_foreign(written: Sequence[str], unknown: Sequence[str]) -> bool:
    idle = function_words(written)
    telling = [word for word in written if len(word) >= _TELLING_LETTERS and word not in idle]
    missing = sum(word in unknown for word in telling)
    return missing > max(1, len(telling) - missing)


def _names(text: str) -> set[str]:
    """Capitalised words inside a sentence, unless all words are capitalised."""
    spoken = [words(text[start:end]) for start, end in sentences(text)]
    if all(word[0].isupper() for sentence in spoken for word in sentence if word[0].isalpha()):
        return set()
    inner = {word for sentence in spoken for word in sentence[1:] if word[0].isupper()}
    return inner | {word for sentence in spoken for word in sentence if not _is_plain(word)}


def _is_plain(word: str) -> bool:
    return word[1:] == word[1:].lower()


# A beginning of few letters has many endings, the most frequent of which are enough while typing.
_MOST_COMPLETED = 8


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The content words of a question; `repaired` pairs a word as written with its correction."""

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
        """The content words; one that the index lacks is corrected when a close one exists.

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
