"""The entries of a Markdown file's front matter, which its text in the library lacks. Pure.

Only lines are read, "name: value" and the items of a list below a name: nothing that the file says
can make that slow. What is nested deeper is left out.
"""

import re

from desktop_rag.answer.counting.record_fields import plain_line

LONGEST_CHARS = 32_000
_BLOCK = re.compile(
    r"(?s)\A(?P<rule>---|\+\+\+)[ \t]*\n(?P<lines>.*?)^(?:---|\+\+\+|\.\.\.)[ \t]*$", re.M
)
_ENTRY = re.compile(r"""["']?(?P<name>\w[\w ./-]{0,59}?)["']?\s*[:=](?:\s+(?P<value>.*))?$""")
_COMMENT = re.compile(r"\s#\s.*")
_QUOTES = "\"' "


def front_fields(head: str) -> dict[str, str]:
    """The entries by name in lower case, from the beginning of a file; lists are joined."""
    match = _BLOCK.match(head[:LONGEST_CHARS])
    if match is None:
        return {}
    found: dict[str, list[str]] = {}
    name = ""
    for line in match["lines"].splitlines():
        if entry := _ENTRY.match(line):
            name = entry["name"].casefold().strip()
            found[name] = [_plain(entry["value"] or "")]
        elif line.lstrip().startswith("- ") and name:
            found[name].append(_plain(line.lstrip()[2:]))
    return {key: ", ".join(filter(None, values)) for key, values in found.items() if any(values)}


def _plain(value: str) -> str:
    plain = _COMMENT.sub("", value).strip().strip("[]")
    return plain_line(", ".join(part.strip(_QUOTES) for part in plain.split(",")))
