"""Markdown: the text below its front matter as it stands, with headings and line marks.

Only block structure is parsed, which is linear; inline markup is left to those who show the text.
Runs in the parser process.
"""

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.encoding import decode
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import plain_text
from desktop_rag.ingest.read.markup.front_matter import parse_front_matter

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MAX_PARSED_CHARS = 10_000_000
_MARKUP = re.compile(r"[\\`*_~\[\]<&!]")


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the front matter, or nothing."""
    text, warning = decode(source.data)
    if warning:
        draft.warn(warning)
    text = draft.fitting(text)
    front = parse_front_matter(text)
    draft.dated, draft.tags = front.dated, front.tags
    # A note that is nothing but its front matter is found by its title.
    body = text[front.end :] or front.title
    # The parser needs many times the memory of the text. No person wrote one that is longer.
    found = headings(body) if len(body) <= _MAX_PARSED_CHARS else None
    above = text.count("\n", 0, front.end)
    numbers = range(above + 1, above + len(body) + 2) if above else None
    plain_text.write(body, draft, found, numbers)
    return front.title


def headings(text: str) -> dict[int, tuple[int, str]]:
    """Line (from 1) → level and title of the headings that are not inside lists or quotes."""
    tokens = _block_parser().parse(text)
    found = (
        (opening.map[0] + 1, int(opening.tag[1:]), _plain(content))
        for opening, content in pairwise(tokens)
        if opening.type == "heading_open" and opening.level == 0 and opening.map
    )
    return {line: (level, title) for line, level, title in found if title.strip()}


def _plain(heading: "Token") -> str:
    if not _MARKUP.search(heading.content):
        return heading.content
    return "".join(_texts(_inline_parser().parseInline(heading.content)))


def _texts(tokens: "list[Token]") -> list[str]:
    texts: list[str] = []
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            texts.append(" ")
        elif token.children:
            texts.extend(_texts(token.children))
        elif token.type != "html_inline":
            texts.append(token.content)
    return texts


@cache
def _block_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@cache
def _inline_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
