"""Finds the place at which a claim of an answer can be verified. Worker threads.

The place is about what the sources of the answer are about: one of their documents, or one that
shares a rare word of its name with them or with the claim. The report of another firm has the same
words, and would only mislead.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath

from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.sources.source_merging import numbered
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.language.function_words import function_words
from desktop_rag.core.query import Query
from desktop_rag.core.question import EVERYTHING, SearchScope
from desktop_rag.core.settings import RetrievalSettings
from desktop_rag.core.text import words
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import NameStore

# A false claim has words that no passage has, so the limit is lower than for an answer.
_LEAST_RELEVANCE = 0.05
_DEPTH = 10
# Words of a name that no more than this share of all names have tell what a document is about.
_RARE_SHARE = 0.25
_LEAST_LETTERS = 3
_NAME_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")


class PlacesToCheck:
    """Finds places to verify claims."""

    def __init__(self, finder: SourceFinder, names: NameStore) -> None:
        self._finder = finder
        self._names = names

    def best(
        self, claim: str, sources: Sequence[SourceRef], settings: RetrievalSettings
    ) -> SourceRef | None:
        """The place nearest to a claim of an answer with these sources; None when none is near."""
        query = Query(" ".join(words(claim)))
        own = {source.document_id for source in sources if source.is_in_library}
        for passage in self._near(query, settings, EVERYTHING):
            if passage.document_id in own or self._is_related(passage, claim, sources):
                return numbered([passage])[0]
        if own:
            within = replace(EVERYTHING, document_ids=tuple(sorted(own)))
            for passage in self._near(query, settings, within):
                return numbered([passage])[0]
        return None

    def _near(
        self, query: Query, settings: RetrievalSettings, reach: SearchScope
    ) -> Iterator[Passage]:
        found = self._finder.look_up(query, settings, limit=_DEPTH, reach=reach)
        return (p for p in found.passages if p.relevance >= _LEAST_RELEVANCE)

    def _is_related(self, passage: Passage, claim: str, sources: Sequence[SourceRef]) -> bool:
        known = set[str]().union(*(_name_words(source.path) for source in sources), _names(claim))
        return bool(self._rare(_name_words(passage.path) & known))

    def _rare(self, parts: Collection[str]) -> bool:
        """True when few names have one of the parts."""
        if not parts:
            return False
        found, total = self._names.matching(parts, (), (), Scope(), 1)
        frequency = (sum(g.count for g in found if part in g.parts) for part in parts)
        return any(0 < count <= max(1.0, _RARE_SHARE * total) for count in frequency)


def _name_words(path: str) -> set[str]:
    """The words of a file's name, without those that say nothing."""
    found = _NAME_WORD.findall(_CAMEL.sub(" ", PurePath(path).stem))
    plain = {word.casefold() for word in found if len(word) >= _LEAST_LETTERS}
    return plain - function_words(sorted(plain))


def _names(claim: str) -> set[str]:
    """The capitalised words of a claim, and each two of them joined, as in BESTBUY."""
    found = [word.split("'")[0].split("’")[0] for word in words(claim)]
    capital = [w.casefold() for w in found if w[:1].isupper() and len(w) >= _LEAST_LETTERS]
    return {*capital, *(a + b for a, b in pairwise(capital))}
