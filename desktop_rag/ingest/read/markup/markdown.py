"""Markdown: the text as it stands, with headings and line marks, below values of its front matter.

Only block structure is parsed, which is linear; inline markup is left to those who show the text.
Runs in the parser process.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from desktop_rag.core.domain import MOST_TAGS, distinct_tags
from desktop_rag.core.markup.own_words import is_own_front, written_by_app
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, day_of, one_line
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import plain_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from yaml import Node

# A person's front matter is far shorter. What is longer stays text.
_MAX_BLOCK_CHARS = 32_000
# Each open bracket makes every further token of YAML slower. A list of tags has one.
_MAX_BRACKETS = 100
# A dotted TOML key takes time and memory by the square of its parts, and stands on one line.
_MAX_DOTS = 200
_YAML_BLOCK = re.compile(
    r"---[ \t]*\n(?P<block>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_TOML_BLOCK = re.compile(
    r"\+\+\+[ \t]*\n(?P<block>.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_ENTRY = re.compile(r"""(?P<quote>["']?)(?P<key>\w[\w ./-]{0,59})(?P=quote):(?=[ \t\n]|\Z)""")
# A line that goes on with the entry above it, or says nothing.
_CONTINUED = re.compile(r"[ \t]|-(?:[ \t]|\Z)|[\]}#]|\Z")
_COMMENT = re.compile(r"(?:\A|(?<=[ \t]))#.*")
_QUOTES = "\"'"
_TITLES, _DATES, _TAGS = ("title",), ("date", "created"), ("tags", "tag", "keywords")
_KNOWN = {*_TITLES, *_DATES, *_TAGS}
_KEY = re.compile(r"""["']?(\w[\w ./-]{0,59}?)["']?[ \t]*[:=]|\[""")
# The text of an entry, or the texts of a list.
Value = str | list[str]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Title, date (ISO) and tags of a file, and the offset at which its text begins.

    `others` are the lines of further entries with their numbers in the file.
    """

    title: str = ""
    dated: str = ""
    tags: tuple[str, ...] = ()
    end: int = 0
    others: tuple[tuple[int, str], ...] = ()


NONE = FrontMatter()


def parse_front_matter(text: str) -> FrontMatter:
    """The front matter (YAML or TOML) at the beginning of the text; NONE where there is none.

    YAML is read one top-level entry at a time, as a tree of strings without types and merges, so an
    error in one entry spoils no other and an alias never multiplies.
    """
    head = text[:_MAX_BLOCK_CHARS]
    if match := _YAML_BLOCK.match(head):
        entries = _yaml_entries(match["block"])
    elif match := _TOML_BLOCK.match(head):
        entries = _toml_entries(match["block"])
    else:
        return NONE
    if not entries:
        return NONE
    end = match.end()
    while end < len(text) and text[end] == "\n":
        end += 1
    return FrontMatter(
        title=one_line(_text(_first(entries, _TITLES))),
        dated=day_of(_text(_first(entries, _DATES))),
        tags=_tags(_first(entries, _TAGS)),
        end=end,
        others=() if is_own_front(match["block"]) else tuple(_others(match["block"])),
    )


def _others(block: str) -> Iterator[tuple[int, str]]:
    """(line in the file, text) of each entry but those that become properties of the document."""
    is_kept = False
    # The block begins on the second line.
    for number, line in enumerate(block.split("\n"), 2):
        if found := _KEY.match(line):
            is_kept = (found[1] or "").casefold().strip() not in _KNOWN
        if is_kept and line.strip() and not line.startswith("#"):
            yield number, line


def _first(entries: Mapping[str, Value], keys: Iterable[str]) -> Value:
    return next((entries[key] for key in keys if entries.get(key)), "")


def _text(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _tags(value: Value) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.strip("[]").split("," if "," in value else None)
    return distinct_tags(map(one_line, value))[:MOST_TAGS]


def _yaml_entries(block: str) -> dict[str, Value]:
    """The wanted entries; empty when the block is prose between two rules and no front matter."""
    entries: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in block.split("\n"):
        if match := _ENTRY.match(line):
            lines = entries.setdefault(match["key"].casefold().strip(), [])
            lines.append(line[match.end() :])
        elif not _CONTINUED.match(line):
            return {}
        else:
            lines.append(line)
    found = {key: _yaml_value("\n".join(entries[key])) for key in _KNOWN if key in entries}
    # A key that is not wanted makes a front matter too.
    return found or dict.fromkeys(entries, "")


def _yaml_value(written: str) -> Value:
    import yaml

    if written.count("[") + written.count("{") > _MAX_BRACKETS:
        return ""
    try:
        entry = yaml.compose(f"value:{written}", Loader=yaml.BaseLoader)
        return _value_of(entry.value[0][1])
    except Exception:
        # A parser may raise anything about what was made to break it. The line itself often is
        # the text: `title: Fees: a guide` is no YAML.
        return _COMMENT.sub("", written.strip().partition("\n")[0]).strip().strip(_QUOTES)


def _value_of(node: "Node") -> Value:
    from yaml import ScalarNode, SequenceNode

    if isinstance(node, SequenceNode):
        return [str(item.value) for item in node.value if isinstance(item, ScalarNode)]
    return str(node.value) if isinstance(node, ScalarNode) else ""


def _toml_entries(block: str) -> dict[str, Value]:
    if any(line.count(".") > _MAX_DOTS for line in block.splitlines()):
        return {}
    try:
        found = tomllib.loads(block)
    except (ValueError, RecursionError):
        return {}
    return {key.casefold(): _plain_value(value) for key, value in found.items()}


def _plain_value(value: object) -> Value:
    if isinstance(value, list):
        return [str(item) for item in value if isinstance(item, str | int | float)]
    return "" if isinstance(value, dict) else str(value)


_MAX_PARSED_CHARS = 10_000_000
_MARKUP = re.compile(r"[\\`*_~\[\]<&!]")


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the front matter, or nothing."""
    text = plain_text.decoded(source, draft)
    front = parse_front_matter(text)
    draft.dated, draft.tags = front.dated, front.tags
    # A note that is nothing but its front matter is found by its title.
    body = text[front.end :] or front.title
    # The parser needs many times the memory of the text. No person wrote one that is longer.
    found = headings(body) if len(body) <= _MAX_PARSED_CHARS else {}
    above = text.count("\n", 0, front.end)
    numbers = range(above + 1, above + len(body) + 2) if above else None
    lead = "\n".join(line for _, line in front.others) + "\n\n" * bool(front.others)
    if lead:
        added = len(front.others) + 1
        found = {line + added: heading for line, heading in found.items()}
        below = range(above, above + body.count("\n") + 2)
        numbers = [*(number for number, _ in front.others), *below]
    before = len(lead) - front.end
    own = [(start + before, end + before) for start, end in written_by_app(text)]
    plain_text.write(lead + body, draft, found, numbers, own)
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
