"""The search terms of a question: its content words, spelling corrected. Any thread."""

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from desktop_rag.core.language.languages import (
    OTHER_LATIN,
    UNKNOWN,
    function_words,
    likely_language,
    question_language,
)
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.query import Query
from desktop_rag.core.question import Readable
from desktop_rag.core.terms import holds_phrase, terms, word_groups
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
_POSSESSIVE = re.compile(r"['’]s?$")
_EDGES = re.compile(r"^\W+|\W+$")


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


def _strange(written: Sequence[str], unknown: Sequence[str]) -> set[str]:
    """The unknown words that tell the language, where they are most of all; else none."""
    idle = function_words(written)
    telling = [word for word in written if len(word) >= _TELLING_LETTERS and word not in idle]
    missing = {word for word in telling if word in unknown}
    is_most = len(missing) > max(1, len(telling) - len(missing))
    return missing if is_most else set()


def _capitalised(text: str) -> set[str]:
    """Capitalised words inside a sentence, unless all words are capitalised."""
    spoken = [words(text[start:end]) for start, end in sentences(text)]
    if all(word[0].isupper() for sentence in spoken for word in sentence if word[0].isalpha()):
        return set()
    inner = {word for sentence in spoken for word in sentence[1:] if word[0].isupper()}
    return inner | {
        word for sentence in spoken for word in sentence if word[1:] != word[1:].lower()
    }


@dataclass(frozen=True, slots=True)
class MissingName:
    """A name or code of a question that no passage has.

    It `is_certain` when no language has another word for it.
    """

    text: str
    is_certain: bool


# A number of an invoice, a part or a contract: digits with letters, or in several parts.
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_]|\d{3,}[-/]\d|\d+[-/]\d{3,}|\d{5,}$)[\w/-]{4,}")
_DATE = re.compile(
    r"\d{4}[-/]\d\d?(?:[-/]\d\d?)?|\d\d?[-/]\d\d?[-/]\d{2,4}|(?:19|20)\d\d[-/]\d{2,4}"
)
_NUMBERED = re.compile(r"\d{3,}")
# Behind these a German noun is no name.
_ARTICLE = re.compile(
    r"d(?:er|ie|as|e[mns])|(?:[kms]?ein|unser|ihr|welch|all|jed|viel)\w{0,2}|zu[mr]|[ai]m|vom|beim"
)
_LEAST_FORM = 5
_ACRONYM_LETTERS = range(2, 7)
_MOST_CODES = 50


def named_things(text: str, is_known: Callable[[str], bool]) -> list[tuple[str, ...]]:
    """The names and codes of a question, in its order, each as the words written together.

    A name begins with a capital letter inside a sentence. In German so do all nouns: there it has
    no article, and `is_known` as no word of any language.
    """
    language = likely_language(text)
    is_german = (language or question_language(text)) in {_CAPITAL_NOUNS, OTHER_LATIN}
    capitals = _capitalised(text)
    found: list[tuple[str, ...]] = []
    before, goes_on = "", False
    for written in text.split():
        word = _POSSESSIVE.sub("", _EDGES.sub("", written))
        is_name = bool({word, _EDGES.sub("", written)} & capitals) and len(word) > 1
        if is_german:
            is_name = is_name and not (_ARTICLE.fullmatch(before) or is_known(word))
        is_code = bool(_CODE.fullmatch(word)) and not _DATE.fullmatch(word)
        if goes_on and (is_name or is_code or _NUMBERED.fullmatch(word)):
            found[-1] = (*found[-1], word)
        elif is_name or is_code:
            found.append((word,))
        goes_on = (is_name or is_code) and written.endswith(word)
        before = word.casefold()
    return found


def is_written_out(name: str, texts: Iterable[str]) -> bool:
    """True when capitalised words of a text begin with the letters of an acronym, in their order.

    Up to two small words may stand between them: MIT, Massachusetts Institute of Technology.
    """
    if not (name.isalpha() and name.isupper() and len(name) in _ACRONYM_LETTERS):
        return False
    long = re.compile(r"\b" + r"\w*[\s-]+(?:[a-z]+\s+){0,2}".join(name) + r"\w")
    return any(map(long.search, texts))


def without_names(text: str, names: Sequence[Sequence[str]]) -> str:
    """The question without the words of these names."""
    words_in = "|".join(re.escape(word) for name in names for word in name)
    left = re.sub(rf"(?<!\w)(?:{words_in})(?:['’]s?)?(?!\w)", " ", text) if words_in else text
    return " ".join(left.split())


def made_of(text: str) -> list[str]:
    """What the measures of accounts that a text names are computed from, such as of a margin."""
    return [parts for named, parts in _measures() if named.search(text)]


@cache
def _measures() -> list[tuple[re.Pattern[str], str]]:
    path = resources_dir() / "retrieval" / "measures.toml"
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["measures"]
    return [(re.compile(rf"(?i)(?<!\w)(?:{row['named']})(?!\w)"), row["made_of"]) for row in rows]


# They tell no company from another.
_LEGAL_FORMS = frozenset(
    words("ab ag bv co corp gmbh inc kg llc llp ltd limited nv oy plc sa sarl sas sl spa srl")
)

