"""Comments, drawn texts and looks of sheets, and the text of charts. Runs in the parser process."""

import html
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from desktop_rag.ingest.read.foundation.ooxml import (
    Element,
    OfficePackage,
    attribute,
    child,
    children,
    descendants,
    local_name,
    reference,
)
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from desktop_rag.ingest.read.office.binary_looks import xlsb_looks
from desktop_rag.ingest.read.office.sheet_looks import (
    SheetLooks,
    WorkbookLooks,
    ods_looks,
    workbook_looks,
    xlsx_looks,
)

_MAX_ITEMS = 10_000
# Links stand below the cells, of which there may be too many for a tree.
_LINK = re.compile(rb"<(?:\w+:)?hyperlink\b([^>]{1,4000})>")
_LINKED_CELL = re.compile(rb'\bref="([A-Z]{1,3}[0-9]{1,7})')
_RELATION = re.compile(rb'\w+:id="([^"]+)"')
# A formula in a cell: the address, then perhaps words.
_LINKING_FORMULA = re.compile(
    rb'<c\b[^>]{0,200}?\br="([A-Z]{1,3}[0-9]{1,7})"[^>]{0,200}>\s*<f>\s*HYPERLINK\('
    rb'(?:"|&quot;)([^"&]{1,1000}(?:&amp;[^"&]{1,1000}){0,20})(?:"|&quot;)'
)
_MINUTE_CHARS = len("2026-06-18T17:35")
# The looks of a larger OpenDocument workbook are left out: they need a tree of it in memory.
_MAX_ODS_BYTES = 30_000_000


@dataclass(slots=True)
class SheetExtras:
    """Comments as (cell, text), the texts of what is drawn over the cells, and how to read what
    they look like while the archive is open.
    """

    comments: list[tuple[str, str]] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)
    looks: Callable[[], SheetLooks] = SheetLooks


def sheet_extras(archive: zipfile.ZipFile) -> dict[str, SheetExtras]:
    """The extras by the name of the sheet; of a kind of workbook that has no XML there are none."""
    package = OfficePackage(archive)
    if "content.xml" in archive.namelist():
        is_small = archive.getinfo("content.xml").file_size <= _MAX_ODS_BYTES
        looks = ods_looks(package.root("content.xml")) if is_small else {}
        return only_looks(looks)
    try:
        main = package.main_part()
        if main.endswith(".bin"):
            return only_looks(xlsb_looks(package, main))
        workbook = package.root(main)
        relations = package.relations(main)
        people, shared = _people(package, main), workbook_looks(package, main)
        found: dict[str, SheetExtras] = {}
        for sheet in children(child(workbook, "sheets")):
            if reference(sheet) in relations:
                part = relations[reference(sheet)][1]
                extras = found[attribute(sheet, "name")] = _extras(package, part, people)
                extras.looks = partial(_looks, package, part, shared)
        return found
    except Unreadable:
        # Whether the cells can be read is for others to say.
        return {}


def only_looks(looks: dict[str, SheetLooks]) -> dict[str, SheetExtras]:
    """The extras of sheets of which only the looks are known."""
    return {name: SheetExtras(looks=lambda found=found: found) for name, found in looks.items()}


def said_by(author: str, time: str) -> str:
    """The author and minute of a comment, as far as known: ` by Jane, 2026-06-18 17:35`."""
    said = f" by {author.strip()}" if author.strip() else ""
    minute = time[:_MINUTE_CHARS].replace("T", " ").removesuffix(" 00:00")
    return f"{said}, {minute}" if time else said


def _looks(package: OfficePackage, part: str, shared: WorkbookLooks) -> SheetLooks:
    content = package.content(part) or b""
    looks = xlsx_looks(content, shared)
    looks.addresses = _addresses(package, part, content)
    return looks


def _people(package: OfficePackage, main: str) -> dict[str, str]:
    return {
        attribute(person, "id"): attribute(person, "displayName")
        for part in package.related(main, "/person")
        for person in children(package.root(part))
    }


