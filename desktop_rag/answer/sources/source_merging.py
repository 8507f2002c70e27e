"""Turns ranked passages into the sources of an answer: joins neighbours, folds duplicates, keeps
the best that fit, groups them by document.

Pure except for the document reader that is passed in; any thread.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from desktop_rag.core.conversation import Message, SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.language.languages import function_words
from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor
from desktop_rag.core.places import Places, places_from_json

CountTokens = Callable[[Sequence[str]], list[int]]
# Gives the whole text of a document, None without one, and its places as JSON.
ReadContent = Callable[[str], tuple[str | None, str]]
Found = TypeVar("Found", Passage, SourceRef)

# About three chunks: one document must not crowd out all others.
MOST_JOINED_TOKENS = 600
# The widest white space between passages that are joined.
_WIDEST_GAP = 64
# A sign belongs to its number: 5 degrees are not −5 degrees.
_WORD = re.compile(r"[-−]?\w+")
# Two passages with this share of the same runs of words are copies.
_COPY_SHARE = 0.9
_RUN_WORDS = 5


def choose_sources(
    found: Sequence[Passage],
    read_content: ReadContent,
    count_tokens: CountTokens,
    *,
    most: int,
    most_tokens: int,
) -> tuple[SourceRef, ...]:
    """Up to `most` numbered sources of at most `most_tokens` in total, from ranked passages."""
    passages = folded(joined(found, read_content, count_tokens))
    return numbered(grouped(fitting(passages, count_tokens, most=most, most_tokens=most_tokens)))


def not_by_app(found: Iterable[Found], named: Collection[str] = ()) -> tuple[Found, ...]:
    """What was found without the app's own words, which prove nothing, unless their file is named.

    A passage may have been widened to a note around it.
    """
    return tuple(one for one in found if not one.anchor.by_app or one.document_id in named)


def numbered(passages: Sequence[Passage]) -> tuple[SourceRef, ...]:
    """The passages in order, as sources 1, 2, 3 …"""
    return tuple(
        SourceRef(
            n=n,
            document_id=p.document_id,
            path=p.path,
            title=p.title or Path(p.path).stem,
            anchor=p.anchor,
            text=p.text,
            score=p.score,
            start=p.start,
            end=p.end,
            part=p.part,
            url=p.url,
            also_in=p.also_in,
        )
        for n, p in enumerate(passages, start=1)
    )


def fitting(
    passages: Sequence[Passage], count_tokens: CountTokens, *, most: int, most_tokens: int
) -> list[Passage]:
    """The best whole passages that fit, in order; the very best one always."""
    kept: list[Passage] = []
    left = most_tokens
    for passage, tokens in zip(passages, count_tokens([p.text for p in passages]), strict=True):
        if len(kept) < most and (tokens <= left or not kept):
            kept.append(passage)
            left -= tokens
    return kept


def grouped(passages: Sequence[Passage]) -> list[Passage]:
    """The passages grouped by document, at the position of its best one."""
    places: dict[str, int] = {}
    for passage in passages:
        places.setdefault(passage.document_id, len(places))
    return sorted(passages, key=lambda passage: places[passage.document_id])


# --- duplicates -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Text:
    """A passage with its words, its best rank, and its duplicates."""

    passage: Passage
    words: str
    place: int
    runs: frozenset[str]
    repeats: list[Passage] = field(default_factory=list[Passage])

    def takes_in(self, other: "_Text") -> bool:
        """True when the other one adds nothing; a short one of better rank stays."""
        is_most_of_it = 2 * len(other.words) >= len(self.words)
        is_inside = other.words in self.words and (is_most_of_it or other.place > self.place)
        return is_inside or self._is_copy_of(other)

    def _is_copy_of(self, other: "_Text") -> bool:
        """True for nearly the same text with the same figures, names and small words."""
        least = _COPY_SHARE * max(len(self.runs), len(other.runs))
        return 0 < least <= len(self.runs & other.runs) and _telling(self) == _telling(other)


def folded(found: Sequence[Passage]) -> list[Passage]:
    """The passages without repeats, each at its group's best rank; `also_in` names the others."""
    texts = [_Text(p, _words(p.text), place, runs_of(p.text)) for place, p in enumerate(found)]
    kept: list[_Text] = []
    for text in sorted(texts, key=lambda t: (-len(t.words), t.place)):
        home = next((other for other in kept if other.takes_in(text)), None)
        if home is None:
            kept.append(text)
        else:
            home.place = min(home.place, text.place)
            home.repeats.append(text.passage)
    kept.sort(key=lambda text: text.place)
    return [_with_repeats(t.passage, found[t.place].score, t.repeats) for t in kept]


