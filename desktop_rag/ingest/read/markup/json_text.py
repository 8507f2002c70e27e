"""JSON: as it stands if people can read it, else broken into lines, so that a line says something.

Nothing is parsed into values: numbers stay as they are written, and broken JSON is read like any
other, however deep it is. Runs in the parser process.
"""

import re

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import plain_text

# One screen of text; below it, or with lines shorter than this, it stays as it is.
_SCREEN_CHARS = 2000
_MAX_LINE_CHARS = 300
# A larger file takes seconds to break, and nobody reads it.
_MAX_BROKEN_CHARS = 20_000_000
# A list of numbers or words runs on to about this width.
_LIST_LINE_CHARS = 80
_MAX_INDENT = 8
# A string without an end is read to the end of the file, not once for each of its quotes.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_SPACES = re.compile(r"[ \t\n]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_FIRST_PRINTABLE = 0x20
_KEPT_ESCAPED = {'"', "\\"}
_SURROGATES = range(0xD800, 0xE000)


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; there is no title. Lines count in the broken text, if it is broken."""
    text = plain_text.decoded(source, draft)
    if _is_dense(text):
        draft.warn("It has hardly any lines, so it is shown and counted broken into some.")
        text = "".join(_broken(text))
    plain_text.write(text, draft)
    return ""


def _is_dense(text: str) -> bool:
    """True when the text has too few line ends to be read by lines."""
    if not _SCREEN_CHARS < len(text) <= _MAX_BROKEN_CHARS:
        return False
    return len(text) > _MAX_LINE_CHARS * (text.count("\n") + 1)


def _broken(text: str) -> list[str]:
    """Pieces of the text with a line end after each member of an object and each long list."""
    pieces: list[str] = []
    open_brackets: list[str] = []
    before, end, line_chars = "", 0, 0
    for match in _TOKEN.finditer(text):
        pieces.append(text[end : match.end()] if match[0][0] != '"' else _plain(text, end, match))
        line_chars += len(pieces[-1])
        end, token = match.end(), match[0]
        if token in {"[", "{"}:
            open_brackets.append(token)
        elif token in {"]", "}"} and open_brackets:
            open_brackets.pop()
        is_member_end = token == "," and (
            open_brackets[-1:] != ["["] or before in {"]", "}"} or line_chars > _LIST_LINE_CHARS
        )
        if token == "{" or is_member_end:
            pieces.append("\n" + " " * min(len(open_brackets), _MAX_INDENT))
            line_chars = 0
            end = _after_spaces(text, end)
        before = token
    pieces.append(text[end:])
    return pieces


def _after_spaces(text: str, start: int) -> int:
    spaces = _SPACES.match(text, start)
    return spaces.end() if spaces else start


def _plain(text: str, start: int, match: re.Match[str]) -> str:
    """From `start` to the end of a string, its escaped letters written as themselves."""
    return text[start : match.start()] + _ESCAPE.sub(_letter, match[0])


def _letter(match: re.Match[str]) -> str:
    if not match[1]:
        return match[0]
    code = int(match[1], 16)
    letter = chr(code)
    is_plain = code >= _FIRST_PRINTABLE and code not in _SURROGATES and letter not in _KEPT_ESCAPED
    return letter if is_plain else match[0]
