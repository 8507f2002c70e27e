"""Notes as Markdown files: parsing, writing, languages and the changes of a refresh. Pure.

The front matter has the scope of the note, and a hash of each section as the app wrote it: a
section with another hash, or none, is the person's.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, cast

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.languages import language_named, language_of, likely_language
from desktop_rag.core.markup.own_words import hash_of, sections_of
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words

ENGLISH = "en"
# The part of a note made of excerpts, without a model; it has no question.
EXCERPTS = "excerpts"
_LEAST_WORDS = 5
# A topic in one of these scripts leaves no doubt.
_BY_SCRIPT = frozenset({"ru", "ar", "ko", "ja"})


@dataclass(frozen=True, slots=True)
class NoteWords:
    """Words of one language in note_words.toml; `headings` and `questions` by part of a note."""

    your_note: str
    sources: str
    partly: str
    not_found: str
    headings: Mapping[str, str]
    questions: Mapping[str, str]


def note_words(language: str) -> NoteWords:
    """The words of a language by its code; English where there are none."""
    known = _by_language()
    return known.get(language, known[ENGLISH])


def part_of(heading: str) -> str:
    """The part of a note with this heading in any language; "" for none."""
    return _parts().get(heading, "")


def heads_sources(heading: str) -> bool:
    """True for the heading above a list of sources, in any language."""
    return any(heading == known.sources for known in _by_language().values())


def language_of_topic(topic: str, preferred: str, of_documents: Sequence[str]) -> str:
    """The code of the language of a new note.

    The language that the person prefers, by its name; else that of the topic where it is sure or
    shared by documents about it; else that of most of these documents. `of_documents` has the code
    of each, the best first, and "" for unknown ones.
    """
    if preferred.strip():
        return language_named(preferred) or ENGLISH
    asked = likely_language(topic)
    known = [language for language in of_documents if language]
    most = Counter(known).most_common(1)[0][0] if known else ""
    spoken = words(topic)
    is_sure = asked in _BY_SCRIPT or (len(spoken) >= _LEAST_WORDS and language_of(spoken) == asked)
    if asked and (is_sure or asked in known):
        return asked
    # A topic in Chinese characters alone may be Japanese.
    if asked == "zh" and most != "ja":
        return asked
    return most or asked or ENGLISH


@cache
def _by_language() -> dict[str, NoteWords]:
    path = resources_dir() / "questions" / "note_words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: NoteWords(**table) for code, table in tables.items()}


@cache
def _parts() -> dict[str, str]:
    every = _by_language().values()
    return {heading: part for known in every for part, heading in known.headings.items()}


_FRONT = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
_OWN_LINE = re.compile(r"(title|topic|about|language|written): (.*)")
_CODE = re.compile(r"[a-z]{2}")


@dataclass(frozen=True, slots=True)
class NoteSection:
    """A heading of the second level and the text below it.

    `cited` are the sources of the links in a text just written, in their order.
    """

    heading: str
    body: str
    cited: tuple[SourceRef, ...] = field(default=(), compare=False)

    @property
    def hash(self) -> str:
        """Identifies the text."""
        return hash_of(self.body)


@dataclass(frozen=True, slots=True)
class NotePage:
    """A note. `written` maps headings to the hashes of what the app wrote; "" is the opening.

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
    """The text above the first section, and the sections."""
    (_, start, end), *found = sections_of(text)
    sections = (NoteSection(name, text[first:last].strip()) for name, first, last in found)
    return text[start:end].strip(), tuple(sections)


def _value(name: str, text: str) -> object:
    """The value of a line; None for one that the app did not write."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text.strip() if name == "language" else None
    is_code = isinstance(value, str) and _CODE.fullmatch(value)
    return value if name != "language" or is_code else None


class SectionChange(StrEnum):
    """The change of a section by a refresh."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class ProposedSection:
    """A change by a refresh; `is_yours` when the person wrote, changed or removed the section.

    `cited` are the sources of the links in `after`, in their order.
    """

    change: SectionChange
    heading: str
    before: str = ""
    after: str = ""
    is_yours: bool = False
    cited: tuple[SourceRef, ...] = ()

    @property
    def is_asked_for(self) -> bool:
        """True for a change made only if the person chooses it: finding nothing is no proof."""
        return self.is_yours or self.change is SectionChange.GONE


def proposed(
    page: NotePage, fresh: Sequence[NoteSection], says_the_same: Callable[[str, str], bool]
) -> tuple[ProposedSection, ...]:
    """The changes from a note to fresh sections, in the order of these.

    `says_the_same` compares two texts: another wording is no change.
    """
    found: list[ProposedSection] = []
    for section in fresh:
        present = page.section(section.heading)
        if present is None:
            is_removed = section.heading in page.written
            change = SectionChange.NEW, section.heading, "", section.body
            found.append(ProposedSection(*change, is_removed, section.cited))
        elif not says_the_same(present.body, section.body):
            change = SectionChange.CHANGED, section.heading, present.body, section.body
            found.append(ProposedSection(*change, page.is_persons(present), section.cited))
    headings = {section.heading for section in fresh}
    found += [
        ProposedSection(SectionChange.GONE, section.heading, section.body)
        for section in page.sections
        if section.heading not in headings and not page.is_persons(section)
    ]
    return tuple(found)


def with_accepted(
    page: NotePage, changes: Sequence[ProposedSection], accepted: Collection[str]
) -> NotePage:
    """The note with the changes whose headings were accepted; all else stays as it is."""
    wanted = {change.heading: change for change in changes if change.heading in accepted}
    written = dict(page.written)
    sections: list[NoteSection] = []
    for section in page.sections:
        change = wanted.pop(section.heading, None)
        if change is None:
            sections.append(section)
        elif change.change is SectionChange.GONE:
            written.pop(section.heading, None)
        else:
            sections.append(NoteSection(section.heading, change.after))
            written[section.heading] = sections[-1].hash
    for heading, change in wanted.items():
        if change.change is SectionChange.NEW:
            sections.append(NoteSection(heading, change.after))
            written[heading] = sections[-1].hash
    return replace(page, sections=tuple(sections), written=written)
