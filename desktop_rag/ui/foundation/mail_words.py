"""The head of a message in the language of the window. Pure; any thread.

Readers write it in English, and so it is stored.
"""

import re

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.document_kinds import DocumentKind, kind_of_name

_LINE = re.compile(r"(From|To|Cc|Date|Subject): (.*)\n?")


def head_line(text: str, at: int) -> re.Match[str] | None:
    """The line of a head at a place: its name, and its value."""
    return _LINE.match(text, at)


def head_name(name: str) -> str:
    """The name of a line: `Subject`."""
    return _named(name, "").rstrip().removesuffix(":")


def with_head_in_words(text: str, path: str, part: str = "") -> str:
    """A piece of a document; in that of a message the lines of the head that it begins with."""
    if kind_of_name(part or path) is not DocumentKind.MAIL:
        return text
    lines: list[str] = []
    at = 0
    while found := head_line(text, at):
        lines.append(_named(found[1], found[2]) + found[0][len(found[1]) + 2 + len(found[2]) :])
        at = found.end()
    return "".join(lines) + text[at:]


def _named(name: str, value: str) -> str:
    match name:
        case "From":
            return tr("From: {value}", value=value)
        case "To":
            return tr("To: {value}", value=value)
        case "Cc":
            return tr("Cc: {value}", value=value)
        case "Date":
            return tr("Date: {value}", value=value)
        case _:
            return tr("Subject: {value}", value=value)
