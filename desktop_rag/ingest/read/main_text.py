"""Pages of the web: the main text without menus and footers, as Markdown with its headings.

trafilatura finds it; where it keeps too little of what the page shows, all of the page is taken.
Runs in the parser process, on bytes the app fetched.
"""

import logging

from desktop_rag.ingest.read import markdown, plain_text, web_page
from desktop_rag.ingest.read.draft import Draft, LimitReached
from desktop_rag.ingest.read.source import SourceFile

log = logging.getLogger(__name__)

# Less of the visible text than this is not the main part of a page.
_LEAST_SHARE = 0.15


def read(source: SourceFile, draft: Draft) -> str:
    """Fill the draft; the title is that of the page, or nothing."""
    whole = Draft(draft.max_chars)
    try:
        title = web_page.read(source, whole)
    except LimitReached:
        title = ""
    text = _main_text(source.data)
    if len(text) < _LEAST_SHARE * whole.length:
        return web_page.read(source, draft)
    text = draft.fitting(text)
    plain_text.write(text, draft, markdown.headings(text))
    return title


def _main_text(data: bytes) -> str:
    """What trafilatura takes for the main text; nothing if it finds none or fails."""
    import trafilatura

    # It remarks on every page it finds odd.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    logging.getLogger("htmldate").setLevel(logging.CRITICAL)
    try:
        found = trafilatura.extract(
            data, output_format="markdown", include_comments=False, include_formatting=True,
            favor_recall=True,
        )  # fmt: skip
    except Exception:  # the page is still read whole
        log.info("the main text was not found", exc_info=True)
        return ""
    return found or ""
