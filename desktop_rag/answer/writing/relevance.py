"""Whether passages are about a question: its names, its words and its meaning. Worker threads."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from desktop_rag.answer.search.meaning import Meaning
from desktop_rag.answer.search.question_terms import MissingName, QuestionReader, is_written_out
from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.answer.writing.excerpt_candidates import (
    Candidate,
    Surroundings,
    all_candidates,
    asked_words,
    content_words,
    is_at_an_end,
    whole_passage,
)
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.languages import ENGLISH_MODEL, OTHER_LATIN, question_language
from desktop_rag.core.query import Query
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.search import NameStore

# A piece is about a question from this sum on: the share of its words, in the piece and in its
# passage, and the similarity. It is the same in a library of one file and in a large one. In
# another language the words are others, so that the similarity stands alone.
_ABOUT = 0.7
# An answer whose first piece has less is said with “perhaps”.
_SURELY_ABOUT = 1.0
_ABOUT_ACROSS, _DOUBTFUL_ACROSS = 0.24, 0.36
# What is asked of a name has at least this sum for a piece: the name alone is not enough.
_ABOUT_BARE, _SURELY_BARE = 0.25, 0.7
_SHORTEST_END = 4
_LEAST_NAMED = 2


@dataclass(frozen=True, slots=True)
class Doubt:
    """What no answer is made of: the sources with the numbers `apart`, which aren't about the names
    of a question, and those `of_others`; also pieces that have only the names. The question is
    `bare` without these, "" where it has none. Doubt `is_great` where search found nothing relevant
    either. The words `asking`, as "high" in "how high is", are no part of what it is about.
    """

    apart: frozenset[int] = frozenset()
    bare: str = ""
    is_great: bool = False
    of_others: frozenset[int] = frozenset()
    asking: frozenset[str] = frozenset()


class _Nearness(NamedTuple):
    """How near a piece is by words and meaning, and by meaning alone across languages, else 0."""

    whole: float = 1.0
    across: float = 1.0

    def reaches(self, least: float, least_across: float) -> bool:
        return self.whole >= least or self.across >= min(least, least_across)


def relevance_of(
    question: str,
    sources: Sequence[SourceRef],
    meaning: Meaning,
    surroundings: Mapping[int, Surroundings],
    doubt: Doubt,
) -> tuple[bool, frozenset[tuple[int, int]]]:
    """Whether a piece, which is no question itself, is near enough to a question, and the places of
    those that surely are: the number of the source, and where they begin in it.
    """
    found = all_candidates(sources, asked_words(question), surroundings, any_row=True)
    found = found or [c for source in sources for c in whole_passage(source)]
    pieces = [c for c in found if not c.unit.text.endswith(("?", "？"))]
    passages = {
        s.n: frozenset[str]().union(*(c.terms for c in found if c.n == s.n)) for s in sources
    }

    def near(asked: str, words: Collection[str]) -> list[_Nearness]:
        similar = similarity(asked, pieces, meaning).tolist()
        held = [(c.terms | c.named, passages[c.n] | c.named) for c in pieces]
        shares = [(_held_share(words, own) + _held_share(words, all_)) / 2 for own, all_ in held]
        return [
            _Nearness(share + each, each if is_across(c, meaning) else 0.0)
            for c, share, each in zip(pieces, shares, similar, strict=True)
        ]

    asked, left = content_words(question), content_words(doubt.bare) if doubt.bare else set[str]()
    bare = near(doubt.bare, left) if left else [_Nearness()] * len(pieces)
    # What is asked of a row may be under any name of a column.
    rows = [bool(c.unit.cells) and _is_asked_for(c.unit.cells[0], question) for c in pieces]
    sure = frozenset(
        (c.n, c.unit.start)
        for c, one, more, is_row in zip(pieces, near(question, asked), bare, rows, strict=True)
        if is_row
        or (
            one.reaches(_SURELY_ABOUT, _DOUBTFUL_ACROSS)
            and more.reaches(_SURELY_BARE, _DOUBTFUL_ACROSS)
        )
    )
    across = _DOUBTFUL_ACROSS if doubt.is_great or doubt.apart else _ABOUT_ACROSS
    is_of_more = any(rows) or any(each.reaches(_ABOUT_BARE, across) for each in bare)
    least = near(question, asked - doubt.asking or asked)
    is_about = is_of_more and any(each.reaches(_ABOUT, across) for each in least)
    return is_about or any(_is_named(c, asked, asked - left) for c in pieces), sure


def _is_named(piece: Candidate, asked: Collection[str], names: Collection[str]) -> bool:
    """True where a file bears two words of a question, or a piece has one of its `names`, which are
    not all of it, and one more: that may be said in other words, or in another language.
    """
    others = set(asked) - set(names)
    return len(words_held(asked, piece.named)) >= _LEAST_NAMED or bool(
        words_held(names, piece.terms) and words_held(others, piece.terms)
    )


def _is_asked_for(cell: str, question: str) -> bool:
    said = content_words(cell)
    return any(map(str.isalpha, said)) and said <= content_words(question)


def _held_share(asked: Collection[str], held: Collection[str]) -> float:
    return len(words_held(asked, held)) / len(asked)


def words_held(asked: Collection[str], held: Collection[str]) -> set[str]:
    """The asked words that are held, be it at an end of another: "tank" in "oiltank"."""
    return {
        word
        for word in asked
        if word in held
        or (len(word) >= _SHORTEST_END and any(is_at_an_end(word, other) for other in held))
    }


def in_other_languages(
    question: str, meaning: Meaning | None, surroundings: Mapping[int, Surroundings]
) -> frozenset[int]:
    """The numbers of the sources in another language than the question: words say nothing there."""
    asked = meaning.language if meaning else question_language(question)
    return frozenset(
        n for n, around in surroundings.items() if _is_other_language(around.language, asked)
    )


def is_across(piece: Candidate, meaning: Meaning) -> bool:
    """True for a piece in another language than the question."""
    return _is_other_language(piece.language, meaning.language)


def _is_other_language(known: str, asked: str) -> bool:
    if not known or asked == OTHER_LATIN:
        # The question may be in any but English.
        return known in ENGLISH_MODEL - {""}
    return known not in ENGLISH_MODEL if asked in ENGLISH_MODEL else known != asked


def similarity(
    question: str, candidates: Sequence[Candidate], meaning: Meaning
) -> NDArray[np.float64]:
    """How near each piece is to a question, 0 for what has nothing in common with it."""
    return meaning.nearness(
        [_meant(c) for c in candidates], [c.language for c in candidates], question
    )


def _meant(candidate: Candidate) -> str:
    """The words whose meaning is compared: figures have none."""
    unit = candidate.unit
    said = f"{unit.caption} {unit.cells[0]}" if unit.is_figures else f"{unit.lead} {unit.text}"
    return said.strip()


# A shorter beginning of a name may begin another.
_SHORTEST_FORM = 4
_FIRM = re.compile(
    r"(?:The )?(?!The\b)((?:[A-Z][\w&’'-]+ ){0,2}[A-Z][\w&’'-]+),? (?:GmbH|AG|SE|KG|e\. ?V\.|Inc"
    r"|Ltd|Limited|LLC|LLP|plc|PLC|Corp|Corporation|Company|Co|S\.?A\.?S?|SARL|B\.?V|N\.?V|AB|AS|Oy"
    r"|S\.p\.A|S\.r\.l)\b"
)
_OURS = re.compile(
    r"(?i)\b(?:we|ours?|wir|uns|unser\w*|nous|notre|nos|nuestr[oa]s?|nostr[oaie]|onze|noss[oa]s?)\b"
)
_MOST_FIRMS = 6
# A firm that more of the files name may be the person's own.
_OWN_SHARE = 0.05


class NamesAsked:
    """Tells which passages are about the names in a question, or about the person's own firm."""

    def __init__(
        self,
        reader: QuestionReader,
        count_files: Callable[[Query, int], int],
        documents: DocumentStore,
        names: NameStore,
    ) -> None:
        """`count_files` gives the number of files that a query may find, up to a number."""
        self._reader = reader
        self._count_files = count_files
        self._documents = documents
        self._names = names

    def apart(
        self,
        names: Sequence[Sequence[str]],
        request: AnswerRequest,
        sources: Sequence[SourceRef],
        across: frozenset[int],
    ) -> frozenset[int]:
        """The sources that aren't about the names in a question: no passage has one, or their own
        document none. In another language, as `across`, a name that is a word may be another one,
        unless a document has it.
        """
        missing = self.missing(request, sources)
        if any(name.is_certain for name in missing):
            return frozenset(source.n for source in sources)
        held = cache(self._plain_text)
        last = [name[-1].casefold() for name in names]
        begins = [word[: max(_SHORTEST_FORM, len(word) - 2)] for word in last]
        named = () if missing else begins
        holding = {s.n for s in sources if any(b in held(s.document_id) for b in named)}
        return frozenset(
            s.n
            for s in sources
            if (missing or begins) and s.n not in holding and (holding or s.n not in across)
        )

    def of_others(self, question: str, sources: Sequence[SourceRef]) -> frozenset[int]:
        """The sources in which another firm reports, where a question asks for "our" things."""
        is_of_others = cache(self._is_of_others)
        asked = sources if _OURS.search(question) else ()
        return frozenset(s.n for s in asked if is_of_others(s.document_id))

    def missing(self, request: AnswerRequest, sources: Sequence[SourceRef]) -> list[MissingName]:
        """The names of the question that no passage has, nor writes out, and no name of a file."""
        readable = request.setup.reach.readable
        found = self._reader.missing_names(request.question, readable)
        texts = [source.text for source in sources]
        found = [name for name in found if not is_written_out(name.text, texts)]
        # Whether there is such a file is not for everyone to know.
        return [n for n in found if readable or not self._names.completing(n.text, 1)]

    def _is_of_others(self, document_id: str) -> bool:
        """True where a file bears the name of the firm that it names most, hardly another file
        names that, and none of the firms that it names is named by more.
        """
        text = self._documents.content(document_id)[0] or ""
        firms = [name for name, _ in Counter(_FIRM.findall(text)).most_common(_MOST_FIRMS)]
        paths = "".join(document.path.stem for document in self._documents.get([document_id]))
        most = int(_OWN_SHARE * self._documents.counts().searchable)
        if not firms or _letters(firms[0]) not in _letters(paths) or not most:
            return False
        counts = [self._count_files(Query(n, phrases=(n,)), most + 1) for n in firms]
        return max(counts) <= max(1, counts[0]) <= most

    def _plain_text(self, document_id: str) -> str:
        """The text of a document with its path and title, in lower case."""
        text = self._documents.content(document_id)[0] or ""
        names = (f"{d.path} {d.title}" for d in self._documents.get([document_id]))
        return " ".join([*names, text]).casefold()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
