"""Markdown of untrusted texts as tokens: no raw HTML, no link definitions. Pure; any thread."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from desktop_rag.ui.markdown.claim_marks import MARK
from desktop_rag.ui.markdown.formula_rules import add_formulas

LINE_END = re.compile(r"\r\n?|\n")
_MAX_BRACKETS = 400


class _Parser(MarkdownIt):
    """Accepts every address: the renderer decides which become links."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, RUF100
        return True


def _parser(*, with_formulas: bool) -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False, "linkify": False})
    parser.enable(["table", "strikethrough"])
    parser.disable(["reference", "html_block", "html_inline"])
    if with_formulas:
        add_formulas(parser)
    return parser


_PARSERS = {wanted: _parser(with_formulas=wanted) for wanted in (False, True)}


def parse_blocks(source: str, *, with_formulas: bool = True) -> list[Token]:
    """The blocks of a text; their inline content is not parsed."""
    tokens: list[Token] = []
    text = LINE_END.sub("\n", source).replace("\0", "\ufffd")
    parser = _PARSERS[with_formulas]
    parser.block.parse(text, parser, {}, tokens)
    return tokens


def _parse(source: str, *, with_formulas: bool) -> list[Token]:
    parser = _PARSERS[with_formulas]
    tokens = parse_blocks(source, with_formulas=with_formulas)
    for token in tokens:
        if token.type == "inline":
            token.children = []
            if token.content.count("[") > _MAX_BRACKETS:
                # Parsing is quadratic in open brackets.
                token.children.append(Token("text", "", 0, content=token.content))
            else:
                parser.inline.parse(token.content, parser, {}, token.children)
    return tokens


def parse_with_marks(source: str, *, with_formulas: bool) -> list[Token]:
    """All tokens, with the marks of claims only where they leave the formatting unchanged."""
    marked = _parse(source, with_formulas=with_formulas)
    if not MARK.search(source):
        return marked
    plain = _parse(MARK.sub("", source), with_formulas=with_formulas)
    if _without_marks(marked) != _without_marks(plain):
        return plain
    for token, other in zip(marked, plain, strict=True):
        if _without_marks(token.children or ()) != _without_marks(other.children or ()):
            token.children = other.children
    return marked


def _without_marks(tokens: Sequence[Token]) -> list[tuple[str, ...]]:
    """The properties that distinguish tokens, ignoring marks."""
    return [
        (t.type, t.markup, str(t.attrs), MARK.sub("", t.info), MARK.sub("", t.content))
        for t in tokens
        if t.type != "text" or MARK.sub("", t.content)
    ]
