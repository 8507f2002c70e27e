"""reStructuredText, AsciiDoc, Org and LaTeX: the text as it stands, with headings and line marks.

Only headings and what is crossed out are looked for, line by line; LaTeX loses its comments. Runs
in the parser process.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import plain_text

# Line (from 1) → level and title.
Headings = dict[int, tuple[int, str]]

_MAX_TITLE_CHARS = 300
_UNDERLINE = re.compile(r"([^\w\s])\1{2,}[ \t]*")
_MIN_SHORT_UNDERLINE = 4
_INLINE = re.compile(
    r":[\w:+-]+:(?=`)|`__?(?=\W|$)|[`*]|\s*<[^<>`]*>(?=`)|(?<=\w)__?(?=\W|$)|\\(?=\W)"
)
_ASCIIDOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_ASCIIDOC_FENCE = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,}\w*)[ \t]*")
_ASCIIDOC_UNDERLINES = "=-~^+"
_ORG_HEADING = re.compile(
    r"(\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]+)?(?:\[#\w\][ \t]+)?"
    r"(\S.*?)(?:[ \t]+(?::[\w@#%]+)+:)?[ \t]*"
)
_ORG_TITLE = re.compile(r"^#\+title:[ \t]*(\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)

# What is crossed out stands between ~~ and ~~, as in Markdown.
_CROSSED_OUT_IN_ASCIIDOC = re.compile(r"\[\.?line-through\]##?([^#\n]+)##?")
_CROSSED_OUT_IN_ORG = re.compile(r"(?<![\w+])\+(?=\w)([^+\n]{1,300}?)(?<=[\w.,;:!?)])\+(?![\w+])")
_CROSSED_OUT_IN_LATEX = re.compile(r"\\(?:sout|st)\{([^{}\n]*)\}")


def read_restructured_text(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; there is no title but the first heading."""
    text = plain_text.decoded(source, draft)
    plain_text.write(text, draft, _underlined(_lines(text)))
    return ""


def read_asciidoc(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the first heading."""
    text = _CROSSED_OUT_IN_ASCIIDOC.sub(r"~~\1~~", plain_text.decoded(source, draft))
    plain_text.write(text, draft, _asciidoc(_lines(text)))
    return ""


def read_org(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the `#+TITLE` line, or nothing."""
    text = _CROSSED_OUT_IN_ORG.sub(r"~~\1~~", plain_text.decoded(source, draft))
    matches = enumerate(map(_ORG_HEADING.fullmatch, _lines(text)), 1)
    headings = {line: (len(found[1]), found[2]) for line, found in matches if found}
    plain_text.write(text, draft, headings)
    title = _ORG_TITLE.search(text)
    return title[1] if title else ""


def _lines(text: str) -> list[str]:
    """The lines to search for headings; none of a text too long to be written by a person."""
    return text.split("\n") if len(text) <= _MAX_PARSED_CHARS else []


def _underlined(lines: Sequence[str]) -> Headings:
    """Titles above or between lines of one sign. Signs have levels in the order of the file."""
    headings: Headings = {}
    styles: list[tuple[str, bool]] = []
    for number, (title, rule) in enumerate(pairwise(lines), 1):
        above = lines[number - 2] if number > 1 else ""
        is_framed = bool(above) and above.rstrip() == rule.rstrip()
        if not _is_title(title, rule) or (above.strip() and not is_framed):
            continue
        if title[0].isspace() and not is_framed:
            continue
        style = (rule[0], is_framed)
        if style not in styles:
            styles.append(style)
        headings[number] = (styles.index(style) + 1, _INLINE.sub("", title).strip())
    return headings


def _is_title(title: str, rule: str) -> bool:
    if not title.strip() or len(title) > _MAX_TITLE_CHARS or not _UNDERLINE.fullmatch(rule):
        return False
    if _UNDERLINE.fullmatch(title):
        return False
    return len(rule.rstrip()) >= min(len(title.strip()), _MIN_SHORT_UNDERLINE)


def _asciidoc(lines: Sequence[str]) -> Headings:
    headings: Headings = {}
    for number, line in _outside_fences(lines):
        found = _ASCIIDOC_HEADING.fullmatch(line)
        if found:
            headings[number] = (len(found[1]), _INLINE.sub("", found[2]))
            continue
        rule = lines[number].rstrip() if number < len(lines) else ""
        above = lines[number - 2] if number > 1 else ""
        is_near = abs(len(rule) - len(line.rstrip())) <= 1
        is_alone = not above.strip() and line[:1].strip() != ""
        if is_near and is_alone and rule[:1] in _ASCIIDOC_UNDERLINES and _is_title(line, rule):
            headings[number] = (_ASCIIDOC_UNDERLINES.index(rule[0]) + 1, line.strip())
    return headings


def _outside_fences(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The numbered lines that are not in a block of code or a comment."""
    fence = ""
    for number, line in enumerate(lines, 1):
        if fence:
            fence = "" if line.rstrip() == fence else fence
        elif _ASCIIDOC_FENCE.fullmatch(line):
            fence = "```" if line.startswith("```") else line.rstrip()
        else:
            yield number, line


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


def read_latex(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the title command, or nothing."""
    text = _CROSSED_OUT_IN_LATEX.sub(r"~~\1~~", plain_text.decoded(source, draft))
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


def _headings(text: str) -> Headings:
    """The headings of LaTeX; the highest kind in the file has level 1."""
    found = list(_HEADING.finditer(text))
    if not found:
        return {}
    top = min(_LEVELS.index(heading[1]) for heading in found)
    headings: Headings = {}
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
