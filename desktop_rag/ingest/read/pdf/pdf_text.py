"""Making words, titles and headings of what stands on a PDF's pages.

Pure; runs in the parser process.
"""

import re

from desktop_rag.ingest.read.foundation.document_draft import one_line

# PDFium writes U+FFFE for a hyphen at a line's end and joins the line below.
_JOINT = re.compile(r"(\w*)(?:\ufffe|\u00ad\n?)(\w*)")
_WORD = re.compile(r"\w+(?:-\w+)*")
_MACHINE_MADE = re.compile(
    r"^(?:untitled|document\d*|title|slide \d+)$|^[\W\d_]*$"
    r"|^\S+\.(?:docx?|pdf|indd|tex|dvi|pptx?|xlsx?|qxd|rtf)$",
    re.IGNORECASE,
)
_APPLICATION = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ", re.IGNORECASE)
_MIN_TITLE_CHARS = 3


def find_line(page: str, title: str) -> int | None:
    """The offset at which the title stands on lines of its own, None without such a place."""
    words = r"\s+".join(re.escape(word) for word in title.split())
    found = re.search(rf"^[ \t]*{words}[ \t]*$", page, re.MULTILINE | re.IGNORECASE)
    return found.start() if found else None


def joined_words(pages: list[str]) -> list[str]:
    """Join words that are broken at the end of a line, or keep their hyphen where it belongs.

    The rest of the document decides: `touch-based` stays if it, or `touch` and `based`, occur.
    """
    if not any(_JOINT.search(text) for text in pages):
        return pages
    known = {word.casefold() for text in pages for word in _WORD.findall(_JOINT.sub(" ", text))}

    def join(match: re.Match[str]) -> str:
        first, second = match[1], match[2]
        whole = (first + second).casefold()
        hyphenated = f"{first}-{second}".casefold()
        are_words = first.casefold() in known and second.casefold() in known
        if hyphenated in known or (whole not in known and are_words):
            return f"{first}-{second}"
        return first + second

    return [_JOINT.sub(join, text) for text in pages]


def sensible_title(title: str) -> str:
    """The title, or nothing if a program made it up."""
    title = _APPLICATION.sub("", one_line(title))
    if len(title) < _MIN_TITLE_CHARS or _MACHINE_MADE.match(title):
        return ""
    return title