def _with_repeats(passage: Passage, score: float, repeats: Sequence[Passage]) -> Passage:
    if not repeats:
        return passage
    same = [passage, *repeats]
    known = dict.fromkeys(w for p in same for w in (*p.also_in, _where(p)) if w != _where(passage))
    relevance = max(p.relevance for p in same)
    return replace(passage, score=score, relevance=relevance, also_in=tuple(known))


def runs_of(text: str) -> frozenset[str]:
    """The runs of some words, by which texts are compared."""
    words = _WORD.findall(text.casefold())
    return frozenset(
        " ".join(words[n : n + _RUN_WORDS]) for n in range(len(words) - _RUN_WORDS + 1)
    )


def _telling(text: _Text) -> list[str]:
    """The words of which one alone changes what is said, such as figures, names and "not"."""
    words = _WORD.findall(text.passage.text)
    small = function_words(words)
    return [word for word in words if word in small or word != word.lower() or not word.isalpha()]


def _words(text: str) -> str:
    words = _WORD.findall(text.casefold()) or text.split()
    return f" {' '.join(words)} "


def _where(passage: Passage) -> str:
    inside = f"{HEADING_SEPARATOR}{passage.part}" if passage.part else ""
    return passage.url or f"{passage.path}{inside}"


# --- neighbours -----------------------------------------------------------------------------------


def joined(
    found: Sequence[Passage],
    read_content: ReadContent,
    count_tokens: CountTokens,
    most_tokens: int = MOST_JOINED_TOKENS,
) -> list[Passage]:
    """The passages, with those of a document joined that touch, overlap, or are white space apart.

    Each is the text [start, end) of its document, and none overlap. Passages that would exceed
    `most_tokens` together are not joined; the better one keeps the overlap.
    """
    documents: dict[str, list[tuple[int, Passage]]] = {}
    for place, passage in enumerate(found):
        documents.setdefault(passage.document_id, []).append((place, passage))
    ranked: list[tuple[int, Passage]] = []
    for document_id, passages in documents.items():
        text, places = read_content(document_id) if len(passages) > 1 else (None, "")
        if text is None or any(text[p.start : p.end] != p.text for _, p in passages):
            # Nothing to join, or the document has just changed.
            ranked += passages
            continue
        whole = {(p.start, p.end) for _, p in passages}
        ranked += [
            (place, p if (p.start, p.end) in whole else _placed(p, places))
            for place, p in _apart(passages, text, lambda t: count_tokens([t])[0] <= most_tokens)
        ]
    return [passage for _, passage in sorted(ranked, key=lambda item: item[0])]


def _placed(passage: Passage, places: str) -> Passage:
    return replace(passage, anchor=place_of(places, passage.start, passage.end) or passage.anchor)


def _apart(
    passages: Iterable[tuple[int, Passage]], text: str, is_short: Callable[[str], bool]
) -> list[tuple[int, Passage]]:
    """Grow each passage from the best remaining one, best neighbours first, while it is short."""
    left = [(place, passage) for place, passage in passages if passage.text.strip()]
    done: list[tuple[int, Passage]] = []
    while left:
        place, best = left.pop(0)
        n = 0
        while n < len(left):
            if one := _union(best, left[n][1], text, is_short):
                del left[n]
                best, n = one, 0
            else:
                n += 1
        rests = ((rank, _without(other, best, text)) for rank, other in left)
        left = [(rank, rest) for rank, rest in rests if rest]
        done.append((place, best))
    return done


