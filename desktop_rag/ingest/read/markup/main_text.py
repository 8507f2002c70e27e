"""Web pages: the main text without menus and footers, as Markdown with its headings.

trafilatura finds it; where it keeps too little of the visible text, the whole page is taken.
Runs in the parser process, on bytes the app fetched.
"""

import logging
from contextlib import suppress

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.ingest.read.foundation.document_draft import (
    DocumentDraft,
    HeadingPath,
    LimitReached,
)
from desktop_rag.ingest.read.foundation.format_table import WEB_PAGE
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import markdown, web_page
from desktop_rag.ingest.read.markup.lost_headings import with_headings
from desktop_rag.ingest.read.markup.plain_text import line_offsets

log = logging.getLogger(__name__)

# Less of the visible text than this is not the main part of a page.
_LEAST_SHARE = 0.15


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the page, or nothing."""
    whole = DocumentDraft(draft.max_chars)
    title = ""
    with suppress(LimitReached):
        title = web_page.read(source, whole)
    page = whole.finish(WEB_PAGE, title)
    text, headings = _main_text(source.data, page)
    if len(text) < _LEAST_SHARE * len(page.text):
        return web_page.read(source, draft)
    for warning in page.warnings:
        draft.warn(warning)
    draft.dated = draft.dated or page.dated
    _write(text, headings, draft)
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


def _write(text: str, headings: _Headings, draft: DocumentDraft) -> None:
    """Add the text. Its lines are none of the page's, so they are no places to go to."""
    begin, offsets = draft.length, line_offsets(text)
    path = HeadingPath()
    for line, (level, title) in sorted(headings.items()):
        offset = begin + offsets[line - 1]
        if offset < draft.max_chars:
            draft.add_heading(level, title, offset)
            draft.mark(Anchor(heading=path.enter(level, title)), offset)
    draft.add(text)