# A beginning of few letters has many endings, the most frequent of which are enough while typing.
_MOST_COMPLETED = 8


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The content words of a question; `repaired` pairs a word as written with its correction.

    `respelled` is the text with these corrections where no word of it is spelled, else "".
    """

    words: Weights
    repaired: tuple[tuple[str, str], ...] = ()
    respelled: str = ""


class SearchQuestion:
    """A question for both rankings.

    The words are read on first use.
    """

    def __init__(self, text: str, read: Callable[[], QuestionReading]) -> None:
        self.text = text
        # Not a `cached_property`: in Python 3.11 one question would wait for the words of another.
        self._read = cache(read)

    @property
    def reading(self) -> QuestionReading:
        """The content words. Used by one thread at a time."""
        return self._read()

    @property
    def meant(self) -> str:
        """What is embedded: models tolerate typos in some words, not in all."""
        return self.reading.respelled or self.text


def _respelled(text: str, repaired: Sequence[tuple[str, str]]) -> str:
    for written, used in repaired:
        text = re.sub(rf"\b{re.escape(written)}\b", used, text)
    return text


class QuestionReader:
    """Reads questions by the languages and the vocabulary of an index."""

    def __init__(
        self, lexical: LexicalStore, is_known: Callable[[str], bool] = lambda _: False
    ) -> None:
        """`is_known` says whether something is a word of any language, and so no typo."""
        self._lexical = lexical
        self._is_known = is_known

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
            repaired = self._corrected(query, languages, weights, readable)
        idle = word_groups(" ".join(function_words(words(text))), languages)
        respelled = ""
        if repaired:
            pairs = zip(weights.words, weights.counts, strict=True)
            if not any(count and group not in idle for group, count in pairs):
                respelled = _respelled(text, repaired)
            corrected = {
                group: used_group
                for written, used in repaired
                for group in word_groups(written, languages)
                for used_group in word_groups(used, languages)
            }
            whole = [corrected.get(group, group) for group in groups]
            weights = self._lexical.weigh(whole, readable)
        kept = weights.only([word for word in weights.words if word not in idle])
        return QuestionReading(kept if kept.words else weights, repaired, respelled)

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

    def named_things(self, text: str) -> list[tuple[str, ...]]:
        """The names and codes of a question; see the function of that name."""
        return named_things(text, self._is_known)

    def missing_names(self, text: str, readable: Readable | None = None) -> list[MissingName]:
        """The names and codes of a question that no passage has."""
        languages = list(self._lexical.languages(readable))
        # "Bienen" may be a name, or the word for bees.
        is_clear = question_language(text) not in {UNKNOWN, OTHER_LATIN}
        found: list[MissingName] = []
        for written in self.named_things(text):
            name = [word for word in written if word.casefold() not in _LEGAL_FORMS] or written
            missing = [word for word in name if not self._occurs(word, languages, readable)]
            if 2 * len(missing) >= len(name) and (len(name) == 1 or name[-1] in missing):
                is_certain = any(
                    not w.isalpha() or (is_clear and not self._is_known(w)) for w in missing
                )
                found.append(MissingName(" ".join(written), is_certain))
        return found

    def _occurs(self, word: str, languages: Sequence[str], readable: Readable | None) -> bool:
        """True when a passage has the word, as it is written or in another form."""
        groups = word_groups(word, languages)
        if not word.isalpha():
            holding = self._lexical.newest(
                _MOST_CODES, Scope(readable=readable, required=tuple(groups))
            )
            return any(holds_phrase(p.text, word) for p in self._lexical.passages(holding))
        if all(self._lexical.weigh(groups, readable).counts):
            return True
        begins = word.casefold()[: max(_LEAST_FORM, len(word) - 2)]
        is_long = len(word) >= _LEAST_FORM
        return is_long and any(
            term.startswith(begins[:-1])
            for term in self._lexical.terms_completing(begins, 1, readable)
        )

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

    # --- typos -----------------------------------------------------------------------------------

    def _corrected(
        self, query: Query, languages: Sequence[str], weights: Weights, readable: Readable | None
    ) -> tuple[tuple[str, str], ...]:
        """Pairs of a word as written and as a document spells it.

        An unknown word may as well be a name, a word for something else, or another form of a known
        word: only a very close match counts as a typo, and never a word that a model knows. One
        with mostly unknown words is in another language or about another subject, unless each is a
        typo. Long questions are left alone.
        """
        written = list(dict.fromkeys(words(query.text)))
        if len(written) > _LONGEST_QUESTION:
            return ()
        held = {group for group, n in zip(weights.words, weights.counts, strict=True) if n}
        groups = {word: word_groups(word, languages) for word in written}
        unknown = [word for word in written if not held.intersection(groups[word])]
        if not unknown:
            return ()
        untouched = {word for phrase in query.phrases for word in words(phrase)}
        if _CAPITAL_NOUNS not in languages[:1]:
            untouched |= _capitalised(query.text)
        candidates = [
            word
            for word in unknown
            if len(word) >= _LEAST_LETTERS
            and word.isalpha()
            and word not in untouched
            and len(groups[word]) == 1
        ]
        chosen = sorted(candidates, key=len, reverse=True)[:_MOST_LOOKED_UP]
        strange = _strange(written, unknown)
        if not strange <= set(chosen):
            return ()
        near = {word: self._nearest(word, groups[word][0], languages, readable) for word in chosen}
        found = tuple(
            (word, near[word]) for word in candidates if near.get(word) and not self._is_known(word)
        )
        return found if strange <= {word for word, _ in found} else ()

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
