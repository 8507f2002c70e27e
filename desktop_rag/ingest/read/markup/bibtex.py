r"""BibTeX: each reference with its fields, TeX letters such as \"u as they look.

Runs in the parser process.
"""

import re
import unicodedata
from collections.abc import Iterator

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import plain_text

_ENTRY = re.compile(r"@\s*(\w+)\s*[{(]")
_FIELD = re.compile(r"\s*,?\s*([\w-]+)\s*=\s*")
_VALUE = re.compile(
    r"\s*#?\s*(?:(?P<braced>\{)|\"(?P<quoted>(?:[^\"{}]|\{[^{}]*\})*)\"|(?P<word>[\w.:+/-]+))"
)
_BRACE, _JOINED = re.compile(r"\\.|[{}]", re.DOTALL), re.compile(r"\s*#")
_MAX_MACRO_CHARS = 1000
_NOT_SHOWN = {"abstract-url", "file", "timestamp", "bibsource", "biburl"}
_MARKS = dict(zip("\"'`^~=.", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307", strict=True)) | dict(
    zip("cvuHkrdb", "\u0327\u030c\u0306\u030b\u0328\u030a\u0323\u0331", strict=True)
)
_ACCENT = re.compile(
    r"\\(?:([\"'`^~=.])\s*|([cvuHkrdb])(?:\s+|(?=\{)))(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))"
)
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "i": "i", "j": "j", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
    "textendash": "–", "textemdash": "—", "ldots": "…", "dots": "…", "textasciitilde": "~",
}  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z]+)\s*|\\([^A-Za-z])|[{}]")


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; there is no title."""
    text = plain_text.decoded(source, draft)
    macros: dict[str, str] = {}
    line, counted = 1, 0
    for start, kind, key, fields in _entries(text, macros):
        if kind == "string":
            # One that is made of two of another, and so on, would fill the memory.
            macros |= {name.lower(): value[:_MAX_MACRO_CHARS] for name, value in fields}
            continue
        shown = {name.lower(): plain_tex(value) for name, value in fields}
        line += text.count("\n", counted, start)
        counted = start
        title = one_line(shown.pop("title", "") or key)
        draft.add("\n\n" * bool(draft.length))
        draft.add_heading(1, title)
        draft.mark(Anchor(heading=title, line=line))
        lines = [
            f"{name}: {said}" for name, said in shown.items() if said and name not in _NOT_SHOWN
        ]
        draft.add("\n".join([title, *lines, f"{kind}: {key}"]))
    if not draft.length:
        plain_text.write(text, draft)
    return ""


def plain_tex(value: str) -> str:
    """A value as it looks in print: letters with their accents, no braces and commands."""
    accented = _ACCENT.sub(
        lambda m: unicodedata.normalize("NFC", (m[3] or m[4]) + _MARKS[m[1] or m[2]]), value
    )
    shown = _COMMAND.sub(lambda m: _LETTERS.get(m[1] or "", m[2] or ""), accented.replace("~", " "))
    return " ".join(shown.replace("---", "—").replace("--", "–").split())


def _entries(
    text: str, macros: dict[str, str]
) -> Iterator[tuple[int, str, str, list[tuple[str, str]]]]:
    """(offset, kind, key, fields) of each entry; a broken one ends where it breaks."""
    position = 0
    while found := _ENTRY.search(text, position):
        kind, position = found[1].lower(), found.end()
        if kind in {"comment", "preamble"}:
            continue
        key = ""
        if kind != "string":
            end = text.find(",", position)
            key, position = (text[position:end].strip(), end) if end >= 0 else ("", len(text))
        fields: list[tuple[str, str]] = []
        while name := _FIELD.match(text, position):
            value, position = _value(text, name.end(), macros)
            fields.append((name[1], value))
        yield found.start(), kind, key, fields


def _value(text: str, position: int, macros: dict[str, str]) -> tuple[str, int]:
    """A value, its parts put together, and where it ends."""
    parts: list[str] = []
    while part := _VALUE.match(text, position):
        position = part.end()
        if part["braced"]:
            depth = 1
            for sign in _BRACE.finditer(text, position):
                depth += {"{": 1, "}": -1}.get(sign[0], 0)
                if not depth:
                    break
            else:
                return "".join([*parts, text[position:]]), len(text)
            parts.append(text[position : sign.start()])
            position = sign.end()
        elif part["word"]:
            parts.append(macros.get(part["word"].lower(), part["word"]))
        else:
            parts.append(part["quoted"])
        if not _JOINED.match(text, position):
            break
    return "".join(parts), position
