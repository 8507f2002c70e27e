"""Renders Markdown as the small HTML subset of the message view, with copyable blocks. Pure.

A model's output is untrusted. Raw HTML stays text, images become placeholders, link definitions are
off (a text can't redefine `[1]`), and the only links are web addresses, email addresses and
citations of known numbers; in a document also paths, which lead to documents of the library. It
runs on the Qt thread, so highlighted code is limited in size.
"""

import html
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import zip_longest
from urllib.parse import urlsplit

from markdown_it.token import Token
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, _TokenType
from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.inert_markdown import safe_address
from desktop_rag.core.text import sentences
from desktop_rag.ui.foundation.wording import is_right_to_left
from desktop_rag.ui.markdown.claim_marks import MARK, Badges, badge_html, marks_behind
from desktop_rag.ui.markdown.formula_drawing import Drawing
from desktop_rag.ui.markdown.formula_object import formula_image
from desktop_rag.ui.markdown.parsing import LINE_END, parse_with_marks

_DIAGRAMS = frozenset({"mermaid", "plantuml", "puml", "dot", "graphviz", "d2"})
_MAY_HAVE_ONE = re.compile(r"[`~|>]|^(?: {4}|\t)", re.MULTILINE)
_COPIED_CITATION = re.compile(r"\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")
_NUMBER = re.compile(r"[+-][\d.,\s]*\d%?")


class BlockKind(StrEnum):
    """The kind of a block. A quote is not copied by itself, but is drawn as a table too."""

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
    """The language written behind the fence of a code block; "" for none."""
    return token.info.split(maxsplit=1)[0] if token.info.strip() else ""


def code_title(language: str) -> str:
    """The heading of a block of code."""
    if language.lower() in _DIAGRAMS:
        return tr("Diagram source ({capitalize})", capitalize=language.capitalize())
    return MARK.sub("", language) or tr("Code")


def blocks_in(source: str, *, with_formulas: bool) -> tuple[Block, ...]:
    """The code, tables and quotes of a text, in order."""
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
    """The cell on one line, quoted so that no spreadsheet runs it as a formula."""
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
            rows[-1].append(_COPIED_CITATION.sub("", MARK.sub("", words)).strip())
    return tuple(map(tuple, rows))


def _words(token: Token) -> str:
    if token.type == "formula":
        return token.markup
    return " " if token.type in {"softbreak", "hardbreak"} else token.content


# Marks a table or quote that is read from the right.
IS_MIRRORED = "is_mirrored"
_CELLS = {"th_open", "td_open"}


