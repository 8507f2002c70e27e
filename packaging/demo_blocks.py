"""Reads the Markdown sources of the demo documents into blocks for the PDF and DOCX writers.
Used by build_demo.py only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class Run:
    """A run of text in one weight."""

    text: str
    is_bold: bool = False


Text: TypeAlias = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the title of the document."""

    level: int
    text: Text


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of running text."""

    text: Text


@dataclass(frozen=True, slots=True)
class Items:
    """A list, numbered or with bullets."""

    is_numbered: bool
    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first row is its header."""

    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True, slots=True)
class PageBreak:
    """A new page, written as a rule (---) in the source."""


Block: TypeAlias = Heading | Paragraph | Items | Table | PageBreak


def plain(text: Text) -> str:
    """The text without formatting."""
    return "".join(run.text for run in text)


def read_blocks(markdown: str) -> list[Block]:
    """Parse the subset of Markdown that the demo sources use.

    Raises:
        ValueError: for anything outside that subset, so that nothing is dropped silently.
    """
    tokens = iter(MarkdownIt("commonmark").enable("table").parse(markdown))
    return [_block(token, tokens) for token in tokens]


def _block(token: Token, tokens: Iterator[Token]) -> Block:
    match token.type:
        case "heading_open":
            return Heading(int(token.tag[1:]), _only_text(tokens, "heading_close"))
        case "paragraph_open":
            return Paragraph(_only_text(tokens, "paragraph_close"))
        case "bullet_list_open" | "ordered_list_open":
            close = token.type.replace("open", "close")
            items = tuple(_texts(tokens, close))
            return Items(token.type == "ordered_list_open", items)
        case "table_open":
            return Table(tuple(_rows(tokens)))
        case "hr":
            return PageBreak()
        case _:
            raise ValueError(f"not in the subset for demo documents: {token.type}")


def _texts(tokens: Iterator[Token], close: str) -> Iterator[Text]:
    for token in tokens:
        if token.type == close:
            return
        if token.type == "inline":
            yield tuple(_runs(token))


def _only_text(tokens: Iterator[Token], close: str) -> Text:
    (text,) = _texts(tokens, close)
    return text


def _rows(tokens: Iterator[Token]) -> Iterator[tuple[Text, ...]]:
    for token in tokens:
        if token.type == "table_close":
            return
        if token.type == "tr_open":
            yield tuple(_texts(tokens, "tr_close"))


def _runs(inline: Token) -> Iterator[Run]:
    is_bold = False
    for child in inline.children or []:
        match child.type:
            case "text":
                if child.content:
                    yield Run(child.content, is_bold)
            case "softbreak":
                yield Run(" ", is_bold)
            case "strong_open" | "strong_close":
                is_bold = child.type == "strong_open"
            case _:
                raise ValueError(f"not in the subset for demo documents: {child.type}")
