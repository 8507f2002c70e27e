"""Further topics of the documents of an answer: their other headings, and phrases of its sources.

Pure except for the document reader that is passed in; any thread. Phrases are runs of words without
function words (RAKE: Rose et al., 2010, "Automatic keyword extraction from individual documents")
that occur more than once or are capitalised.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from desktop_rag.answer.sources.source_merging import ReadContent
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.function_words import function_words
from desktop_rag.core.parsed import Heading
from desktop_rag.core.places import Places, places_from_json
from desktop_rag.core.text import sentences, words

_MOST_DOCUMENTS = 4
_MOST_HEADINGS = 25
_LONGEST_CHARS = 70
_PHRASE_WORDS = (2, 4)
# Section numbers such as "3.2", "IV.", "§ 4", "Note 7." are dropped.
_NUMBERED = "note|chapter|section|part|item|article|appendix"
_NUMBERING = re.compile(
    rf"^\s*(?:§\s*|(?i:{_NUMBERED})\s+)?(?:\d+(?:\.\d+)*|[IVXLC]+)[.):]?\s+(?:[-–—]\s+)?(?=\w)"
)
_LEAST_LETTERS = 3
_LEAST_CONTENT_WORDS = 2


@dataclass(frozen=True, slots=True)
class Topic:
    """A few words to ask about, and the document that has them."""

    text: str
    document_id: str


def topics(sources: Sequence[SourceRef], read_content: ReadContent) -> Iterator[Topic]:
    """Headings, those nearest to the cited places first, then phrases; each once."""
    seen: set[str] = set()
    for topic in (*_headings(sources, read_content), *_phrases(sources)):
        plain = topic.text.casefold()
        if plain not in seen:
            seen.add(plain)
            yield topic


def _headings(sources: Sequence[SourceRef], read_content: ReadContent) -> list[Topic]:
    """The headings of the documents in turn, so that a long one does not dominate."""
    firsts = {source.document_id: source for source in reversed(sources)}
    documents = list(dict.fromkeys(source.document_id for source in sources))[:_MOST_DOCUMENTS]
    columns: list[list[Topic]] = []
    for document_id in documents:
        source = firsts[document_id]
        _, headings, _ = places_from_json(read_content(document_id)[1])
        places = Places((), headings)
        above = set(places.path(source.start)) | set(places.path(source.end))
        others = [h for h in headings if h.title not in above]
        others.sort(key=lambda heading: abs(heading.offset - source.start))
        texts = [_named(heading, places, source.title) for heading in others[:_MOST_HEADINGS]]
        columns.append([Topic(text, document_id) for text in texts if text])
    rows = max(map(len, columns), default=0)
    return [column[row] for row in range(rows) for column in columns if row < len(column)]


def _named(heading: Heading, places: Places, title: str) -> str:
    """The heading, with its parent if needed to stand alone; "" when that is too long."""
    text = _plain(heading.title)
    if len(_content_words(text)) < _LEAST_CONTENT_WORDS:
        # "Installation" alone could be about anything.
        above = [_plain(name) for name in places.path(heading.offset)[:-1]]
        text = f"{(above or [_plain(title)])[-1]} – {text}"
    says_something = len(_content_words(text)) >= _LEAST_CONTENT_WORDS
    return text if says_something and len(text) <= _LONGEST_CHARS else ""


def _plain(title: str) -> str:
    return _NUMBERING.sub("", " ".join(title.split())).strip(" :#*_")


def _content_words(text: str) -> list[str]:
    """The content words of a text."""
    written = words(text)
    idle = function_words(written)
    letters = [word for word in written if sum(c.isalpha() for c in word) >= _LEAST_LETTERS]
    return [word for word in letters if word not in idle]


def _phrases(sources: Sequence[SourceRef]) -> list[Topic]:
    """Phrases, the longest and most frequent first."""
    counts: Counter[str] = Counter()
    homes: dict[str, str] = {}
    for source in sources:
        for start, end in sentences(source.text):
            for phrase in _phrases_in(source.text[start:end]):
                counts[phrase] += 1
                homes.setdefault(phrase, source.document_id)
    kept = [phrase for phrase, count in counts.items() if count > 1 or _is_name(phrase)]
    kept.sort(key=lambda phrase: -counts[phrase] * len(phrase.split()))
    return [Topic(phrase, homes[phrase]) for phrase in kept]


def _phrases_in(sentence: str) -> Iterator[str]:
    idle = function_words(words(sentence))
    least, most = _PHRASE_WORDS
    for piece in re.split(r"[^\w\s'’-]+|\n", sentence):
        row: list[str] = []
        for word in [*piece.split(), ""]:
            if word and word not in idle and not any(c.isdigit() for c in word):
                row.append(word)
                continue
            for part in _with_names(row):
                text = " ".join(part)
                if (
                    least <= len(part) <= most
                    and len(text) <= _LONGEST_CHARS
                    and _content_words(text)
                ):
                    yield text
            row = []


def _with_names(row: Sequence[str]) -> Iterator[Sequence[str]]:
    """The run of words, and the names in it: adjacent capitalised words."""
    yield row
    for is_name, part in groupby(row, key=_is_name):
        name = list(part)
        if is_name and len(name) < len(row):
            yield name


def _is_name(phrase: str) -> bool:
    return all(word[:1].isupper() for word in phrase.split())
