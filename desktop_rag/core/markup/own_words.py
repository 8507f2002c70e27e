"""The app's own words in files: sections of notes, exported chats, sentences that it doubted. Pure.

They are found and shown like all that stands in files, but are no evidence: what the app wrote
would prove itself. A section of a note that its reader changed is theirs.
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, cast

from desktop_rag.core.text import sentences

# A file that the app made says so in its first lines.
EXPORTED_CHAT, EXPORTED_REPORT = "desktop-rag chat", "desktop-rag report"
EXPORTED_SUMMARY = "desktop-rag summary"
_EXPORTED = re.compile(
    r"(?:generator: |content=\"|\"format\": \"|\bgenerator,[^\n]*\n|/Creator \(\W{0,4})"
    rf"(?:{EXPORTED_CHAT}|{EXPORTED_REPORT}|{EXPORTED_SUMMARY})\b"
)
_HEAD_CHARS = 1_000
_FRONT = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
_WRITTEN = re.compile(r"^written: (\{.*\})$", re.MULTILINE)
_HEADING = re.compile(r"## +(.+?)\s*#*\s*")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HASH_CHARS = 16
# The signs of `core.claims` but ✓; the words behind them are in the language of the file.
_CROSSED_OUT = re.compile(r"~~(?=\S)[^~\n]{1,2000}~~")
_FLAG = re.compile(r"\([≈?✗○][ \u00a0][^()\n]{3,120}\)")


def is_exported(text: str) -> bool:
    """True for a file that the app exported, by its beginning."""
    # A PDF has zeros between the letters.
    return bool(_EXPORTED.search(text[:_HEAD_CHARS].replace("\0", "")))


def is_own_front(block: str) -> bool:
    """True for the front matter of a note or an exported file, which is of use to the app alone."""
    return bool(_WRITTEN.search(block) or _EXPORTED.search(block))


def hash_of(body: str) -> str:
    """Identifies the text of a section; spaces at the ends of lines don't count."""
    plain = "\n".join(line.rstrip() for line in body.strip().splitlines())
    return sha256(plain.encode()).hexdigest()[:_HASH_CHARS]


def sections_of(text: str) -> list[tuple[str, int, int]]:
    """The headings of the second level, each with its text [start, end); "" for the opening."""
    found: list[tuple[str, int, int]] = []
    name, start, offset = "", 0, 0
    for line, is_code in _lines(text):
        heading = None if is_code else _HEADING.fullmatch(line)
        if heading:
            found.append((name, start, offset))
            name, start = heading[1], offset + len(line) + 1
        offset += len(line) + 1
    return [*found, (name, min(start, len(text)), len(text))]


def written_by_app(text: str) -> list[tuple[int, int]]:
    """Where a note has the app's own sections, unchanged: [start, end) without their headings.

    Its front matter has the hash of each section as the app wrote it; "" is the opening.
    """
    front = _FRONT.match(text)
    hashes = _hashes(front[1]) if front else {}
    if not front or not hashes:
        return []
    at = front.end()
    return [
        (at + start, at + end)
        for name, start, end in sections_of(text[at:])
        if hashes.get(name) == hash_of(text[at + start : at + end])
    ]


def without_doubted(text: str) -> str:
    """The text with blanks for what is crossed out, and for sentences that carry a sign of doubt.

    No offset changes.
    """
    text = _CROSSED_OUT.sub(lambda found: " " * len(found[0]), text)
    if not _FLAG.search(text):
        return text
    # The sign ends no sentence, and one behind a full stop belongs to what is before it.
    masked = _FLAG.sub(lambda flag: f"({'x' * (len(flag[0]) - 2)})", text)
    flags = [flag.start() for flag in _FLAG.finditer(text)]
    for start, end in sentences(masked):
        if any(start <= flag < end for flag in flags):
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def _hashes(front: str) -> dict[str, str]:
    found = _WRITTEN.search(front)
    try:
        value: Any = json.loads(found[1]) if found else {}
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, str]", value) if isinstance(value, dict) else {}


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code between fences."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        yield line, bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
