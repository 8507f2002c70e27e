"""What remotes share whose server answers in JSON: requests, values of answers, documents.

A listing that lacks what it must have raises: what is missing in it would be taken for deleted.
"""

import json
import re
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import BinaryIO, cast
from urllib.parse import urlencode

from desktop_rag.core.domain import WebLinks, distinct_tags
from desktop_rag.core.errors import AppError
from desktop_rag.core.records import strict_json
from desktop_rag.features.remote_sources.http_place import (
    HttpPlace,
    PlaceLimits,
    Refused,
    refuse_unencrypted,
)
from desktop_rag.features.remote_sources.remote import Item, Remote, RemoteRefused, Trouble
from desktop_rag.features.web_pages.page_address import parse_links

_MOST_BYTES = 1 << 26
_SAME = 304
# A server that goes on and on is not listed to its end.
MOST_REQUESTS = 20_000
_LONGEST_NAME = 90
_NO_NAME = re.compile(r"[/\\\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """A value and the headers. `is_same`: it is as it was at the ETag that was given."""

    value: object
    headers: Mapping[str, str]
    is_same: bool = False

    @property
    def etag(self) -> str:
        """What tells this value from others; "" where the server does not say."""
        return self.headers.get("etag", "")


class JsonRemote(Remote):
    """A place whose server answers in JSON; subclasses list it and write each document."""

    def __init__(
        self,
        links: WebLinks,
        api: str,
        headers: Mapping[str, str],
        cancel: threading.Event,
        limits: PlaceLimits | None = None,
        resolve: Callable[[str, int], Sequence[str]] | None = None,
    ) -> None:
        """Paths are below the address `api`."""
        self._links = links
        self._api = api.rstrip("/")
        self._place = HttpPlace(api, headers, cancel, limits or PlaceLimits(), resolve)

    @property
    def requests(self) -> int:
        """How many requests were made."""
        return self._place.requests

    def close(self) -> None:
        """Close the connection."""
        self._place.close()

    @abstractmethod
    def written(self, item: Item) -> tuple[Item, str]:
        """The item as it is now, with its document."""

    def fetch(self, item: Item, target: BinaryIO, most_bytes: int) -> Item:
        """As `Remote.fetch`."""
        now, text = self.written(item)
        content = text.encode()
        if len(content) > most_bytes:
            raise RemoteRefused(Trouble.LEFT_OUT, f"larger than {most_bytes >> 20} MB")
        target.write(content)
        return replace(now, path=item.path)

    def got(self, path: str, etag: str = "", **query: str | int) -> Answer:
        """What is at a path; Refused for what the server refuses."""
        url = f"{self._api}/{path.lstrip('/')}"
        url += f"{'&' if '?' in url else '?'}{urlencode(query)}" if query else ""
        headers = {"Accept": "application/json"} | ({"If-None-Match": etag} if etag else {})
        status, found, content = self._place.read("GET", url, headers, b"", _MOST_BYTES)
        if status == _SAME:
            return Answer(None, found, is_same=True)
        try:
            return Answer(strict_json(content), found)
        except ValueError as exc:
            raise unreadable() from exc

    def listed(self, path: str, etag: str = "", **query: str | int) -> Answer:
        """As `got`, of a listing, without which nothing is known: the round ends."""
        try:
            return self.got(path, etag, **query)
        except Refused as refused:
            trouble = refused.trouble
            trouble = Trouble.OFFLINE if trouble is Trouble.FAILED else trouble
            raise Refused(
                refused.status, trouble, refused.title, refused.hint, refused.wait_s
            ) from refused

    def is_chosen(self, folder: str) -> bool:
        """True when a folder is to be listed."""
        return not self._links.chosen or folder in self._links.chosen


def unreadable() -> RemoteRefused:
    """For an answer that is not as documented."""
    return RemoteRefused(
        Trouble.OFFLINE, "The answer of the server can't be read.",
        "Check that the address is that of such a server.",
    )  # fmt: skip


def value_of(value: object, *keys: str) -> object:
    """The value below these keys; None when it is not there."""
    for key in keys:
        value = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    return value


def text_of(value: object, *keys: str) -> str:
    """The text or number below these keys; "" when it is not there."""
    found = value_of(value, *keys)
    return str(found) if isinstance(found, str | int | float) else ""


def rows_of(value: object, *keys: str) -> list[object]:
    """The rows below these keys; none when they are not there."""
    found = value_of(value, *keys)
    return cast("list[object]", found) if isinstance(found, list) else []


def needed_rows(value: object, *keys: str) -> list[object]:
    """The rows of a listing."""
    if not isinstance(value_of(value, *keys), list):
        raise unreadable()
    return rows_of(value, *keys)


def needed(value: object, *keys: str) -> str:
    """The text or number that a row of a listing must have."""
    if not (found := text_of(value, *keys)):
        raise unreadable()
    return found


def seconds_of(moment: str) -> float:
    """Seconds since the epoch of a moment in ISO; 0 for anything else."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def one_line(text: str) -> str:
    """The text with white space collapsed."""
    return " ".join(text.split())


def file_name(title: str, suffix: str = "") -> str:
    """A title as the name of a file or folder."""
    return f"{one_line(_NO_NAME.sub(' ', title))[:_LONGEST_NAME].strip('. ') or '_'}{suffix}"


def apart(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items; of those with the same path, all but the first with their id in the name."""
    made: dict[str, Item] = {}
    for item in items:
        path = PurePosixPath(item.path)
        if item.path.casefold() in made:
            path = path.with_name(f"{path.stem} {item.item_id}{path.suffix}")
        made[str(path).casefold()] = replace(item, path=str(path))
    return tuple(made.values())


def with_front(title: str, dated: str, tags: Iterable[str], text: str) -> str:
    """A document in Markdown with its properties in front, as of the readers' front matter."""
    entries = {"title": one_line(title), "date": dated[:10]}
    lines = [f"{name}: {json.dumps(value)}" for name, value in entries.items() if value]
    lines.append(f"tags: {json.dumps(distinct_tags(filter(None, map(one_line, tags))))}")
    return "\n".join(["---", *lines, "---", "", text.strip(), ""])


def checked_address(links: WebLinks, *, has_secret: bool, example: str) -> WebLinks:
    """The links with one plain address; AppError for any other."""
    urls = parse_links("\n".join(links.urls))
    if len(urls) != 1:
        raise AppError("Write one address.", f"It is like {example}.")
    url = urls[0].partition("?")[0].rstrip("/")
    if has_secret:
        refuse_unencrypted(url)
    return replace(links, urls=(url,), user=links.user.strip())
