"""Addresses behind the words of a link, in one form for every format: `the manual (https://…)`.

Only what leads out of the file is kept: pages, files of a server, mail addresses, telephone
numbers. Runs in the parser process.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urljoin

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft

_KIND = r"(?:(?:https?|ftp|file)://|mailto:|tel:)"
_OUTWARD = re.compile(rf"{_KIND}[^\s/][^\s]*", re.IGNORECASE)
_NOISE = re.compile(rf"^{_KIND}(?:www\.)?|\W+", re.IGNORECASE)
# What follows a page or a person in longer ones says who clicked, not where it leads.
_EXTRAS = re.compile(r"[?#].*")
_MAX_CHARS = 200
# Of links that follow one another without words between them.
_MAX_ALONE = 5
_FIELD = re.compile(r'\s*HYPERLINK\s+"?([^"\s]+)', re.IGNORECASE)
_WRITTEN = re.compile(rf" \({_OUTWARD.pattern}\)", re.IGNORECASE)


def behind(words: str, target: str) -> str:
    """The address as it follows the words of a link: ` (https://…)`.

    "" without words, where they already are the address, and for one that leads nowhere outside.
    """
    target = target.strip().replace(" ", "%20")
    if target.startswith("\\\\"):
        target = f"file:{target}".replace("\\", "/")
    found = _OUTWARD.fullmatch(f"https:{target}" if target.startswith("//") else target)
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


class LinkWriter:
    """Puts the address of a link behind its words.

    Links that follow one another without words between them are a menu: of those only the first
    few have it, and links around the page, as in its header, have none.
    """

    def __init__(self, draft: DocumentDraft, *, is_shown: bool) -> None:
        self._draft = draft
        self._is_shown = is_shown
        # The address that those of the page are relative to, as far as it is known.
        self.base = ""
        self._target: str | None = None
        self._words = ""
        self._alone = 0
        # Of a link at the beginning of a line: what is written once words follow on it.
        self._held = ""
        self._has_words = False

    def open(self, attributes: Mapping[str, str], *, is_around_page: bool) -> None:
        """A link begins."""
        is_kept = self._is_shown and not is_around_page
        target = attributes.get("href", "") if is_kept and attributes else ""
        is_inside = not self.base or target.startswith("#")
        with suppress(ValueError):
            target = target if is_inside or not target else urljoin(self.base, target)
        self._target = target
        self._words = ""
        # A list of bookmarks is nothing but links.
        self._alone = 0 if attributes and "add_date" in attributes else self._alone

    def before(self, text: str, *, is_new_line: bool) -> None:
        """Text is about to be written."""
        if is_new_line:
            self._held, self._has_words = "", False
        if self._target is not None:
            self._words += text[:_MAX_CHARS]
        elif any(map(str.isalnum, text)):
            self._draft.add(self._held)
            self._held, self._has_words, self._alone = "", True, 0

    def close(self) -> None:
        """The link ends."""
        address = behind(self._words, self._target or "")
        self._target = None
        if not self._has_words and address:
            self._alone += 1
        if self._alone > _MAX_ALONE:
            self._held = address
        elif address:
            self._draft.add(address)
