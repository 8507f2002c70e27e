"""Folders of records in Markdown for `counting.py`: made from a seed, with the right numbers.

Each structure is a function from records to files. A record has a title, a state, a number of
minutes and a list of things; the words are those of a language.
"""

import random
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Words:
    """What the files and questions of a language say.

    `asks` are the questions: for all, for those in a state, for those with a thing, for those
    without it, for those of more than a number of minutes.
    """

    noun: str
    state: str
    states: tuple[str, str]
    minutes: str
    unit: str
    things: str
    note: str
    asks: tuple[str, str, str, str, str]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    goods: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A record."""

    title: str
    state: str
    minutes: int
    things: tuple[str, ...]


def _read() -> dict[str, Words]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

    def of(table: dict[str, Any]) -> Words:
        fields: dict[str, Any] = {k: _frozen(value) for k, value in table.items()}
        return Words(**fields)

    return {code: of(table) for code, table in tables.items()}


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


LANGUAGES = _read()
_NUMERALS = ("II", "III", "IV", "V", "VI")
_ASKED_MINUTES = 60


def entries(count: int, words: Words, seed: int) -> list[Entry]:
    """So many records with different titles."""
    chance = random.Random(seed)
    titles = [f"{a} {b}" for a in words.names for b in words.kinds]
    chance.shuffle(titles)
    made: list[Entry] = []
    for n in range(count):
        more = "" if n < len(titles) else f" {_NUMERALS[n // len(titles) - 1]}"
        things = tuple(chance.sample(words.goods, chance.randint(2, 4)))
        state = words.states[0 if chance.random() < 0.3 else 1]
        made.append(Entry(titles[n % len(titles)] + more, state, chance.randint(5, 120), things))
    return made


def expected(made: Sequence[Entry], words: Words) -> tuple[int, int, int, int, int]:
    """The right answers to the questions of the language."""
    butter = words.goods[0]
    return (
        len(made),
        sum(e.state == words.states[0] for e in made),
        sum(butter in e.things for e in made),
        sum(butter not in e.things for e in made),
        sum(e.minutes > _ASKED_MINUTES for e in made),
    )


Files = dict[str, str]
Structure = Callable[[Sequence[Entry], Words], Files]


def _fields(e: Entry, w: Words, mark: str = "") -> str:
    return (
        f"{mark}{w.state}: {e.state}\n{mark}{w.minutes}: {e.minutes} {w.unit}\n"
        f"{mark}{w.things}: {', '.join(e.things)}\n"
    )


def _listed(things: Sequence[str]) -> str:
    return "".join(f"- {thing}\n" for thing in things)


def a_file_each(made: Sequence[Entry], w: Words) -> Files:
    """A file for each record, with front matter and sections."""
    files = {
        f"{w.noun}/{n:03}.md": f"---\n{w.state.lower()}: {e.state}\n"
        f"{w.minutes.lower()}: {e.minutes} {w.unit}\n---\n# {e.title}\n\n"
        f"## {w.things}\n\n{_listed(e.things)}\n## {w.note}\n\n...\n"
        for n, e in enumerate(made)
    }
    return files | {f"{w.noun}/README.md": f"# {w.noun.capitalize()}\n\nhttp://example.org\n"}


def sections(made: Sequence[Entry], w: Words) -> Files:
    """One file with a section for each record."""
    parts = [f"## {e.title}\n\n{_fields(e, w)}\n" for e in made]
    return {f"{w.noun}.md": f"# {w.noun.capitalize()}\n\n" + "".join(parts)}


def sections_in_chapters(made: Sequence[Entry], w: Words) -> Files:
    """Sections below chapters, over three files."""
    files: Files = {}
    for third in range(3):
        text = ""
        for n, e in enumerate(made[third::3]):
            text += f"# {w.names[third]} {n // 10 + 1}\n\n" if n % 10 == 0 else ""
            text += f"## {e.title}\n\n{_fields(e, w, '- ')}\n### {w.note}\n\n...\n\n"
        files[f"{w.noun}-{third + 1}.md"] = text
    return files


def table(made: Sequence[Entry], w: Words) -> Files:
    """One table with a row for each record."""
    head = f"| Nr | {w.noun.capitalize()} | {w.state} | {w.minutes} | {w.things} |\n"
    head += "|---|---|---|--:|---|\n"
    rows = "".join(
        f"| {n} | {e.title} | {e.state} | {e.minutes} | {', '.join(e.things)} |\n"
        for n, e in enumerate(made, 1)
    )
    return {"list.md": f"# {w.noun.capitalize()}\n\n...\n\n{head}{rows}"}


def blocks(made: Sequence[Entry], w: Words) -> Files:
    """Blocks of named values, separated by blank lines."""
    text = "\n".join(f"**Name:** {e.title}\n{_fields(e, w)}" for e in made)
    return {f"{w.noun}.md": text}


def tasks(made: Sequence[Entry], w: Words) -> Files:
    """A list of items, with what belongs to each below it."""
    text = "".join(f"- {e.title}\n{_fields(e, w, '  - ')}" for e in made)
    return {f"{w.noun}.md": f"# {w.noun.capitalize()}\n\n{text}"}


SEEN: dict[str, Structure] = {
    f.__name__: f for f in (a_file_each, sections, sections_in_chapters, table, blocks, tasks)
}


# --- structures that were written after the code, and first asked when it was finished --------


def _underlined(text: str, mark: str) -> str:
    return f"{text}\n{mark * max(3, len(text))}\n\n"


def underlined_headings(made: Sequence[Entry], w: Words) -> Files:
    """Headings underlined, an introduction before and a section about something else behind."""
    text = _underlined(w.noun.capitalize(), "=") + "Lorem ipsum dolor sit amet.\n\n"
    text += "".join(_underlined(e.title, "-") + _fields(e, w, "* ") + "\n" for e in made)
    return {"book.md": text + _underlined("Appendix", "-") + "Lorem ipsum.\n"}


def folders_of_files(made: Sequence[Entry], w: Words) -> Files:
    """Files in folders of their own kind, fields as a list, with a template and an index."""
    files = {
        f"{w.noun}/{w.names[n % 4].lower()}/{e.title.lower().replace(' ', '-')}.md": (
            f"# {e.title}\n\n{_fields(e, w, '- ')}\n...\n"
        )
        for n, e in enumerate(made)
    }
    index = "".join(f"- [[{e.title}]]\n" for e in made)
    template = f"# Template\n\n- {w.state}:\n- {w.minutes}:\n- {w.things}:\n"
    return files | {f"{w.noun}/index.md": f"# Index\n\n{index}", f"{w.noun}/template.md": template}


def letters(made: Sequence[Entry], w: Words) -> Files:
    """Third-level headings below letters of the alphabet, with an example in a code block."""
    text = f"# {w.noun.capitalize()}\n\n```markdown\n### Example\n{w.state}: {w.states[0]}\n```\n\n"
    letter = ""
    for e in sorted(made, key=lambda e: e.title):
        if e.title[0] != letter:
            letter = e.title[0]
            text += f"## {letter}\n\n"
        text += f"### {e.title}\n\n> **{w.state}:** {e.state}\n> **{w.minutes}:** {e.minutes}"
        text += f" {w.unit}\n\n**{w.things}**\n\n{_listed(e.things)}\n"
    return {"a-z.md": text}


def tables_by_month(made: Sequence[Entry], w: Words) -> Files:
    """Tables with the same columns below several headings, and a small one of totals."""
    text = f"# {w.noun.capitalize()}\n"
    for month in range(4):
        text += (
            f"\n## {w.names[month]}\n\n{w.things} | {w.minutes} | Name | {w.state}\n--|--|--|--\n"
        )
        for e in made[month::4]:
            text += f"{', '.join(e.things)} | {e.minutes} {w.unit} | **{e.title}** | {e.state}\n"
    return {"plan.md": text + "\n| A | B |\n|---|---|\n| Total | 4 |\n| Mean | 2 |\n"}


def cards(made: Sequence[Entry], w: Words) -> Files:
    """Cards between horizontal rules, each with a bold title."""
    return {
        f"{w.noun}.md": "\n---\n\n".join(
            f"**{e.title}**\n\n*{w.state}:* {e.state}\n*{w.minutes}:* {e.minutes} {w.unit}\n\n"
            f"{_listed(e.things)}\n"
            for e in made
        )
    }


def inline_fields(made: Sequence[Entry], w: Words) -> Files:
    """Numbered headings over sections with the double colons of note programs, over two files."""

    def of(some: Sequence[Entry]) -> str:
        return "".join(
            f"## {n}. {e.title}\n{w.state}:: {e.state}\n{w.minutes}:: {e.minutes} {w.unit}\n"
            f"{w.things}:: {', '.join(f'[[{t}]]' for t in e.things)}\n\nLorem ipsum.\n\n"
            for n, e in enumerate(some, 1)
        )

    half = len(made) // 2
    return {f"{w.noun} A.md": of(made[:half]), f"{w.noun} B.md": of(made[half:])}


def one_line_items(made: Sequence[Entry], w: Words) -> Files:
    """A numbered list with everything on one line, below two headings."""
    lines = [
        f"{n}. **{e.title}** ({w.state}: {e.state}; {w.minutes}: {e.minutes} {w.unit};"
        f" {w.things}: {', '.join(e.things)})\n"
        for n, e in enumerate(made, 1)
    ]
    half = len(lines) // 2
    return {
        f"{w.noun}.md": f"# {w.names[0]}\n\n{''.join(lines[:half])}\n# {w.names[1]}\n\n"
        + "".join(lines[half:])
    }


def boxes(made: Sequence[Entry], w: Words) -> Files:
    """Sections with sub-sections of the same titles and task lists inside."""
    return {
        "kitchen.md": f"# {w.noun.capitalize()}\n\n"
        + "".join(
            f"## {e.title}\n\n### {w.state}\n\n{e.state}\n\n### {w.minutes}\n\n{e.minutes} {w.unit}"
            f"\n\n### {w.things}\n\n{''.join(f'- [ ] {t}' + chr(10) for t in e.things)}\n"
            for e in made
        )
    }


def two_lines(made: Sequence[Entry], w: Words) -> Files:
    """Definition lists, with everything about a term on the lines below it."""
    return {
        "glossary.md": f"# {w.noun.capitalize()}\n\n"
        + "".join(
            f"{e.title}\n: {w.state}: {e.state}\n: {w.minutes}: {e.minutes} {w.unit}\n"
            f": {w.things}: {', '.join(e.things)}\n\n"
            for e in made
        )
    }


def quotes(made: Sequence[Entry], w: Words) -> Files:
    """Call-outs with a title, as note programs have them."""
    return {
        f"{w.noun}.md": "\n".join(
            f"> [!note] {e.title}\n> {w.state}: {e.state}\n> {w.minutes}: {e.minutes} {w.unit}\n"
            f"> {w.things}: {', '.join(e.things)}\n"
            for e in made
        )
    }


def files_with_a_list(made: Sequence[Entry], w: Words) -> Files:
    """A file for each group, with a front matter of its own and a sub-list for each record."""
    files: Files = {}
    for group in range(5):
        text = f"---\ntitle: {w.names[group]}\nstatus: draft\n---\n\n"
        for e in made[group::5]:
            text += f"* [{e.title}](https://example.org/{len(text)})\n\n"
            text += f"    * {w.state}: **{e.state}**\n    * {w.minutes}: {e.minutes} {w.unit}\n"
            text += f"    * {w.things}: {', '.join(e.things)}\n\n"
        files[f"{w.noun}/{group}.md"] = text
    return files


def journal(made: Sequence[Entry], w: Words) -> Files:
    """Dated headings, a record each, with a list of what is in it and prose behind."""
    return {
        "journal.md": f"# {w.noun.capitalize()} 2024\n\n"
        + "".join(
            f"## 2024-{n // 28 % 12 + 1:02}-{n % 28 + 1:02} – {e.title}\n\n{w.state}: {e.state} · "
            f"{w.minutes}: {e.minutes} {w.unit}\n\n{_listed(e.things)}\nLorem ipsum dolor.\n\n"
            for n, e in enumerate(made)
        )
    }


HELD_OUT: dict[str, Structure] = {
    f.__name__: f
    for f in (
        underlined_headings, folders_of_files, letters, tables_by_month, cards, inline_fields,
        one_line_items, boxes, two_lines, quotes, files_with_a_list, journal,
    )
}  # fmt: skip
