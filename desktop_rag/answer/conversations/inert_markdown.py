"""Markdown of foreign origin that loads nothing, whatever renders it. Pure, any thread.

Renderers differ: some take raw HTML, some embed `![[notes]]`, some attach styles to `[words]`. So
what would load is taken apart by a visible space, which no escape before it can undo. Only fenced
code stays as it is, in fences written anew, since all renderers agree on those.
"""

import re

from markdown_it import MarkdownIt

_parser = MarkdownIt("commonmark", {"html": False})
# An image or embed, a tag or comment, and an attribute list with a style.
_LOADING = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])|\bstyle(?==)|\burl(?=\()", re.IGNORECASE)
_TICKS = re.compile(r"`{3,}")


def inert_markdown(text: str) -> str:
    """The text with the same words and formatting, but without anything that loads."""
    # Line ends as the parser counts them.
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
    lines = text.split("\n")
    parts: list[str] = []
    done = 0
    for token in _parser.parse(text):
        if token.type == "fence" and token.level == 0 and token.map:
            parts += [_taken_apart(lines[done : token.map[0]]), _fenced(token.content)]
            done = token.map[1]
    return "\n\n".join(part for part in (*parts, _taken_apart(lines[done:])) if part)


def _taken_apart(lines: list[str]) -> str:
    return _LOADING.sub(r"\g<0> ", "\n".join(lines).strip("\n"))


def _fenced(content: str) -> str:
    """The code in a fence longer than any in it, and closed.

    Without the name of its language: some renderers run code of some names, or fetch what it names.
    """
    longest = max((len(ticks[0]) for ticks in _TICKS.finditer(content)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{content.rstrip(chr(10))}\n{fence}"
