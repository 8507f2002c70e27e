"""Tags of files: how they are written, and which are the same. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

LONGEST_TAG = 100
MOST_TAGS = 50
# What can't be stored, and invisible characters that would make two of one tag.
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u2060\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and the number of files that have it."""

    name: str
    files: int


def clean_tag(written: str) -> str:
    """A tag as it is kept: one line, no # before it, not too long; "" when nothing is left."""
    line = " ".join(_UNSEEN.sub("", written).split())
    return line.lstrip("#").strip()[:LONGEST_TAG].strip()


def distinct_tags(written: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, in order; of those that differ in letter case only the first."""
    cleaned = [tag for tag in map(clean_tag, written) if tag]
    return tuple({tag.casefold(): tag for tag in reversed(cleaned)}[key] for key in _keys(cleaned))


def typed_tags(text: str) -> tuple[str, ...]:
    """The tags in a line that a person typed, separated by commas."""
    return distinct_tags(re.split(r"[,;\n]", text))


def with_changes(
    tags: Iterable[str], added: Iterable[str], removed: Iterable[str]
) -> tuple[str, ...]:
    """The tags with some added at the end and others removed."""
    gone = set(_keys(distinct_tags(removed)))
    return tuple(t for t in distinct_tags([*tags, *added]) if t.casefold() not in gone)


def _keys(tags: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(tag.casefold() for tag in tags))
