"""What a page says of other pages. Values only."""

import re
from dataclasses import dataclass

# Of one page; a longer list is cut.
MOST_LINKS = 10_000
MOST_LINK_CHARS = 4_000
_WISH = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The links of a page as they are written, and what it says of itself.

    `robots` is what it wishes of programs (`noindex, nofollow`); `digest` stands for its visible
    words, "" without any: pages that differ only in their markup have the same.
    """

    hrefs: tuple[str, ...] = ()
    base: str = ""
    canonical: str = ""
    robots: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class RobotsWishes:
    """Whether a page may be kept, and its links followed."""

    may_keep: bool = True
    may_follow: bool = True


def robots_wishes(*texts: str, agent: str) -> RobotsWishes:
    """The wishes of a page in its head and its headers. Those for other programs do not count."""
    words: set[str] = set()
    for text in texts:
        is_ours = True
        for piece in _WISH.split(text.lower()):
            name, colon, word = piece.partition(":")
            # `googlebot: noindex` is for that program, until the next name.
            is_ours = name in (agent, "robots") if colon else is_ours
            if is_ours:
                words.add(word if colon else piece)
    return RobotsWishes(not words & {"noindex", "none"}, not words & {"nofollow", "none"})
