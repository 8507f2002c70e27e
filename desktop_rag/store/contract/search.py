"""What finds by words, and what keeps that fast. Protocols and their values; any thread.

The constants of the ranking are part of the contract: every engine gives the same scores.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from desktop_rag.core.domain import Passage
from desktop_rag.store.contract.scope import EVERYWHERE, Scope

# Short passages gain little from length normalisation: measured against 1.2 and .75.
K1 = 0.9
B = 0.4
# A chunk is read with its neighbours: what they say counts this much of what it says itself,
# and their length this much.
NEIGHBOUR_SHARE = 0.65
NEIGHBOUR_LENGTH = 0.2

# A word is a tuple of alternative terms, such as its stems in several languages.
Words = Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Weights:
    """A question's words, the rarest first, with what searches by them need to know.

    Of each word its `idf` and the number of chunks it stands in (`counts`); `mean_length` is the
    mean number of terms in the chunks of the whole library, 1 without any.
    """

    words: tuple[tuple[str, ...], ...]
    idf: tuple[float, ...]
    counts: tuple[int, ...]
    mean_length: float

    def greatest(self, first: int = 0) -> float:
        """More than the words from `first` on can add to a score."""
        return sum(self.idf[first:]) * (K1 + 1)

    def only(self, words: Words) -> "Weights":
        """The same of some of the words."""
        kept = [n for n, word in enumerate(self.words) if word in words]
        return replace(
            self,
            words=tuple(self.words[n] for n in kept),
            idf=tuple(self.idf[n] for n in kept),
            counts=tuple(self.counts[n] for n in kept),
        )


class LexicalStore(Protocol):
    """Ranks chunks by the words of a question, with BM25 over the whole library.

    A word adds idf · tf · (K1 + 1) / (tf + K1 · (1 − B + B · length / mean length)) to the score
    of a chunk. tf is how often its alternative terms stand there together, a term of several words
    with the most frequent of them alone; length is the number of the chunk's terms; both stop at
    65,535. idf is ln(1 + max(½, N − n + ½) / (n + ½)) with N chunks in the library, n of them with
    the word: the sum over its terms. Scopes narrow what is found, never N, n or the mean length.
    Terms are compared exactly: making them of text is the business of `core.terms`.
    """

    def weigh(self, words: Words) -> Weights:
        """How rare each different word is. Once a question, for the searches that follow.

        n may count chunks that were deleted until `Upkeep.run` was done.
        """
        ...

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        """The `limit` chunks with the highest score: (chunk id, score), best first.

        Exact: no chunk that is left out scores more. Of equal scores the lower id comes first.
        Chunks without any of the words are never found.
        """
        ...

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """The scores of given chunks read with their neighbours; those without any are absent.

        A neighbour is the chunk before or after in the same document. Its words count
        NEIGHBOUR_SHARE, its length NEIGHBOUR_LENGTH of what they are: a passage that speaks of
        "it" is about what the one before names. Unknown chunks are absent.
        """
        ...

    def inside(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        """Those of the chunks that lie in the scope; unknown ones don't."""
        ...

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        """The ids of the documents that the chunks belong to; unknown chunks have none."""
        ...

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        """The first chunk of each of the `limit` documents in the scope that changed last.

        Chunk id → when the file was changed, in seconds; the newest first, then the lower id.
        """
        ...

    def languages(self) -> list[str]:
        """The languages of the documents, the most frequent first; "" is unknown."""
        ...

    def nearest_term(self, term: str, errors: int) -> str:
        """The term of the library with the fewest letters wrong, up to `errors`; "" without any.

        Its first letter is the same. An error is a letter too many, one missing, one changed, or
        two neighbours swapped. Of several the one in most chunks, then the first in the order of
        code points.
        """
        ...

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks, best first, then the lower id.

        Chunks deleted meanwhile are absent.
        """
        ...


class NameStore(Protocol):
    """Finds documents by what their files are called."""

    def holding(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
    ) -> tuple[dict[str, set[str]], int]:
        """Document id → those of all that its file's name holds; and how many there are in all.

        `words` must be whole words or numbers of the name: a run of letters and digits, or what is
        left of one when it is cut between letters and digits, before a capital after a small letter
        and before the last of several capitals with a small letter behind. `beginnings` must begin
        such a word, `pieces` may stand anywhere. Names are compared as filters are, see `Scope`.
        Only documents with chunks are looked at; the number in all is that of the whole library.
        """
        ...


class Upkeep(Protocol):
    """Work that keeps searches fast and the store small, when nothing else is to be done.

    It changes no result, but that weights no longer count what was deleted.
    """

    def is_due(self) -> bool:
        """Whether enough has changed. Takes milliseconds; an engine without need says False."""
        ...

    def run(self) -> None:
        """Do it now; may take minutes. Reads and writes go on meanwhile and keep their effect.

        One at a time. When it fails or the process ends, nothing has changed.
        """
        ...
