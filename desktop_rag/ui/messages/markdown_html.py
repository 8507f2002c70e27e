"""Renders an answer's Markdown as the small HTML subset of the message view. Pure; Qt thread.

A model's output is untrusted. Raw HTML stays text, images become placeholders, link definitions
are off (a text can't redefine `[1]`), and the only links are web addresses, email addresses and
citations of known numbers. A long answer is split into independent Markdown segments, so that it
is never parsed or laid out as a whole.
"""

import html
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from desktop_rag.ui.messages.claim_marks import MARK, Badges, badge_html, marks_behind
from desktop_rag.ui.messages.code_colours import highlighted

SEGMENT_CHARS = 3_000
_MAX_BLOCK_CHARS = 5_000
_SETTLED_CHARS = 200
_CITATION = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_WEB_ADDRESS = re.compile(r"https?://[^\s\x00-\x20\"'<>\\]+\Z", re.IGNORECASE)
_MAIL_ADDRESS = re.compile(r"mailto:[^\s\x00-\x20\"'<>\\/]+\Z", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n?|\n")
_MAX_BRACKETS = 400
_MAX_CITATIONS = 200
_HAIR_SPACE = "\u200a"


class _Parser(MarkdownIt):
    """Accepts every address: the renderer decides which become links."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, RUF100
        return True


_parser = _Parser("commonmark", {"html": False, "linkify": False})
_parser.enable(["table", "strikethrough"]).disable(["reference", "html_block", "html_inline"])


@dataclass(frozen=True, slots=True)
class MarkdownStyle:
    """The theme's values for the HTML: role → `#rrggbb`, and the monospace font family."""

    colours: Mapping[str, str]
    code_font: str = "monospace"


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of an answer that renders by itself. The next one starts at `end`.

    `fence` is the line that reopens a code block that was split, else "".
    """

    source: str
    end: int
    fence: str = ""


def next_segment(text: str, start: int = 0, fence: str = "") -> Segment:
    """The segment of `text` at `start`, given the `fence` of the previous segment.

    While a text grows, only its last segment changes.
    """
    rest = text[start : start + _MAX_BLOCK_CHARS]
    if len(text) - start <= SEGMENT_CHARS + _SETTLED_CHARS:
        return Segment(fence + rest, len(text))
    cut = _block_boundary(fence + rest) - len(fence)
    if cut > 0:
        return Segment(fence + rest[:cut], start + cut)
    if len(text) - start <= _MAX_BLOCK_CHARS:
        return Segment(fence + rest, len(text))
    cut = max(rest.rfind("\n"), 0) or max(rest.rfind(" "), 0)
    cut = cut + 1 if cut else len(rest)
    return Segment(fence + rest[:cut], start + cut, _open_fence(fence + rest[:cut]))


def last_block_start(source: str) -> int:
    """The start of a segment's last block; the text before it is final while the text grows."""
    return max(_block_starts(source), default=0)


def _block_boundary(source: str) -> int:
    """The block boundary to split at: the last one within SEGMENT_CHARS, else the first."""
    settled = [at for at in _block_starts(source) if at < len(source) - _SETTLED_CHARS]
    near = [b for b in settled if b <= SEGMENT_CHARS]
    return near[-1] if near else min(settled, default=0)


def _block_starts(source: str) -> list[int]:
    """Offsets of all top-level blocks except the first."""
    offsets = [0, *(match.end() for match in _LINE_END.finditer(source))]
    starts = [t.map[0] for t in _parse_blocks(source) if t.map and t.level == 0 and t.nesting >= 0]
    return [offsets[line] for line in starts if line]


def _parse_blocks(source: str) -> list[Token]:
    tokens: list[Token] = []
    text = _LINE_END.sub("\n", source).replace("\0", "\ufffd")
    _parser.block.parse(text, _parser, {}, tokens)
    return tokens


def _parse(source: str) -> list[Token]:
    tokens = _parse_blocks(source)
    for token in tokens:
        if token.type == "inline":
            token.children = []
            if token.content.count("[") > _MAX_BRACKETS:
                # Parsing is quadratic in open brackets.
                token.children.append(Token("text", "", 0, content=token.content))
            else:
                _parser.inline.parse(token.content, _parser, {}, token.children)
    return tokens


def _parse_with_marks(source: str) -> list[Token]:
    """The tokens, with marks only where they leave the formatting unchanged."""
    marked = _parse(source)
    if not MARK.search(source):
        return marked
    plain = _parse(MARK.sub("", source))
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


def _open_fence(source: str) -> str:
    last = next((t for t in reversed(_parse_blocks(source)) if t.level == 0), None)
    if last is None or last.type != "fence":
        return ""
    is_closed = source.rstrip().rpartition("\n")[2].strip() == last.markup
    return "" if is_closed else f"{last.markup}{last.info}\n"


def render_html(
    source: str, citations: Collection[int], look: MarkdownStyle, badges: Badges | None = None
) -> str:
    """The HTML of a segment. `[n]` becomes a link `cite:n` for every n in `citations`.

    Marks of claims (see claim_marks.py) become badges.
    """
    return _Writer(citations, look, badges or {}).write(_parse_with_marks(source))


def safe_address(href: str) -> str | None:
    """The address if it may be a link (a well-formed http, https or mailto one), else None."""
    if _WEB_ADDRESS.match(href) or _MAIL_ADDRESS.match(href):
        return href
    return None


def cited_number(href: str) -> int | None:
    """The n of a `cite:n` link."""
    scheme, _, number = href.partition(":")
    return int(number) if scheme == "cite" and number.isascii() and number.isdigit() else None


_PARAGRAPH = '<p style="margin-top:0px; margin-bottom:9px; line-height:140%;">'
_FIXED = {
    "paragraph_open": _PARAGRAPH,
    "paragraph_close": "</p>",
    "heading_close": "</p>",
    "bullet_list_open": '<ul style="margin-top:0px; margin-bottom:9px;">',
    "bullet_list_close": "</ul>",
    "ordered_list_close": "</ol>",
    "list_item_open": '<li style="line-height:140%;">',
    "list_item_close": "</li>",
    "blockquote_close": "</td></tr></table>",
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
    """Writes the tokens of one segment as HTML."""

    def __init__(self, citations: Collection[int], look: MarkdownStyle, badges: Badges) -> None:
        self._citations = citations
        self._badges = badges
        self._look = look
        self._open_links: list[bool] = []
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
            "fence": self._code_block,
            "code_block": self._code_block,
            "heading_open": self._heading_open,
            "ordered_list_open": self._ordered_list_open,
            "blockquote_open": self._quote_open,
            "table_open": self._table_open,
            "th_open": self._cell_open,
            "td_open": self._cell_open,
        }

    def write(self, tokens: Sequence[Token]) -> str:
        return "".join(self._token(token) for token in tokens)

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

    def _quote_open(self, _token: Token) -> str:
        colours = self._look.colours
        return (
            '<table width="100%" cellspacing="0" cellpadding="0" style="margin-bottom:9px;"><tr>'
            f'<td width="3" bgcolor="{colours["border_strong"]}"></td>'
            f'<td style="padding-left:12px; color:{colours["muted"]};">'
        )

    def _table_open(self, _token: Token) -> str:
        return (
            '<table cellspacing="0" cellpadding="6" border="1" style="border-collapse:collapse; '
            f"border-style:solid; border-color:{self._look.colours['border_strong']}; "
            'margin-top:6px; margin-bottom:12px;">'
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
        colours = self._look.colours
        edge = f'<span style="color:{colours["accent_soft"]};">'
        return (
            f'<a href="cite:{n}" style="text-decoration:none; font-size:small; font-weight:600; '
            f'color:{colours["accent_soft_text"]};">{edge}[</span>{n}{edge}]</span></a>'
        )

    def _link_open(self, token: Token) -> str:
        address = safe_address(str(token.attrs.get("href", "")))
        self._open_links.append(address is not None)
        if address is None:
            return ""
        return f'<a href="{html.escape(address)}" style="color:{self._look.colours["link"]};">'

    def _link_close(self, _token: Token) -> str:
        held, self._held = "".join(self._held), []
        return ("</a>" if self._open_links.pop() else "") + held

    def _placeholder(self, token: Token) -> str:
        name = " ".join(MARK.sub("", token.content).split()) or "no description"
        colour = self._look.colours["muted"]
        return f'<span style="color:{colour};">[image: {html.escape(name)}]</span>'

    def _code_in_line(self, token: Token) -> str:
        colours = self._look.colours
        return (
            f"<code style=\"font-family:'{html.escape(self._look.code_font)}'; "
            f'background-color:{colours["code_surface"]}; color:{colours["code_text"]};">'
            f"{html.escape(MARK.sub('', token.content))}</code>"
        )

    def _code_block(self, token: Token) -> str:
        colours = self._look.colours
        language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
        plain = MARK.sub("", token.content).rstrip("\n")
        code = highlighted(plain, language, colours)
        return (
            '<table width="100%" cellspacing="0" cellpadding="10" style="margin-bottom:10px;" '
            f'bgcolor="{colours["code_surface"]}"><tr><td>'
            f"<pre style=\"font-family:'{html.escape(self._look.code_font)}'; "
            f'color:{colours["code_text"]}; margin:0px; white-space:pre-wrap;">{code}</pre>'
            "</td></tr></table>"
        )
