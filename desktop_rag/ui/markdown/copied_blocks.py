"""The blocks of a Markdown text that can be copied by themselves: code and tables. Pure."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from markdown_it.token import Token

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.markdown.claim_marks import MARK
from desktop_rag.ui.markdown.parsing import LINE_END, parse_with_marks

_DIAGRAMS = frozenset({"mermaid", "plantuml", "puml", "dot", "graphviz", "d2"})
_MAY_HAVE_ONE = re.compile(r"[`~|>]|^(?: {4}|\t)", re.MULTILINE)
_CITATION = re.compile(r"\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")
_NUMBER = re.compile(r"[+-][\d.,\s]*\d%?")


class BlockKind(StrEnum):
    """A quote is not copied by itself, but is drawn as a table too."""

    CODE = "code"
    DIAGRAM = "diagram"
    TABLE = "table"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Block:
    """One block: its code, or the Markdown of a table with the words of its cells."""

    kind: BlockKind
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


def language_of(token: Token) -> str:
    """The language of a block of code as written behind its fence; "" for none."""
    return token.info.split(maxsplit=1)[0] if token.info.strip() else ""


def code_title(language: str) -> str:
    """The heading of a block of code."""
    if language.lower() in _DIAGRAMS:
        return tr("Diagram source ({capitalize})", capitalize=language.capitalize())
    return MARK.sub("", language) or tr("Code")


def blocks_in(source: str, *, with_formulas: bool) -> tuple[Block, ...]:
    """The blocks in the order in which they begin."""
    if not _MAY_HAVE_ONE.search(source):
        return ()
    return tuple(_blocks(source, parse_with_marks(source, with_formulas=with_formulas)))


def as_tabs(rows: Sequence[Sequence[str]]) -> str:
    """Rows as the tab-separated text that spreadsheets take."""
    return "\n".join("\t".join(map(_inert, row)) for row in rows)


def as_html_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as an HTML table, which text processors take."""
    cells = (
        "".join(f"<td>{html.escape(_inert(cell), quote=False)}</td>" for cell in row)
        for row in rows
    )
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _inert(cell: str) -> str:
    """The cell on one line, so that no spreadsheet takes a text for a formula and runs it."""
    text = " ".join(cell.split())
    is_formula = text.startswith(("=", "@", "+", "-")) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula and len(text) > 1 else text


def _blocks(source: str, tokens: Sequence[Token]) -> Iterator[Block]:
    lines = LINE_END.sub("\n", source).split("\n")
    for index, token in enumerate(tokens):
        if token.type in {"fence", "code_block"}:
            is_diagram = language_of(token).lower() in _DIAGRAMS
            kind = BlockKind.DIAGRAM if is_diagram else BlockKind.CODE
            yield Block(kind, MARK.sub("", token.content).rstrip("\n"))
        elif token.type == "blockquote_open":
            yield Block(BlockKind.QUOTE)
        elif token.type == "table_open" and token.map:
            first, last = token.map
            written = "\n".join(line.strip() for line in lines[first:last])
            yield Block(BlockKind.TABLE, MARK.sub("", written).strip(), _rows(tokens, index))


def _rows(tokens: Sequence[Token], start: int) -> tuple[tuple[str, ...], ...]:
    rows: list[list[str]] = []
    for token in tokens[start:]:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            words = "".join(map(_words, token.children or ()))
            rows[-1].append(_CITATION.sub("", MARK.sub("", words)).strip())
    return tuple(map(tuple, rows))


def _words(token: Token) -> str:
    if token.type == "formula":
        return token.markup
    return " " if token.type in {"softbreak", "hardbreak"} else token.content
