"""Sets of questions and set-ups from files. Any worker thread."""

import csv
import io
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.core.places import column_number
from desktop_rag.core.records import checked
from desktop_rag.features.evaluation.values.run import QuestionSet, SetQuestion, SetUp

WORKBOOKS = frozenset({".xlsx", ".xlsm", ".xls", ".ods"})
_BORDER = " | "
_CELLS = re.compile(r"([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?")


def workbook_rows(document: ParsedDocument | None) -> list[Mapping[str, str]]:
    """The rows of the first sheet, by the names in its first row. AppError for an unclear row."""
    if document is None or not document.marks:
        return []
    sheet = document.marks[0].anchor.sheet
    ends = [*(mark.offset for mark in document.marks[1:]), len(document.text)]
    rows: list[list[str]] = []
    last_row = first_column = 0
    for mark, end in zip(document.marks, ends, strict=True):
        place = _CELLS.fullmatch(mark.anchor.cells or "")
        # Comments on cells follow the rows.
        if mark.anchor.sheet != sheet or not place or int(place[2]) <= last_row:
            continue
        lines = document.text[mark.offset : end].strip("\n").split("\n")
        last_row = int(place[4] or place[2])
        split = [line.split(_BORDER) for line in lines]
        if not rows:
            first_column = column_number(place[1]) - sum(not cell.strip() for cell in split[0])
        elif (
            len(lines) == 1
            and len(split[0]) > column_number(place[3] or place[1]) - first_column + 1
        ):
            hint = "Write several answers of a cell with | and no spaces around it."
            raise AppError(f"Row {last_row} can't be told apart.", hint)
        rows += split
    return [dict(zip(rows[0], cells, strict=False)) for cells in rows[1:]]


Parse = Callable[[Path], ParsedDocument | None]

_FILES = (".csv", ".jsonl", ".json", *WORKBOOKS)
_OF_FOLDER = "questions.jsonl"
_MOST_BYTES = 20 << 20
# The names of a column or key, the first is ours.
_QUESTION = ("question", "query", "frage")
_EXPECTED = ("expected", "answer", "reference", "antwort")
_LISTS = {"expected": _EXPECTED, "wrong": ("wrong",), "tags": ("tags", "tag"),
          "sources": ("sources", "source")}  # fmt: skip
_NEEDED = "It needs a column or key “question”; “expected”, “wrong” and “tags” may follow."


def is_set_file(path: Path) -> bool:
    """True for a file of questions, and for a folder with one."""
    is_file = path.suffix.casefold() in _FILES and path.is_file()
    return is_file or (path / _OF_FOLDER).is_file()


def read_set(path: Path, parse: Parse) -> QuestionSet:
    """A file as `read_questions` has it, or a folder of questions.jsonl and documents/.

    AppError as there, and for a folder without documents.
    """
    if not path.is_dir():
        return QuestionSet("", path.stem, tuple(read_questions(path, parse)))
    documents = (path / "documents").resolve()
    if not documents.is_dir():
        raise AppError(f"{path} is no set of questions.", "It has no folder documents.")
    questions = read_questions(path / _OF_FOLDER, parse)
    return QuestionSet("", path.resolve().name, tuple(questions), documents=str(documents))


def read_questions(path: Path, parse: Parse) -> list[SetQuestion]:
    """The questions of a .csv, .jsonl or .xlsx file, with the number of each row as id.

    `parse` reads workbooks in the parser process, so that a sheet that fills all memory doesn't end
    the app. AppError when the file can't be read or has no questions. In a table, several values of
    a cell are separated by |.
    """
    match path.suffix.casefold():
        case ".jsonl" | ".json":
            rows = [row for _, row, _ in json_objects(path)]
        case suffix if suffix in WORKBOOKS:
            rows = workbook_rows(parse(path))
        case _:
            rows = _csv(_text(path))
    found = [_question(number, row) for number, row in enumerate(rows, 1)]
    questions = [question for question in found if question.text]
    if not questions:
        raise AppError(f"{path.name} has no questions.", _NEEDED)
    return questions


def read_set_ups(path: Path, ids: Callable[[str, str], str]) -> list[SetUp]:
    """The set-ups of a .json file with a list, or a .toml file with [[setup]].

    `ids` gives the id of an assistant or a collection by its name. AppError for a wrong field.
    """
    text = _text(path)
    try:
        parsed: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as exc:
        raise AppError(f"{path.name} can't be read.", f"{exc}.") from exc
    rows = cast("Any", parsed).get("setup") if isinstance(parsed, dict) else parsed
    if not isinstance(rows, list) or not rows:
        raise AppError(f"{path.name} has no set-ups.", "It needs a list of {name, model, …}.")
    return [_set_up(number, row, ids) for number, row in enumerate(cast("list[Any]", rows), 1)]


def _set_up(number: int, row: object, ids: Callable[[str, str], str]) -> SetUp:
    try:
        given = dict(cast("Mapping[str, Any]", row))
        for kind in ("assistant", "collection"):
            if name := given.pop(kind, ""):
                given[f"{kind}_id"] = ids(kind, str(name))
        return checked(SetUp, {"name": f"set-up {number}"} | given, "")
    except (TypeError, ValueError) as exc:
        known = "name, assistant, model, base_url, collection, room"
        more = "lexical_weight, instructions, chunking {method, max_tokens, overlap_tokens}"
        hint = f"The fields are {known}, {more}, embedder."
        raise AppError(f"Set-up {number} has a wrong field.", hint) from exc


def _text(path: Path) -> str:
    with os_error_as(f"{path} can't be read."):
        if path.stat().st_size > _MOST_BYTES:
            raise AppError(f"{path.name} is too large.", "A set may have 20 MB.")
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as exc:
            raise AppError(f"{path.name} is no text in UTF-8.", "Save it as CSV UTF-8.") from exc


def json_objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any], Callable[[str], AppError]]]:
    """The objects of a .jsonl file with the numbers of their lines, and what makes an error of why.

    AppError for a file that can't be read, and for a line that is no object.
    """
    with os_error_as(f"{path} can't be read."), path.open(encoding="utf-8-sig") as file:
        lines = [(n, line) for n, line in enumerate(file, 1) if line.strip()]
    for number, line in lines:

        def bad(why: str, number: int = number) -> AppError:
            return AppError(f"Line {number} of {path} can't be read.", why)

        try:
            row: Any = json.loads(line)
        except ValueError as exc:
            raise bad(f"It is no JSON: {exc}.") from exc
        if not isinstance(row, dict):
            raise bad("It is no object.")
        yield number, cast("Mapping[str, Any]", row), bad


def _csv(text: str) -> list[Mapping[str, Any]]:
    try:
        dialect = csv.Sniffer().sniff(text[:4096], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), dialect=dialect))
    except csv.Error as exc:
        raise AppError("The file is no CSV.", f"{exc}.") from exc
    return [{str(key): value or "" for key, value in row.items() if key} for row in rows]


def _question(number: int, row: Mapping[str, Any]) -> SetQuestion:
    folded = {key.strip().casefold(): value for key, value in row.items()}
    text = next((str(folded[name]) for name in _QUESTION if folded.get(name)), "")
    lists = {
        field: tuple(t for name in names for t in _texts(folded.get(name)))
        for field, names in _LISTS.items()
    }
    return SetQuestion(str(folded.get("id") or number), text.strip(), **lists)


def _texts(value: object) -> Sequence[str]:
    if isinstance(value, list):
        return [str(each).strip() for each in cast("list[object]", value) if str(each).strip()]
    return [part.strip() for part in str(value or "").split("|") if part.strip()]
