"""A note as a Markdown file of the person's own, taken apart and put together. Pure.

The front matter says what the note is about, and has a hash of each section as the app wrote it: a
section with another hash, or none, is the person's.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, cast

from desktop_rag.core.conversation import SourceRef
from desktop_rag.features.schedules.values.note_words import ENGLISH, note_words

_FRONT = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
_OWN_LINE = re.compile(r"(title|topic|about|language|written): (.*)")
_CODE = re.compile(r"[a-z]{2}")
_HEADING = re.compile(r"## +(.+?)\s*#*\s*")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HASH_CHARS = 16


@dataclass(frozen=True, slots=True)
class NoteSection:
    """A heading of the second level and the text below it.

    `cited` are the sources behind the links of a text that was just written, in their order.
    """

    heading: str
    body: str
    cited: tuple[SourceRef, ...] = field(default=(), compare=False)

    @property
    def hash(self) -> str:
        """Identifies the text; spaces at the ends of lines don't count."""
        plain = "\n".join(line.rstrip() for line in self.body.strip().splitlines())
        return sha256(plain.encode()).hexdigest()[:_HASH_CHARS]


@dataclass(frozen=True, slots=True)
class NotePage:
    """A note. `written` maps headings to the hashes of what the app wrote.

    `language` is the code of the language that it is written in. `about` is a QuestionScope as
    JSON; `front` holds lines of the front matter that are the person's, `opening` what stands above
    the first section.
    """

    topic: str
    opening: str = ""
    sections: tuple[NoteSection, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict[str, str])
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    front: tuple[str, ...] = ()
    language: str = ENGLISH

    def section(self, heading: str) -> NoteSection | None:
        """The first section with this heading."""
        return next((s for s in self.sections if s.heading == heading), None)

    def is_persons(self, section: NoteSection) -> bool:
        """True for a section that the person wrote or changed."""
        return self.written.get(section.heading) != section.hash

    def with_sections(self, sections: Sequence[NoteSection]) -> "NotePage":
        """The page with these sections."""
        return replace(self, sections=tuple(sections))


def new_page(topic: str, about: Mapping[str, Any], language: str = ENGLISH) -> NotePage:
    """An empty note about a topic."""
    return NotePage(topic, f"# {topic}", about=about, language=language)


def page_text(page: NotePage) -> str:
    """The content of the file."""
    own = {
        "title": f"{page.topic} ({note_words(page.language).your_note})",
        "topic": page.topic,
        "language": page.language,
        "about": dict(page.about),
        "written": dict(page.written),
    }
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in own.items()]
    parts = ["\n".join(["---", *lines, *page.front, "---"]), page.opening.strip()]
    parts += [f"## {section.heading}\n\n{section.body.strip()}" for section in page.sections]
    return "\n\n".join(part for part in parts if part) + "\n"


def parsed_page(text: str) -> NotePage | None:
    """The inverse of `page_text`; None for a file that is no note of the app."""
    text = text.replace("\r\n", "\n").lstrip("\ufeff")
    front = _FRONT.match(text)
    if front is None:
        return None
    own: dict[str, Any] = {}
    kept: list[str] = []
    for line in front[1].split("\n"):
        match = _OWN_LINE.fullmatch(line)
        value = _value(match[1], match[2]) if match else None
        if match and value is not None:
            own[match[1]] = value
        else:
            kept.append(line)
    if not isinstance(own.get("topic"), str) or not isinstance(own.get("written"), dict):
        return None
    opening, sections = _taken_apart(text[front.end() :])
    about = own.get("about")
    return NotePage(
        own["topic"], opening, sections, cast("dict[str, str]", own["written"]),
        cast("dict[str, Any]", about) if isinstance(about, dict) else {}, tuple(kept),
        own.get("language", ENGLISH),
    )  # fmt: skip


def _taken_apart(text: str) -> tuple[str, tuple[NoteSection, ...]]:
    """What stands above the first section, and the sections."""
    heads: list[str] = [""]
    bodies: list[list[str]] = [[]]
    for line, is_code in _lines(text):
        heading = None if is_code else _HEADING.fullmatch(line)
        if heading:
            heads.append(heading[1])
            bodies.append([])
        else:
            bodies[-1].append(line)
    texts = ["\n".join(body).strip() for body in bodies]
    pairs = zip(heads[1:], texts[1:], strict=True)
    return texts[0], tuple(NoteSection(head, body) for head, body in pairs)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code between fences."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        yield line, bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""


def _value(name: str, text: str) -> object:
    """The value of a line; None for one that the app did not write."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text.strip() if name == "language" else None
    is_code = isinstance(value, str) and _CODE.fullmatch(value)
    return value if name != "language" or is_code else None