def _extras(package: OfficePackage, part: str, people: dict[str, str]) -> SheetExtras:
    extras = SheetExtras()
    plain: list[tuple[str, str]] = []
    for kind, name in package.relations(part).values():
        if kind.endswith("/threadedComment"):
            extras.comments += _threads(package.root(name), people)
        elif kind.endswith("/comments"):
            plain += _comments(package.root(name))
        elif kind.endswith("/drawing"):
            extras.drawn += _drawn(package, name)
    # Beside a thread stands a comment for programs that know no threads.
    threads = {cell for cell, _ in extras.comments}
    extras.comments += [(cell, text) for cell, text in plain if cell not in threads]
    del extras.comments[_MAX_ITEMS:], extras.drawn[_MAX_ITEMS:]
    return extras


def _addresses(package: OfficePackage, part: str, content: bytes) -> dict[str, str]:
    targets = package.addresses(part)
    found: dict[str, str] = {}
    for link in islice(_LINK.finditer(content), _MAX_ITEMS if targets else 0):
        cell, relation = _LINKED_CELL.search(link[1]), _RELATION.search(link[1])
        if cell and relation:
            found[cell[1].decode()] = targets.get(relation[1].decode("utf-8", "replace"), "")
    formulas = _LINKING_FORMULA.finditer(content) if b"HYPERLINK(" in content else ()
    for formula in islice(formulas, _MAX_ITEMS):
        found[formula[1].decode()] = html.unescape(formula[2].decode("utf-8", "replace"))
    return found


def _comments(root: Element | None) -> list[tuple[str, str]]:
    authors = [author.text or "" for author in children(child(root, "authors"))]
    found: list[tuple[str, str]] = []
    for comment in children(child(root, "commentList")):
        number = attribute(comment, "authorId")
        author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
        text = _joined(child(comment, "text"))
        if text:
            found.append((attribute(comment, "ref"), f"{said_by(author, '')}: {text}"))
    return found


def _threads(root: Element | None, people: dict[str, str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for comment in children(root):
        text = getattr(child(comment, "text"), "text", None) or ""
        author = people.get(attribute(comment, "personId"), "")
        said = said_by(author, attribute(comment, "dT"))
        found.append((attribute(comment, "ref"), f"{said}: {' '.join(text.split())}"))
    return found


def _drawn(package: OfficePackage, part: str) -> list[str]:
    """Text boxes, and the titles of charts: what charts show stands in cells."""
    relations = package.relations(part)
    texts: list[str] = []
    for item in descendants(package.root(part), "txBody", "chart"):
        if local_name(item) == "txBody":
            texts.append(" ".join(_joined(paragraph) for paragraph in children(item)))
        else:
            root = package.root(relations.get(reference(item), ("", ""))[1])
            texts += [_joined(title) for title in descendants(root, "title")]
    return [" ".join(text.split()) for text in texts if text.strip()]


def _joined(element: Element | None) -> str:
    text = "".join(part.text or "" for part in descendants(element, "t"))
    return " ".join(text.split())


_BORDER = " | "
_MAX_SERIES = 100
_MAX_POINTS = 1000
_DIGITS = 6


def chart_lines(root: Element) -> list[str]:
    """The lines of a chart: titles, then a row of series names, then a row of values a category."""
    lines = [_joined_labels(title) for title in descendants(root, "title")]
    series = list(islice(descendants(root, "ser"), _MAX_SERIES))
    names = [" ".join(_points(child(item, "tx")).values()) for item in series]
    values = [_points(child(item, "val")) or _points(child(item, "yVal")) for item in series]
    categories: dict[int, str] = {}
    for item in series:
        categories |= _points(child(item, "cat")) or _points(child(item, "xVal"))
    if any(names):
        lines.append(_BORDER.join(["", *names]).strip())
    for index in sorted({*categories, *(index for column in values for index in column)}):
        cells = [categories.get(index, ""), *(column.get(index, "") for column in values)]
        lines.append(_BORDER.join(cells).strip())
    return [line for line in lines if line]


def _joined_labels(element: Element) -> str:
    return "".join(part.text or "" for part in descendants(element, "t")).strip()


def _points(element: Element | None) -> dict[int, str]:
    """The cached points of a series or a category axis by their index; one text is point 0."""
    points: dict[int, str] = {}
    for point in islice(descendants(element, "pt"), _MAX_POINTS):
        index = attribute(point, "idx")
        if index.isdecimal():
            text = " ".join((part.text or "").strip() for part in children(point))
            points.setdefault(int(index), _shown(text))
    return points


def _shown(text: str) -> str:
    """A number without the digits of floating-point noise."""
    try:
        return f"{float(text):.{_DIGITS}g}" if "." in text else text
    except ValueError:
        return text
