"""The demo library: every question's answer stands in the named file at the named place."""

import csv
import datetime
import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import docx
import lxml.html
import pypdfium2
import pytest
from docx.text.paragraph import Paragraph
from python_calamine import CalamineWorkbook

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "resources" / "demo"
DOCUMENTS = DEMO / "documents"
LIMIT_BYTES = 400_000
CELLS = re.compile(r"([A-Z])(\d+):([A-Z])(\d+)")
LIBRARY: dict[str, Any] = tomllib.loads((DEMO / "questions.toml").read_text(encoding="utf-8"))
QUESTIONS: list[dict[str, Any]] = LIBRARY["questions"]
ANSWERABLE = [question for question in QUESTIONS if question.get("answerable", True)]


def words(text: str) -> str:
    return " ".join(text.split())


def section(parts: list[tuple[bool, str]], heading: str) -> str:
    """The text below the one heading of this name, up to the next heading of any level."""
    starts = [i for i, (is_heading, text) in enumerate(parts) if is_heading and text == heading]
    assert len(starts) == 1, f"{len(starts)} headings {heading!r}"
    found: list[str] = []
    for is_heading, text in parts[starts[0] + 1 :]:
        if is_heading:
            break
        found.append(text)
    return " ".join(found)


def markdown_parts(path: Path) -> list[tuple[bool, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(line.startswith("#"), line.lstrip("# ").strip()) for line in lines]


def docx_parts(path: Path) -> list[tuple[bool, str]]:
    parts: list[tuple[bool, str]] = []
    for block in docx.Document(str(path)).iter_inner_content():
        if isinstance(block, Paragraph):
            style = block.style.name if block.style else None
            parts.append(((style or "").startswith("Heading"), block.text))
        else:
            parts += [(False, cell.text) for row in block.rows for cell in row.cells]
    return parts


def html_parts(path: Path) -> list[tuple[bool, str]]:
    main = lxml.html.parse(str(path)).getroot().find(".//main")
    assert main is not None
    return [
        (element.tag in {"h1", "h2", "h3"}, words(element.text_content()))
        for element in main.iter("h1", "h2", "h3", "p", "td", "th")
    ]


def cell_text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.strftime("%H:%M") if isinstance(value, datetime.time) else str(value)


def rows_of(path: Path, sheet: str | None) -> list[list[Any]]:
    if sheet is None:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))
    return CalamineWorkbook.from_path(path).get_sheet_by_name(sheet).to_python()


def text_of_cells(path: Path, sheet: str | None, cells: str) -> str:
    rows = rows_of(path, sheet)
    match = CELLS.fullmatch(cells)
    assert match is not None
    left, top, right, bottom = match.groups()
    columns = slice(ord(left) - ord("A"), ord(right) - ord("A") + 1)
    block = [row[columns] for row in rows[int(top) - 1 : int(bottom)]]
    return " ".join(cell_text(value) for row in block for value in row)


def text_of_page(path: Path, page: int) -> str:
    with pypdfium2.PdfDocument(path) as document:
        return document[page - 1].get_textpage().get_text_range()


def text_at(path: Path, place: dict[str, Any]) -> str:
    if path.suffix == ".pdf":
        return text_of_page(path, place["page"])
    if path.suffix in {".xlsx", ".csv"}:
        return text_of_cells(path, place.get("sheet"), place["cells"])
    if path.suffix == ".txt":
        return path.read_text(encoding="utf-8").splitlines()[place["line"] - 1]
    parts = {".md": markdown_parts, ".docx": docx_parts, ".html": html_parts}[path.suffix]
    return section(parts(path), place["heading"])


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["question"])
def test_the_answer_stands_at_the_named_place(question: dict[str, Any]) -> None:
    path = DOCUMENTS / question["file"]
    assert path.is_file()
    assert question["answer"] in words(text_at(path, question["place"]))


def test_unanswerable_questions_name_no_file() -> None:
    unanswerable = [question for question in QUESTIONS if question not in ANSWERABLE]
    assert len(unanswerable) >= 3
    assert all(question.keys() == {"question", "answerable"} for question in unanswerable)


def test_there_are_enough_questions_and_none_twice() -> None:
    texts = [question["question"] for question in QUESTIONS]
    assert len(ANSWERABLE) >= 24
    assert len(set(texts)) == len(texts)


def test_the_first_question_is_one_with_a_known_answer() -> None:
    assert LIBRARY["first_question"] in [question["question"] for question in ANSWERABLE]


def test_every_document_is_asked_about() -> None:
    asked = {question["file"] for question in ANSWERABLE}
    held = {str(p.relative_to(DOCUMENTS).as_posix()) for p in DOCUMENTS.rglob("*") if p.is_file()}
    assert asked == held


def test_the_library_stays_small() -> None:
    assert sum(path.stat().st_size for path in DEMO.rglob("*") if path.is_file()) < LIMIT_BYTES


def test_the_minutes_agree_with_the_visitor_counts() -> None:
    rows = rows_of(DOCUMENTS / "money" / "visitor-counts-2025.csv", None)[1:]
    adults, children, pupils, shut, visitors = (
        sum(int(row[column]) for row in rows) for column in range(1, 6)
    )
    minutes = words((DOCUMENTS / "governance" / "annual-meeting-2026.md").read_text("utf-8"))
    assert f"{visitors:,} people visited in the season of 2025" in minutes
    assert f"{adults:,} adults, {children:,} children and {pupils} pupils" in minutes
    assert shut == 7
    assert "shut on seven days" in minutes


def test_the_budget_adds_up_and_agrees_with_the_minutes() -> None:
    rows = rows_of(DOCUMENTS / "money" / "workbook-2026.xlsx", "Budget")[4:]
    for column in (2, 3, 4):
        sums = {"Income": 0, "Expenditure": 0}
        for row in rows:
            if row[0].endswith(", total"):
                assert row[column] == sums[row[1]]
            elif row[1] in sums:
                sums[row[1]] += row[column]
        assert rows[-1][column] == sums["Income"] - sums["Expenditure"]
    minutes = words((DOCUMENTS / "governance" / "annual-meeting-2026.md").read_text("utf-8"))
    assert f"a deficit of {-int(rows[-1][3]):,} pounds" in minutes


def contents(path: Path) -> object:
    """The members of an Office file, so that another zlib makes no difference; else the bytes."""
    if path.suffix == ".pdf":
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return [(member.filename, archive.read(member)) for member in archive.infolist()]


def rebuild(folder: Path) -> list[Path]:
    script = ROOT / "packaging" / "build_demo.py"
    subprocess.run([sys.executable, "-B", script, "--out", folder], check=True, timeout=50)
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("reportlab", "xlsxwriter")),
    reason="the tools that build the demo files are not installed (extra: demo)",
)
def test_rebuilding_gives_the_same_files(tmp_path: Path) -> None:
    once, twice = rebuild(tmp_path / "once"), rebuild(tmp_path / "twice")
    assert len(once) == 5
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in twice]
    for path in once:
        committed = DOCUMENTS / path.relative_to(tmp_path / "once")
        assert contents(path) == contents(committed), f"{committed.name}: run build_demo.py"
