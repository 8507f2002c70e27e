"""Addresses behind the words of a link, in one form for every format: `the manual (https://…)`.

Only what leads out of the file is kept: pages, mail addresses, telephone numbers. Pure.
"""

import re

_OUTWARD = re.compile(r"(?:https?://|mailto:|tel:)[^\s/][^\s]*", re.IGNORECASE)
_NOISE = re.compile(r"^(?:https?://|mailto:|tel:)(?:www\.)?|\W+", re.IGNORECASE)
# What follows a page or a person in longer ones says who clicked, not where it leads.
_EXTRAS = re.compile(r"[?#].*")
_MAX_CHARS = 160
_FIELD = re.compile(r'\s*HYPERLINK\s+"?([^"\s]+)', re.IGNORECASE)
_WRITTEN = re.compile(rf" \({_OUTWARD.pattern}\)", re.IGNORECASE)


def behind(words: str, target: str) -> str:
    """The address as it follows the words of a link: ` (https://…)`.

    "" without words, where they already are the address, and for one that leads nowhere outside.
    """
    found = _OUTWARD.fullmatch(target.strip())
    if not found or not words.strip():
        return ""
    address = found[0]
    if len(address) > _MAX_CHARS or address[:1] in "mM":
        address = _EXTRAS.sub("", address)
    is_shown = _NOISE.sub("", address).casefold() in _NOISE.sub("", words).casefold()
    return "" if is_shown or len(address) > _MAX_CHARS else f" ({address})"


def address_of_field(code: str) -> str:
    """The address that the code of a Word field leads to, "" if it is of another kind."""
    found = _FIELD.match(code)
    return found[1] if found else ""


def without_addresses(text: str) -> str:
    """The text as it was before addresses were put behind its links."""
    return _WRITTEN.sub("", text)
