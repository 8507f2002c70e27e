"""LaTeX: the source without its comments, with headings and the line numbers of the file.

Runs in the parser process.
"""

import re

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.encoding import decode
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import plain_text

_MAX_PARSED_CHARS = 10_000_000
_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
# Braces in braces in braces, which no title exceeds; possessive, so that it stays linear.
_BRACED = r"\{((?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.|\{[^{}]*+\})*+\})*+)\}"
_HEADING = re.compile(
    rf"\\({'|'.join(_LEVELS)})\*?[ \t]*(?:\[[^\[\]]{{0,300}}\][ \t]*)?\n?[ \t]*{_BRACED}", re.DOTALL
)
_TITLE = re.compile(rf"\\title[ \t]*(?:\[[^\[\]]{{0,300}}\][ \t]*)?{_BRACED}", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_VERBATIM = re.compile(r"\\(begin|end)\{(?:verbatim|lstlisting|minted|Verbatim)\*?\}")
_NOT_SHOWN = re.compile(r"\\(?:label|footnote|thanks|vspace|hspace|cite[a-z]*)\*?\{[^{}]*\}")
_COMMAND = re.compile(r"\\(?:[A-Za-z]+\*?[ \t]*|\\|(?=[^A-Za-z]))|[{}$]")


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the title command, or nothing."""
    text, warning = decode(source.data)
    if warning:
        draft.warn(warning)
    text = draft.fitting(text)
    if len(text) > _MAX_PARSED_CHARS:
        plain_text.write(text, draft)
        return ""
    numbers, lines = _without_comments(text)
    text = "\n".join(lines)
    plain_text.write(text, draft, _headings(text), numbers)
    title = _TITLE.search(text)
    return _plain(title[1]) if title else ""


def _without_comments(text: str) -> tuple[list[int], list[str]]:
    """The lines that are left, and their numbers in the file."""
    numbers: list[int] = []
    kept: list[str] = []
    is_verbatim = False
    for number, line in enumerate(text.split("\n"), 1):
        for found in _VERBATIM.finditer(line):
            is_verbatim = found[1] == "begin"
        shown = line if is_verbatim else _COMMENT.sub(r"\1", line).rstrip()
        if shown or not line.strip():
            numbers.append(number)
            kept.append(shown)
    return numbers, kept


def _headings(text: str) -> dict[int, tuple[int, str]]:
    """Line (from 1) → level and title; the highest kind in the file has level 1."""
    found = list(_HEADING.finditer(text))
    if not found:
        return {}
    top = min(_LEVELS.index(heading[1]) for heading in found)
    headings: dict[int, tuple[int, str]] = {}
    line, counted = 1, 0
    for heading in found:
        line += text.count("\n", counted, heading.start())
        counted = heading.start()
        title = _plain(heading[2])
        if title:
            headings.setdefault(line, (_LEVELS.index(heading[1]) - top + 1, title))
    return headings


def _plain(title: str) -> str:
    shown = _COMMAND.sub("", _NOT_SHOWN.sub("", title.replace("\\\\", " ").replace("~", " ")))
    return " ".join(shown.split())
