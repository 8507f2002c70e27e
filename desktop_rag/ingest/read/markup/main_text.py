"""Web pages: the main text without menus and footers, as Markdown with its headings.

trafilatura finds it; where it keeps too little of the visible text, the whole page is taken.
Runs in the parser process, on bytes the app fetched.
"""

import logging
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from desktop_rag.core.parsed import Heading, ParsedDocument
from desktop_rag.ingest.read.foundation.document_draft import (
    DocumentDraft,
    HeadingPath,
    LimitReached,
)
from desktop_rag.ingest.read.foundation.format_table import WEB_PAGE
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import markdown, web_page
from desktop_rag.ingest.read.markup.plain_text import write_below

log = logging.getLogger(__name__)

_WORD = re.compile(r"\w+")
_KEY_WORDS = 8
_MIN_KEY_WORDS = 2
_KEY_CHARS = 400
# A heading so few lines above is still there, with something else below it.
_NEAR_LINES = 8
_HEADING_LINE = re.compile(r"#{1,6} ")


@dataclass(slots=True)
class _Section:
    """Headings that follow one another, and the first words of the text below the last."""

    headings: list[Heading] = field(default_factory=list[Heading])
    begin: str = ""


def with_headings(text: str, page: ParsedDocument) -> str:
    """The main `text` of a page (Markdown), with the headings put back that it lost."""
    lines = text.split("\n")
    keys = [_key(line) for line in lines]
    counts = Counter(keys)
    places = {key: index for index, key in enumerate(keys) if counts[key] == 1}
    added: dict[int, list[Heading]] = {}
    replaced: set[int] = set()
    for section in _sections(page):
        place = places.get(section.begin)
        if place is None or section.begin.count(" ") + 1 < _MIN_KEY_WORDS:
            continue
        titles = [_key(heading.title) for heading in section.headings]
        near = range(max(place - _NEAR_LINES, 0), place)
        if any(keys[index] in titles and _HEADING_LINE.match(lines[index]) for index in near):
            continue
        replaced.update(_lines_above(keys, place, titles))
        added[place] = section.headings
    return "\n".join(
        piece
        for index, line in enumerate(lines)
        if index not in replaced
        for piece in (*map(_markdown, added.get(index, ())), line)
    )


def _sections(page: ParsedDocument) -> list[_Section]:
    sections = [_Section()]
    ends = (*(heading.offset for heading in page.headings), len(page.text))
    for heading, end in zip(page.headings, ends[1:], strict=True):
        sections[-1].headings.append(heading)
        # The heading's own line is the first.
        body = page.text[heading.offset : end].partition("\n")[2]
        sections[-1].begin = next(filter(None, map(_key, body.split("\n"))), "")
        if sections[-1].begin:
            sections.append(_Section())
    return [section for section in sections if section.begin]


def _lines_above(keys: list[str], place: int, titles: list[str]) -> list[int]:
    """The lines right above a place that have one of these titles."""
    found: list[int] = []
    while place > 0 and (not keys[place - 1] or keys[place - 1] in titles):
        place -= 1
        if keys[place]:
            found.append(place)
    return found


def _key(line: str) -> str:
    """The first words of a line, whatever its markup."""
    return " ".join(_WORD.findall(line[:_KEY_CHARS].casefold())[:_KEY_WORDS])


def _markdown(heading: Heading) -> str:
    return f"\n{'#' * heading.level} {heading.title}\n"


# Less of the visible text than this is not the main part of a page.
_LEAST_SHARE = 0.15


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the page, or nothing."""
    whole = DocumentDraft(draft.max_chars)
    title = ""
    with suppress(LimitReached):
        # The main text has no addresses either, and the two are compared.
        text = web_page.decoded(source.data, whole)
        title = web_page.write(text, whole, with_addresses=False)
    page = whole.finish(WEB_PAGE, title)
    text, headings = _main_text(source.data, page)
    if len(text) < _LEAST_SHARE * len(page.text):
        return web_page.read(source, draft)
    for warning in page.warnings:
        draft.warn(warning)
    draft.dated = draft.dated or page.dated
    write_below(text, headings, draft, HeadingPath())
    return title


_Headings = dict[int, tuple[int, str]]


def _main_text(data: bytes, page: ParsedDocument) -> tuple[str, _Headings]:
    """The main text with its headings: of two attempts the one that keeps more of them."""
    attempts: list[tuple[str, _Headings]] = []
    for is_greedy in (True, False):
        text = with_headings(_extracted(data, is_greedy=is_greedy), page)
        attempts.append((text, markdown.headings(text)))
        if len(attempts[-1][1]) >= len(page.headings):
            break
    return max(attempts, key=lambda attempt: (len(attempt[1]), len(attempt[0])))


def _extracted(data: bytes, *, is_greedy: bool) -> str:
    """The main text as trafilatura finds it; empty if it finds none or fails."""
    import trafilatura

    # It remarks on every page it finds odd.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    logging.getLogger("htmldate").setLevel(logging.CRITICAL)
    try:
        found = trafilatura.extract(
            data, output_format="markdown", include_comments=False, include_formatting=True,
            favor_recall=is_greedy,
        )  # fmt: skip
    except Exception:  # the page is still read whole
        log.info("the main text was not found", exc_info=True)
        return ""
    return found or ""
