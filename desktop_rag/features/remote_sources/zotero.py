"""The library of Zotero on this computer, by the HTTP API that the program itself serves.

An item with its abstract, notes and annotations is one document, its attachments are documents of
their own. Authors, year, collections and tags are its tags, and the citation key is in its name.
The version of the library tells whether anything changed; then all of it is listed, which costs
little on one computer.
"""

import html
import json
import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import BinaryIO
from urllib.parse import quote, unquote, urlsplit

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.setting_text import marked
from desktop_rag.features.remote_sources.http_place import PlaceLimits
from desktop_rag.features.remote_sources.json_remote import (
    MOST_REQUESTS,
    JsonRemote,
    apart,
    checked_address,
    file_name,
    needed,
    needed_rows,
    one_line,
    rows_of,
    text_of,
    unreadable,
    value_of,
    with_front,
)
from desktop_rag.features.remote_sources.remote import (
    Item,
    Part,
    RemoteKind,
    RemoteRefused,
    Told,
    Trouble,
)
from desktop_rag.features.web_pages.page_address import host_of, origin_of, target_of

_A_PAGE = 100
_MOST_DEPTH = 20
_PIECE = 1 << 20
_KEY_IN_EXTRA = re.compile(r"^\s*citation key:\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_YEAR = re.compile(r"\b(?:1[4-9]|20)\d\d\b")
_ENDS_LINE = re.compile(r"(?i)<br\s*/?>|</(?:p|div|li|h[1-6]|blockquote|tr)>")
_TAG = re.compile(r"<[^>]*>")


@dataclass
class _Entry:
    """An item with what belongs to it; all are rows of the API."""

    row: object
    notes: list[object] = field(default_factory=list[object])
    annotations: list[object] = field(default_factory=list[object])

    @property
    def title(self) -> str:
        """The title, or the beginning of a note."""
        said = text_of(self.row, "data", "title") or _plain(text_of(self.row, "data", "note"))
        return one_line(said) or text_of(self.row, "data", "filename")

    @property
    def citation_key(self) -> str:
        """The key of this program or of Better BibTeX; "" without one."""
        data = value_of(self.row, "data")
        found = _KEY_IN_EXTRA.search(text_of(data, "extra"))
        return text_of(data, "citationKey") or (found[1] if found else "")

    @property
    def authors(self) -> list[str]:
        """The names of all who made it."""
        return [
            text_of(row, "name")
            or f"{text_of(row, 'firstName')} {text_of(row, 'lastName')}".strip()
            for row in rows_of(self.row, "data", "creators")
        ]

    def document(self, collections: Sequence[str]) -> str:
        """The document in Markdown; notes and annotations are sections."""
        data = value_of(self.row, "data")
        dated = text_of(self.row, "meta", "parsedDate") or text_of(data, "date")
        year = _YEAR.search(dated)
        tags = [text_of(row, "tag") for row in rows_of(data, "tags")]
        tags += [*collections, *self.authors, year[0] if year else ""]
        where = ("publicationTitle", "bookTitle", "proceedingsTitle", "publisher", "DOI", "url")
        facts = [", ".join(self.authors), dated, *(text_of(data, name) for name in where)]
        lines = [f"# {self.title}", " · ".join(filter(None, (*facts, self.citation_key)))]
        if abstract := text_of(data, "abstractNote"):
            lines.append(f"## Abstract\n\n{abstract}")
        own = [self.row] if text_of(data, "itemType") == "note" else []
        notes = [_plain(text_of(note, "data", "note")) for note in (*own, *self.notes)]
        lines += [f"## Note\n\n{note}" for note in notes]
        for row in sorted(self.annotations, key=_position):
            page = text_of(row, "data", "annotationPageLabel")
            marked_text = text_of(row, "data", "annotationText")
            lines.append(f"## Annotation{f', page {page}' if page else ''}")
            lines += [f"> {one_line(marked_text)}"] if marked_text else []
            lines.append(_plain(text_of(row, "data", "annotationComment")))
        return with_front(self.title, dated, tags, "\n\n".join(filter(None, lines)))


class Zotero(JsonRemote):
    """A library of a running Zotero."""

    _entries: Mapping[str, _Entry] = {}
    _names: Mapping[str, tuple[str, ...]] = {}

    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """As `Remote.parts`: the library is one part."""
        first = self.listed("items", limit=1)
        version = first.headers.get("last-modified-version", "")
        if version and tokens.get("") == version:
            yield Part("", Told.SAME, token=version)
            return
        self._names = _paths_of(list(self._every("collections")))
        rows = list(self._every("items"))
        self._entries, files = _entries_of(rows)
        items = [self._item(key, entry) for key, entry in self._entries.items()]
        items += [self._file(row) for row in files]
        yield Part("", items=apart(items), token=version)

    def _every(self, path: str) -> Iterator[object]:
        begun = 0
        for _ in range(MOST_REQUESTS):
            rows = needed_rows(self.listed(path, limit=_A_PAGE, start=begun).value)
            yield from rows
            begun += len(rows)
            if len(rows) < _A_PAGE:
                return
        raise unreadable()

    def _collections(self, row: object) -> list[tuple[str, ...]]:
        keys = [key for key in rows_of(row, "data", "collections") if isinstance(key, str)]
        return sorted(self._names[key] for key in keys if key in self._names)

    def _folder(self, row: object) -> str:
        return "/".join(map(file_name, next(iter(self._collections(row)), ("Unfiled",))))

    def _item(self, key: str, entry: _Entry) -> Item:
        rows = [entry.row, *entry.notes, *entry.annotations, self._collections(entry.row)]
        version = blake2b(json.dumps(rows, sort_keys=True).encode(), digest_size=12).hexdigest()
        name = file_name(f"{entry.citation_key} {entry.title}", ".md")
        return Item(key, f"{self._folder(entry.row)}/{name}", version)

    def _file(self, row: object) -> Item:
        key, data = needed(row, "key"), value_of(row, "data")
        above = self._entries.get(text_of(data, "parentItem"))
        name = text_of(data, "filename") or PurePath(text_of(data, "path")).name
        if above:
            suffix = PurePath(name).suffix
            shown = file_name(f"{above.citation_key} {above.title}", suffix)
        else:
            shown = file_name(PurePath(name).stem, PurePath(name).suffix)
        size = text_of(row, "links", "enclosure", "length")
        state = f"{text_of(data, 'md5')}/{text_of(data, 'mtime')}/{size}"
        version = state if state != "//" else text_of(row, "version")
        return Item(
            key, f"{self._folder(above.row if above else row)}/{shown}", version,
            int(size) if size.isdecimal() else -1, place=f"items/{quote(key, safe='')}",
        )  # fmt: skip

    def written(self, item: Item) -> tuple[Item, str]:
        """As `JsonRemote.written`, of what the listing told."""
        entry = self._entries[item.item_id]
        names = [" / ".join(names) for names in self._collections(entry.row)]
        return item, entry.document(names)

    def fetch(self, item: Item, target: BinaryIO, most_bytes: int) -> Item:
        """As `Remote.fetch`; attachments are copied from the storage folder."""
        if not item.place:
            return super().fetch(item, target, most_bytes)
        path = self._path_of(item)
        try:
            with path.open("rb") as file:
                size = 0
                while piece := file.read(_PIECE):
                    size += len(piece)
                    if size > most_bytes:
                        raise RemoteRefused(Trouble.LEFT_OUT, f"larger than {most_bytes >> 20} MB")
                    target.write(piece)
        except OSError as exc:
            raise RemoteRefused(
                Trouble.FAILED, "The file is not in the storage folder of Zotero.",
                "Zotero may fetch it when the attachment is opened there.",
            ) from exc  # fmt: skip
        return item

    def _path_of(self, item: Item) -> Path:
        url = f"{self._api}/{item.place}/file/view/url"
        _, _, said = self._place.read("GET", url, {}, b"", _PIECE)
        address = urlsplit(said.decode("utf-8", "replace").strip())
        if address.scheme != "file" or address.netloc not in ("", "localhost"):
            raise RemoteRefused(Trouble.FAILED, "Zotero does not say where the file is.")
        path = unquote(address.path)
        return Path(path.lstrip("/") if os.name == "nt" else path)


def _entries_of(rows: Sequence[object]) -> tuple[dict[str, _Entry], list[object]]:
    """The items by their keys with what belongs to them, and the attachments that are files."""
    by_kind: defaultdict[str, list[object]] = defaultdict(list)
    for row in rows:
        by_kind[needed(row, "data", "itemType")].append(row)
    files = [
        row
        for row in by_kind.pop("attachment", [])
        if text_of(row, "data", "linkMode") != "linked_url"
    ]
    notes, annotations = by_kind.pop("note", []), by_kind.pop("annotation", [])
    entries = {needed(r, "key"): _Entry(r) for several in by_kind.values() for r in several}
    parents = {needed(row, "key"): text_of(row, "data", "parentItem") for row in files}
    for note in notes:
        if above := entries.get(text_of(note, "data", "parentItem")):
            above.notes.append(note)
        elif not text_of(note, "data", "parentItem"):
            entries[needed(note, "key")] = _Entry(note)
    for row in annotations:
        if above := entries.get(parents.get(text_of(row, "data", "parentItem"), "")):
            above.annotations.append(row)
    return entries, files


def _paths_of(rows: Sequence[object]) -> dict[str, tuple[str, ...]]:
    """The names of each collection and those around it, by its key."""
    by_key = {needed(row, "key"): row for row in rows}
    paths: dict[str, tuple[str, ...]] = {}
    for key in by_key:
        names: list[str] = []
        at = key
        while at in by_key and len(names) < _MOST_DEPTH:
            names.insert(0, text_of(by_key[at], "data", "name"))
            at = text_of(by_key[at], "data", "parentCollection")
        paths[key] = tuple(names)
    return paths


def _position(row: object) -> str:
    return text_of(row, "data", "annotationSortIndex")


def _plain(written: str) -> str:
    """The text of a note, which is HTML."""
    lines = html.unescape(_TAG.sub("", _ENDS_LINE.sub("\n", written))).splitlines()
    return "\n\n".join(filter(None, map(one_line, lines)))


_EXAMPLE = "http://localhost:23119/"


def checked(links: WebLinks) -> WebLinks:
    """The address of a library of this computer. AppError for anything else."""
    links = checked_address(links, has_secret=False, example=_EXAMPLE)
    if host_of(links.urls[0]) not in ("localhost", "127.0.0.1"):
        raise AppError(
            "Zotero is read on this computer only.", "Its address is http://localhost:23119/."
        )
    library = target_of(links.urls[0]).strip("/").removeprefix("api/")
    return replace(links, urls=(f"{origin_of(links.urls[0])}/{library}",))


def _open(
    links: WebLinks, _secret: str, cancel: threading.Event, limits: PlaceLimits | None = None
) -> Zotero:
    library = target_of(links.urls[0]).strip("/") or "users/0"
    api = f"{origin_of(links.urls[0])}/api/{library}"
    return Zotero(links, api, {"Zotero-Allowed-Request": "1"}, cancel, limits)


ZOTERO = RemoteKind(
    "zotero", marked("Zotero library"), checked, _open, address=_EXAMPLE,
    folders=marked("Collections"),
    note=marked(
        "Zotero must be running, and let other applications on this computer communicate with it"
        " (its settings, under Advanced)."
    ),
)  # fmt: skip