def _union(
    best: Passage, other: Passage, text: str, is_short: Callable[[str], bool]
) -> Passage | None:
    """Both as one; None for what doesn't touch, is too long, or is on another slide or sheet: a
    source shows one only. Pages may be joined.
    """
    first, last = sorted((best, other), key=lambda passage: passage.start)
    gap = text[min(first.end, last.end) : last.start]
    start, end = first.start, max(first.end, last.end)
    is_inside = end - start == max(len(best.text), len(other.text))
    if _view(first) != _view(last) or len(gap) > _WIDEST_GAP or gap.strip():
        return None
    if not (is_inside or is_short(text[start:end])):
        return None
    relevance = max(best.relevance, other.relevance)
    return replace(
        best, start=start, end=end, text=text[start:end], anchor=first.anchor, relevance=relevance
    )


def _view(passage: Passage) -> tuple[int | None, str | None, bool | None]:
    return passage.anchor.slide, passage.anchor.sheet, passage.anchor.by_app


def _without(passage: Passage, taken: Passage, text: str) -> Passage | None:
    """The rest of a passage outside another one; None when that is white space."""
    start, end = passage.start, passage.end
    if start < taken.end and taken.start < end:
        before, after = (start, max(start, taken.start)), (min(end, taken.end), end)
        start, end = max(before, after, key=lambda part: part[1] - part[0])
        start += len(text[start:end]) - len(text[start:end].lstrip())
    rest = text[start:end]
    return replace(passage, start=start, end=end, text=rest) if rest.strip() else None


def place_of(places: str, start: int, end: int) -> Anchor | None:
    """The place of document text [start, end), from the places as JSON; None without any."""
    marks, headings, _ = places_from_json(places)
    return Places(marks, headings).anchor(start, end) if marks or headings else None


# --- sources of the previous answer ---------------------------------------------------------------


def sources_before(history: Sequence[Message], read_content: ReadContent) -> tuple[SourceRef, ...]:
    """The cited sources of the last answer, else all, unless their document has changed."""
    shown = next((message.sources for message in reversed(history) if message.sources), ())
    # The result of a query belongs to its own question.
    last = [source for source in shown if not source.query]
    cited = [source for source in last if source.is_cited]
    whole = [_uncited(source, read_content(source.document_id)[0]) for source in cited or last]
    return numbered_anew([source for source in whole if source])


def with_earlier(found: Sequence[SourceRef], earlier: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
    """The found sources, then the other earlier ones, which a full prompt drops first."""
    least = min((source.score for source in found), default=0.0)
    others = [e for e in earlier if not any(_overlap(e, source) for source in found)]
    kept = [replace(e, score=least - n) for n, e in enumerate(others, start=1)]
    return numbered_anew([*found, *kept])


def located(read_content: ReadContent, sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
    """The sources, each cited one at the place of its quote, such as a row of a table."""

    @cache  # a list of records cites one document hundreds of times
    def places_of(document_id: str) -> Places | None:
        marks, headings, _ = places_from_json(read_content(document_id)[1])
        return Places(marks, headings) if marks or headings else None

    return tuple(
        replace(source, anchor=places.anchor(source.start, source.end))
        if source.quote and (places := places_of(source.document_id)) is not None
        else source
        for source in sources
    )


def numbered_anew(sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
    """The sources, renumbered 1, 2, 3 …"""
    return tuple(replace(source, n=n) for n, source in enumerate(sources, start=1))


def _uncited(source: SourceRef, text: str | None) -> SourceRef | None:
    """The whole passage of a source again; None when the document no longer has it there."""
    place = source.text.find(source.quote)
    while place >= 0 and text is not None:
        start = source.start - place
        end = start + len(source.text)
        if start >= 0 and text[start:end] == source.text:
            return replace(source, quote="", is_cited=False, start=start, end=end)
        # The quote may occur in the passage more than once.
        place = source.text.find(source.quote, place + 1) if source.quote else -1
    return None


def _overlap(one: SourceRef, other: SourceRef) -> bool:
    is_same = one.document_id == other.document_id
    return is_same and one.start < other.end and other.start < one.end
