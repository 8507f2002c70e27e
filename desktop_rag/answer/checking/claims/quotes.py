"""The place where a source has the very words of a claim, in any language. Pure, any thread.

White space, line breaks, list marks, punctuation, quotation marks, emphasis and letter case don't
count; figures and their signs do. A claim may be a part of a sentence when nothing that it leaves
out denies it or limits it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from unicodedata import normalize

import regex

from desktop_rag.answer.checking.claims.tokens import NUMBER
from desktop_rag.answer.checking.claims.words import listed, without_notes
from desktop_rag.core.text import sentences, words

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
_TOKEN = regex.compile(
    rf"(?V1)(?P<note>\[\d{{1,3}}\])|(?P<number>(?:(?<![\p{{L}}\p{{N}})\]])[-−])?(?:{NUMBER})"
    rf"|[⁻₋]?\p{{N}}++)|{_UNSPACED}\p{{M}}*+|[[\p{{L}}]--{_UNSPACED}][\p{{L}}\p{{M}}--{_UNSPACED}]*+"
    r"|[%‰€$£¥°]"
)
_MARK = regex.compile(r"(?m)^[^\S\n]*(?:\(?(?:\d{1,2}|[a-z])[.)]|[-+*•·–—>#|]+)[^\S\n]+")
_QUOTED = regex.compile(
    r"“([^”“]+)”|„([^“”„]+)[“”]|\"([^\"]+)\"|«([^»«]+)»|「([^」]+)」|『([^』]+)』"
)
# Fewer words, or characters of a script without spaces, could stand anywhere.
_LEAST = 3
_LEAST_QUOTED = 4
_LONGEST_LEAD = 6
# Stands between two figures: 1 2000 is not 12000.
_GAP = "|"
_STOPS = ",;:.!?…。！？；：、，()[]–—|\n"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Written:
    """A text as its letters, and where each token begins and ends there, and in the text."""

    letters: str
    starts: Sequence[int]
    ends: Sequence[int]
    spans: Sequence[Span]


class QuotableText:
    """A source whose words are found whatever stands between them."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _written(self) -> _Written:
        return _letters(self.text)

    @cached_property
    def _sentences(self) -> list[Span]:
        return sentences(self.text)

    def place_of(self, claim: str) -> Span | None:
        """Where the claim stands; None when it doesn't, or only beside what denies it."""
        said = _letters(claim)
        if len(said.spans) < _LEAST:
            return None
        for first, last in self._found(said):
            start, end = self._written.spans[first][0], self._written.spans[last][1]
            if not self._is_turned(start, end):
                return start, end
        return None

    def place(self, words: str) -> Span | None:
        """Where it has these words in this order, whatever stands around them."""
        said = _letters(words)
        found = next(self._found(said), None) if said.spans else None
        return found and (self._written.spans[found[0]][0], self._written.spans[found[1]][1])

    def place_of_quoted(self, claim: str) -> Span | None:
        """Where the words stand that a claim has in quotation marks, if it adds little to them."""
        spans = [m.span() for m in _QUOTED.finditer(claim) if len(words(m[0])) >= _LEAST_QUOTED]
        if len(spans) != 1:
            return None
        start, end = spans[0]
        lead, rest = words(claim[:start]), {word.casefold() for word in words(claim[end:])}
        rest |= {word.casefold() for word in lead}
        known = self._words | listed("function") | listed("framing") | listed("attributing")
        # "According to the policy" only tells where it stands, but for a name.
        if lead and lead[0].casefold() in listed("attributing") and len(lead) <= _LONGEST_LEAD:
            known |= {word for word in lead if word.islower()}
        is_plain = rest <= known and not rest & listed("negation")
        return self.place_of(claim[start + 1 : end - 1]) if is_plain else None

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.casefold() for word in words(self.text))

    def _found(self, said: _Written) -> Iterator[Span]:
        """The first and last tokens of each place with these letters, at the ends of tokens."""
        own, length = self._written, len(said.letters)
        at = own.letters.find(said.letters)
        while at >= 0:
            first = bisect_right(own.starts, at) - 1
            last = bisect_right(own.starts, at + length - 1) - 1
            if own.starts[first] == at and own.ends[last] == at + length:
                yield first, last
            at = own.letters.find(said.letters, at + 1)

    def _is_turned(self, start: int, end: int) -> bool:
        """True when the rest of its sentences has a negation or a condition in reach."""
        around = [span for span in self._sentences if span[0] < end and start < span[1]]
        if not around:
            return False
        before = self.text[around[0][0] : start]
        behind = self.text[end : around[-1][1]]
        cut = max(before.rfind(mark) for mark in ".;\n|")
        near = words(before[cut + 1 :])
        if not any(mark in behind[:2] for mark in _STOPS):
            near += words(behind.split(";")[0].split("\n")[0])
        else:
            near += [word for word in words(behind)[:1] if word.casefold() in listed("conditions")]
        turning = listed("negation") | listed("conditions")
        return any(word.casefold() in turning for word in near)


def _letters(text: str) -> _Written:
    letters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    spans: list[Span] = []
    length, was_number = 0, False
    plain = _MARK.sub(lambda mark: " " * len(mark[0]), without_notes(text))
    for match in _TOKEN.finditer(plain):
        if match["note"]:
            continue
        is_number = match["number"] is not None
        word = (
            normalize("NFKC", "".join(match[0].split()))
            .casefold()
            .replace("−", "-")
            .replace("’", "'")
        )
        if is_number and was_number:
            letters.append(_GAP)
            length += len(_GAP)
        letters.append(word)
        starts.append(length)
        length += len(word)
        ends.append(length)
        spans.append(match.span())
        was_number = is_number
    return _Written("".join(letters), starts, ends, spans)
