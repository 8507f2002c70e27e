"""Makes foreign Markdown inert: nothing in it loads, and links lead to the web or to an address.

Renderers differ: some take raw HTML, some embed `![[notes]]`, some attach styles to `[words]`. So
the character that would begin such a thing becomes its full-width twin, which every renderer shows
as text. The length stays, and with it every offset into the text. Only code in fences that begin a
line stays as it is, since all renderers agree on those. Pure, any thread.
"""

import re

from markdown_it import MarkdownIt

# An address with a user before an @ looks like that of another host.
_HOST = r"[^\s/?#@)>]{1,255}"
_WEB = rf"https?://{_HOST}(?:[\s/?#)>]|\Z)"
_ALLOWED = rf"[ \t]*<?(?:{_WEB}|mailto:)"
# An image or embed; a tag, comment or autolink; a style or address in an attribute list; a link and
# the definition of one that lead elsewhere.
_LIVE = re.compile(
    rf"!(?=\[)|<(?=[A-Za-z/!?])|(?<=\bstyle)=|(?<=\burl)\(|(?<=\])\((?!{_ALLOWED})", re.IGNORECASE
)
_DEFINITION = re.compile(rf"^([\s>*+\-\d.)]*\[[^\]]+\]):(?!{_ALLOWED})", re.IGNORECASE)
_TWINS = {ord(char): ord(char) + 0xFEE0 for char in "!<=(:"}
_WEB_ADDRESS = re.compile(rf"https?://{_HOST}(?:[/?#][^\s\x00-\x20\"'<>\\]*)?\Z", re.IGNORECASE)
_MAIL_ADDRESS = re.compile(r"mailto:[^\s\x00-\x20\"'<>\\/]+\Z", re.IGNORECASE)
_LINE_END = re.compile(r"(\r\n|\r|\n)")
_FENCES = ("```", "~~~")
# The end of a line that more characters may make live, or clear.
_UNDECIDED = re.compile(
    r"(?:[!<]|\][(:][ \t]*<?(?:h|ht|htt|https?|https?:|https?:/|https?://[^\s/?#@)>]{0,255}"
    r"|m|ma|mai|mail|mailt|mailto)?)\Z",
    re.IGNORECASE,
)
_TICKS = re.compile(r"`{3,}")
_parser = MarkdownIt("commonmark", {"html": False})


def safe_address(href: str) -> str | None:
    """The address if it may be a link, else None.

    A well-formed http, https or mailto one without a user, as `https://bank.example@evil.example`.
    """
    return href if _WEB_ADDRESS.match(href) or _MAIL_ADDRESS.match(href) else None


def inert(text: str) -> str:
    """The text without anything that loads, as long as before."""
    stream = InertStream()
    return stream.add(text) + stream.end()


class InertStream:
    """The same for a text that comes in pieces: together they are what `inert` returns."""

    def __init__(self) -> None:
        self._shown = ""
        self._is_code = False
        self._line = ""
        self._sent = 0

    def add(self, piece: str) -> str:
        """The next characters that are decided."""
        *ended, rest = _LINE_END.split(self._line + piece)
        done = "".join(map(self._ended, ended[::2], ended[1::2]))
        undecided = None if self._is_code else _UNDECIDED.search(rest)
        until = max(self._sent, undecided.start() if undecided else len(rest))
        done += self._inert(rest)[self._sent : until]
        self._line, self._sent = rest, until
        return done

    def end(self) -> str:
        """The characters that are left."""
        return self._ended(self._line, "")

    def _ended(self, line: str, line_end: str) -> str:
        inert_line = self._inert(line) + line_end
        self._shown += inert_line
        if any(fence in line for fence in _FENCES):
            self._is_code = _ends_in_code(self._shown)
        news, self._sent = inert_line[self._sent :], 0
        return news

    def _inert(self, line: str) -> str:
        return line if self._is_code else _inert_line(line)


def _ends_in_code(text: str) -> bool:
    """True when the next line belongs to a fence that is in no list or quotation."""
    lines = len(_LINE_END.split(text)) // 2
    tokens = _parser.parse(f"{text}x")
    return any(t.type == "fence" and not t.level and t.map and t.map[1] > lines for t in tokens)


def _inert_line(line: str) -> str:
    line = _LIVE.sub(lambda live: live[0].translate(_TWINS), line)
    return _DEFINITION.sub(lambda found: found[1] + ":".translate(_TWINS), line)


def inert_file(text: str) -> str:
    """The same for a file of its own: fences are closed, and their code names no language.

    Some renderers run code of some names, or fetch what it names.
    """
    # Line ends as the parser counts them.
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
    lines = text.split("\n")
    parts: list[str] = []
    done = 0
    for token in _parser.parse(text):
        if token.type == "fence" and token.level == 0 and token.map:
            parts += [_inert_lines(lines[done : token.map[0]]), _fenced(token.content)]
            done = token.map[1]
    return "\n\n".join(part for part in (*parts, _inert_lines(lines[done:])) if part)


def _inert_lines(lines: list[str]) -> str:
    return "\n".join(map(_inert_line, lines)).strip("\n")


def _fenced(content: str) -> str:
    """The code in a closed fence, longer than any in it."""
    longest = max((len(ticks[0]) for ticks in _TICKS.finditer(content)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{content.rstrip(chr(10))}\n{fence}"