def mirrored(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with reversed cells in tables that are read from the right.

    Qt lays out the columns of a table from the left in every language.
    """
    shown: list[Token] = []
    row: list[list[Token]] | None = None
    is_table_mirrored = False
    for index, token in enumerate(tokens):
        if token.type in {"table_open", "blockquote_open"}:
            words = next((t.content for t in tokens[index:] if t.type == "inline"), "")
            token.meta[IS_MIRRORED] = is_right_to_left(words)
        if token.type == "table_open":
            is_table_mirrored = token.meta[IS_MIRRORED]
        if token.type == "tr_close" and row is not None:
            shown += [each for cell in reversed(row) for each in cell]
            row = None
        if row is None:
            shown.append(token)
        elif token.type in _CELLS:
            token.attrs.setdefault("style", "text-align:right")
            row.append([token])
        else:
            row[-1].append(token)
        if token.type == "tr_open" and is_table_mirrored:
            row = []
    return shown


_MAX_CODE_CHARS = 8_000
# Some lexers' regular expressions are very slow on long lines.
_MAX_LINE_CHARS = 500
# fmt: off
_LANGUAGES = frozenset({
    "bash", "c", "c++", "console", "cpp", "cs", "csharp", "css", "diff", "docker", "dockerfile",
    "go", "html", "ini", "java", "javascript", "js", "json", "jsx", "kotlin", "lua", "make",
    "makefile", "markdown", "md", "php", "powershell", "py", "python", "python3", "r", "rb",
    "ruby", "rs", "rust", "scala", "sh", "shell", "sql", "swift", "toml", "ts", "tsx",
    "typescript", "xml", "yaml", "yml", "zsh",
})
# fmt: on
_ROLES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "code_comment"),
    (Keyword, "code_keyword"),
    (Operator.Word, "code_keyword"),
    (String, "code_string"),
    (Number, "code_number"),
    (Literal, "code_number"),
    (Name.Function, "code_name"),
    (Name.Class, "code_name"),
    (Name.Tag, "code_name"),
    (Name.Attribute, "code_builtin"),
    (Name.Builtin, "code_builtin"),
    (Name.Decorator, "code_builtin"),
)


def highlighted(code: str, language: str, colours: Mapping[str, str]) -> str:
    """The code as escaped HTML, with spans in the colours of the `code_*` roles.

    Code that is too long or in an unsupported language has no colours.
    """
    lexer = _lexer(language.lower()) if _is_bounded(code) else None
    if lexer is None:
        return html.escape(code)
    parts: list[str] = []
    for kind, text in lexer.get_tokens(code):
        role = _role(kind)
        escaped = html.escape(text)
        parts.append(f'<span style="color:{colours[role]};">{escaped}</span>' if role else escaped)
    return "".join(parts).rstrip("\n")


def _is_bounded(code: str) -> bool:
    return len(code) <= _MAX_CODE_CHARS and max(map(len, code.split("\n"))) <= _MAX_LINE_CHARS


@cache
def _lexer(language: str) -> Lexer | None:
    if language not in _LANGUAGES:
        return None
    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@cache
def _role(kind: _TokenType) -> str:
    return next((role for parent, role in _ROLES if kind in parent), "")


_CITATION = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_MAX_CITATIONS = 200
_PATH = "path"
_HAIR_SPACE = "\u200a"
# Takes LaTeX, and True for a formula on lines of its own.
Formulas = Callable[[str, bool], Drawing | None]


@dataclass(frozen=True, slots=True)
class MarkdownStyle:
    """The theme's values for the HTML: role → `#rrggbb`, and the monospace font family.

    With `copy_room_px`, code has a heading and a table room below, for buttons.
    """

    colours: Mapping[str, str]
    code_font: str = "monospace"
    copy_room_px: int = 0


def render_html(
    source: str,
    citations: Collection[int],
    look: MarkdownStyle,
    badges: Badges | None = None,
    formulas: Formulas | None = None,
    *,
    links_paths: bool = False,
    labels: Mapping[int, int] | None = None,
) -> str:
    """The HTML of a segment. `[n]` becomes a link `cite:n` for every n in `citations`.

    The link shows `labels[n]` if given, else n. Marks of claims (see claim_marks.py) become badges.
    Without `formulas`, dollar signs are literal; with it, an undrawn formula stays source in the
    code font. With `links_paths` a relative link becomes one to `path:` with its target.
    """
    tokens = parse_with_marks(source, with_formulas=formulas is not None)
    if not links_paths:
        # Cited words are searched in a document, so there they keep their order.
        tokens = mirrored(tokens)
    return _Writer(
        citations, look, badges or {}, formulas, links_paths=links_paths, labels=labels or {}
    ).write(tokens)


def linked_path(href: str) -> str | None:
    """The target of a `path:` link."""
    scheme, _, target = href.partition(":")
    return target if scheme == _PATH and target else None


def cited_number(href: str) -> int | None:
    """The n of a `cite:n` link."""
    scheme, _, number = href.partition(":")
    return int(number) if scheme == "cite" and number.isascii() and number.isdigit() else None


_PARAGRAPH = '<p style="margin-top:0px; margin-bottom:9px; line-height:140%;">'
_DISPLAY_PARAGRAPH = '<p align="center" style="margin-top:4px; margin-bottom:13px;">'
_FIXED = {
    "paragraph_open": _PARAGRAPH,
    "paragraph_close": "</p>",
    "heading_close": "</p>",
    "bullet_list_open": '<ul style="margin-top:0px; margin-bottom:9px;">',
    "bullet_list_close": "</ul>",
    "ordered_list_close": "</ol>",
    "list_item_open": '<li style="line-height:140%;">',
    "list_item_close": "</li>",
    "hr": "<hr>",
    "thead_open": "<thead>",
    "thead_close": "</thead>",
    "tbody_open": "<tbody>",
    "tbody_close": "</tbody>",
    "tr_open": "<tr>",
    "tr_close": "</tr>",
    "th_close": "</th>",
    "td_close": "</td>",
    "table_close": "</table>",
    "strong_open": "<b>",
    "strong_close": "</b>",
    "em_open": "<i>",
    "em_close": "</i>",
    "s_open": "<s>",
    "s_close": "</s>",
    "softbreak": "\n",
    "hardbreak": "<br>",
}
_HEADING_SIZES = {"h1": "x-large", "h2": "large", "h3": "medium"}


class _Writer:
    def __init__(
        self,
        citations: Collection[int],
        look: MarkdownStyle,
        badges: Badges,
        formulas: Formulas | None,
        *,
        links_paths: bool,
        labels: Mapping[int, int],
    ) -> None:
        self._citations = citations
        self._labels = labels
        self._links_paths = links_paths
        self._formulas = formulas
        self._badges = badges
        self._look = look
        self._open_links: list[bool] = []
        # The right-hand bars of the open quotes.
        self._open_bars: list[str] = []
        # Badges within a link's text are written after the link.
        self._held: list[str] = []
        self._cited = 0
        # A token in neither table is a bug and raises KeyError.
        self._writers: dict[str, Callable[[Token], str]] = {
            "inline": lambda token: self.write(token.children or []),
            "text": self._text_with_badges,
            "text_special": lambda token: html.escape(token.content),
            "link_open": self._link_open,
            "link_close": self._link_close,
            "image": self._placeholder,
            "code_inline": self._code_in_line,
            "formula": self._formula,
            "fence": self._code_block,
            "code_block": self._code_block,
            "heading_open": self._heading_open,
            "ordered_list_open": self._ordered_list_open,
            "blockquote_open": self._quote_open,
            "blockquote_close": self._quote_close,
            "table_open": self._table_open,
            "th_open": self._cell_open,
            "td_open": self._cell_open,
        }

    def write(self, tokens: Sequence[Token]) -> str:
        return "".join(
            _DISPLAY_PARAGRAPH
            if token.type == "paragraph_open" and not token.level and after and _is_display(after)
            else self._token(token)
            for token, after in zip_longest(tokens, tokens[1:])
        )

    def _token(self, token: Token) -> str:
        if token.hidden:
            # The paragraph of a tight list item: the item itself holds its text.
            return ""
        fixed = _FIXED.get(token.type)
        return self._writers[token.type](token) if fixed is None else fixed

    def _heading_open(self, token: Token) -> str:
        size = _HEADING_SIZES.get(token.tag, "medium")
        return f'<p style="font-size:{size}; font-weight:600; margin-top:10px; margin-bottom:6px;">'

    def _ordered_list_open(self, token: Token) -> str:
        start = int(token.attrs.get("start", 1))
        return f'<ol start="{start}" style="margin-top:0px; margin-bottom:9px;">'

    def _quote_open(self, token: Token) -> str:
        # Its bar stands on the side on which reading begins.
        is_mirrored = token.meta.get(IS_MIRRORED)
        bar = f'<td width="3" bgcolor="{self._look.colours["border_strong"]}"></td>'
        self._open_bars.append(bar if is_mirrored else "")
        side = "right" if is_mirrored else "left"
        return (
            '<table width="100%" cellspacing="0" cellpadding="0" style="margin-bottom:9px;"><tr>'
            f"{'' if is_mirrored else bar}"
            f'<td style="padding-{side}:12px; color:{self._look.colours["muted"]};">'
        )

    def _quote_close(self, _token: Token) -> str:
        return f"</td>{self._open_bars.pop()}</tr></table>"

    def _table_open(self, token: Token) -> str:
        side = ' align="right"' if token.meta.get(IS_MIRRORED) else ""
        return (
            f'<table{side} cellspacing="0" cellpadding="6" border="1" '
            'style="border-collapse:collapse; border-style:solid; '
            f"border-color:{self._look.colours['border_strong']}; "
            f'margin-top:6px; margin-bottom:{self._look.copy_room_px or 12}px;">'
        )

    def _cell_open(self, token: Token) -> str:
        style = str(token.attrs.get("style", ""))
        alignment = style.removeprefix("text-align:") or "left"
        ground = f' bgcolor="{self._look.colours["sunken"]}"' if token.tag == "th" else ""
        return f'<{token.tag} align="{alignment}"{ground}>'

    def _text_with_badges(self, token: Token) -> str:
        content = marks_behind(token.content)
        if any(self._open_links):
            self._held += map(self._badge, MARK.findall(content))
            content = MARK.sub("", content)
        return MARK.sub(lambda mark: self._badge(mark[0]), self._text(content))

    def _badge(self, mark: str) -> str:
        return badge_html(mark, self._badges, self._look.colours)

    def _text(self, text: str) -> str:
        parts: list[str] = []
        written = 0
        for match in _CITATION.finditer(text):
            numbers = [int(n) for n in match[1].split(",")]
            is_known = all(n in self._citations for n in numbers)
            if not is_known or any(self._open_links) or self._cited >= _MAX_CITATIONS:
                continue
            self._cited += len(numbers)
            before = text[written : match.start()]
            # The gap keeps adjacent citations apart.
            gap = _HAIR_SPACE if written and not MARK.sub("", before) else ""
            parts.append(html.escape(before) + gap)
            parts.append(_HAIR_SPACE.join(self._citation(n) for n in numbers))
            written = match.end()
        return "".join(parts) + html.escape(text[written:])

    def _citation(self, n: int) -> str:
        """A link with brackets in the pill's colour: they add padding and are copied as text."""
        colours, shown = self._look.colours, self._labels.get(n, n)
        edge = f'<span style="color:{colours["accent_soft"]};">'
        return (
            f'<a href="cite:{n}" style="text-decoration:none; font-size:small; font-weight:600; '
            f'color:{colours["accent_soft_text"]};">{edge}[</span>{shown}{edge}]</span></a>'
        )

    def _link_open(self, token: Token) -> str:
        href = str(token.attrs.get("href", ""))
        address = safe_address(href)
        if self._links_paths and _is_relative(href):
            address = f"{_PATH}:{href}"
        self._open_links.append(address is not None)
        if address is None:
            return ""
        return f'<a href="{html.escape(address)}" style="color:{self._look.colours["link"]};">'

    def _link_close(self, _token: Token) -> str:
        held, self._held = "".join(self._held), []
        return ("</a>" if self._open_links.pop() else "") + held

    def _placeholder(self, token: Token) -> str:
        name = " ".join(MARK.sub("", token.content).split()) or tr("no description")
        colour = self._look.colours["muted"]
        return f'<span style="color:{colour};">[image: {html.escape(name)}]</span>'

    def _code_in_line(self, token: Token) -> str:
        return self._code(MARK.sub("", token.content))

    def _code(self, code: str) -> str:
        colours = self._look.colours
        return (
            f"<code style=\"font-family:'{html.escape(self._look.code_font)}'; "
            f'background-color:{colours["code_surface"]}; color:{colours["code_text"]};">'
            f"{html.escape(code)}</code>"
        )

    def _formula(self, token: Token) -> str:
        latex, is_display = MARK.sub("", token.content).strip(), bool(token.meta["is_display"])
        drawing = self._formulas(latex, is_display) if self._formulas else None
        if drawing is None:
            shown = self._code(MARK.sub("", token.markup))
        else:
            shown = formula_image(latex, is_display, drawing)
        return shown + "".join(map(self._badge, MARK.findall(token.content)))

    def _code_head(self, language: str) -> str:
        if not self._look.copy_room_px:
            return ""
        style = f"color:{self._look.colours['muted']}; font-size:small;"
        title = html.escape(code_title(language))
        return f'<tr><td style="padding-bottom:0px;"><span style="{style}">{title}</span></td></tr>'

    def _code_block(self, token: Token) -> str:
        colours = self._look.colours
        language = language_of(token)
        plain = MARK.sub("", token.content).rstrip("\n")
        code = highlighted(plain, language, colours)
        return (
            '<table width="100%" cellspacing="0" cellpadding="10" style="margin-bottom:10px;" '
            f'bgcolor="{colours["code_surface"]}">{self._code_head(language)}<tr><td>'
            f"<pre style=\"font-family:'{html.escape(self._look.code_font)}'; "
            f'color:{colours["code_text"]}; margin:0px; white-space:pre-wrap;">{code}</pre>'
            "</td></tr></table>"
        )


def _is_relative(href: str) -> bool:
    """True for a path below or beside that of the document."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return False
    return bool(parts.path) and not (parts.scheme or parts.netloc or parts.path.startswith("/"))


def _is_display(token: Token) -> bool:
    """True for a paragraph that is a display formula, with nothing but citations."""
    first = token.children[0] if token.children else None
    if first is None or first.type != "formula" or not first.meta["is_display"]:
        return False
    said = "".join(c.content if c.type == "text" else "x" for c in (token.children or ())[1:])
    return not _CITATION.sub("", MARK.sub("", said)).strip(" .,;:")


def cited_places(document: QTextDocument) -> list[tuple[int, int]]:
    """The start and end of every citation; adjacent ones are one place."""
    places: list[tuple[int, int]] = []
    block = document.begin()
    while block.isValid():
        for start, end in _in_block(block):
            if places and places[-1][1] == start:
                places[-1] = (places[-1][0], end)
            else:
                places.append((start, end))
        block = block.next()
    return places


def _in_block(block: QTextBlock) -> Iterator[tuple[int, int]]:
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if cited_number(fragment.charFormat().anchorHref()) is not None:
            yield fragment.position(), fragment.position() + fragment.length()
        iterator += 1


def sentence_before(place: QTextCursor) -> str:
    """The sentence that a citation at this place belongs to, without citations.

    In a table that is the row. A citation at the start of a line belongs to the next sentence.
    """
    block = place.block()
    if table := place.currentTable():
        row = table.cellAt(place).row()
        cells = (table.cellAt(row, column) for column in range(table.columns()))
        return " ".join(_uncited(cell.firstCursorPosition().block()) for cell in cells)
    before = _uncited(block, place.position())
    text = before or _uncited(block)
    found = sentences(text)
    if not found:
        return ""
    start, end = found[-1 if before else 0]
    return text[start:end]


def _uncited(block: QTextBlock, until: int | None = None) -> str:
    """The text of a block without its citations, up to a position of the document."""
    text, done = "", 0
    raw = block.text().encode("utf-16-le")
    stop = len(raw) // 2 if until is None else until - block.position()
    for start, end in [*_in_block(block), (block.position() + stop, 0)]:
        at = min(start - block.position(), stop)
        text += raw[2 * done : 2 * at].decode("utf-16-le", "ignore")
        done = max(done, end - block.position())
    return text.strip()
