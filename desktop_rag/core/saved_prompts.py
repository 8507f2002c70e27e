"""Prompts that a person keeps by name, and the gaps in them to be filled. Pure, any thread."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_NAME = 40
LONGEST_TEXT = 20_000
# What is to be written over in a prompt, as a regular expression.
GAP = r"\{\{[^{}\n]{1,60}\}\}"
# Names that a file can't have on Windows, whatever its ending.
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|(com|lpt)\d)")


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """A text with gaps such as {{topic}}; `name` is what is written behind a slash."""

    name: str
    text: str


def plain_name(written: str) -> str:
    """A name as it is kept: one word of letters, digits, - and _; "" where none is left."""
    composed = unicodedata.normalize("NFC", written.strip().lstrip("/"))
    kept = "".join(c if c in "-_" or unicodedata.category(c)[0] in "LMN" else " " for c in composed)
    # In small letters it may be longer.
    name = "-".join(kept.split()).casefold()[:LONGEST_NAME].strip("-_")
    return "" if _DEVICES.fullmatch(name) else name


def matching(prompts: Sequence[SavedPrompt], typed: str) -> list[SavedPrompt]:
    """Those whose name begins with what was typed, then those that hold it, in name or text."""
    wanted = unicodedata.normalize("NFC", typed).casefold()
    begin = [p for p in prompts if p.name.startswith(wanted)]
    hold = [p for p in prompts if wanted in p.name or wanted in p.text.casefold()]
    return [*begin, *(p for p in hold if p not in begin)]
