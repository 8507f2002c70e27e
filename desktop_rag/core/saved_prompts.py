"""Prompts saved by name, and their placeholders. Pure, any thread."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_NAME = 40
LONGEST_TEXT = 20_000
# A placeholder in a prompt, as a regular expression.
GAP = r"\{\{[^{}\n]{1,60}\}\}"
# File names that Windows reserves, whatever the ending.
_WINDOWS_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|(com|lpt)\d)")


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """A text with placeholders such as {{topic}}; `name` is typed after a slash."""

    name: str
    text: str


def plain_name(written: str) -> str:
    """The stored form of a name: letters, digits, - and _ only; "" when none are left."""
    composed = unicodedata.normalize("NFC", written.strip().lstrip("/"))
    kept = "".join(c if c in "-_" or unicodedata.category(c)[0] in "LMN" else " " for c in composed)
    # Case folding can lengthen a name.
    name = "-".join(kept.split()).casefold()[:LONGEST_NAME].strip("-_")
    return "" if _WINDOWS_DEVICES.fullmatch(name) else name


def matching(prompts: Sequence[SavedPrompt], typed: str) -> list[SavedPrompt]:
    """Prompts whose name starts with the typed text, then those that contain it in name or text."""
    wanted = unicodedata.normalize("NFC", typed).casefold()
    begin = [p for p in prompts if p.name.startswith(wanted)]
    hold = [p for p in prompts if wanted in p.name or wanted in p.text.casefold()]
    return [*begin, *(p for p in hold if p not in begin)]
